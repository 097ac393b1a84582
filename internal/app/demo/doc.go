// Package demo is a small studio that gives a new user something to look at: a
// worker in the server's own process and, every half minute, a film to prepare.
//
//	probe ─┬─► 1080p ──────┐ pool demo.encoders
//	       ├─► 720p ───────┼─► package ─► publish  lane demo.site
//	       └─► thumbnails ─┘
//
// Thumbnails fail once and are tried again. A trailer waits for a person to
// release it. A schedule tidies up once a minute. A new film comes only when
// the one before has ended, so nothing piles up, and a server that starts again
// goes on with what is there.
//
// Where Weir has a PostgreSQL of its own, a rollout brings a folder of changes to
// the databases of a shop, through dev and staging; prod waits for an approval.
//
// Three PCs with simulated devices run in the server's own process. A fleet job tests
// the devices again and again; one of them always fails and is put out.
//
// Two workspaces belong to the first admin: one runs, one sleeps in the bucket.
package demo
