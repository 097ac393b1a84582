// Package redishint carries the hint that the timeline has grown through Redis, so that
// many servers share one listener to PostgreSQL.
//
//	              leader                          every server
//	PostgreSQL ◄── relay loop ── PUBLISH ──► Redis ──► Bus.Run ── C ──► Hub
//	     ▲                    PREFIXevents                               │
//	     └────────────────────────── reads the events ───────────────────┘
//
// Redis stores nothing: a message means "look", and a server that misses it looks a
// little later. Without Redis (never there, stopped, emptied, wrong password) events
// arrive at poll speed; the log reports that once, and once more when it works again.
package redishint
