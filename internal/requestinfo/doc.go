// Package requestinfo keeps what several parts want to know of the HTTP request
// that is served: its id, its route, its subject, its answer. The outer parts
// (metrics, traces, logs) read what the inner ones have set.
//
//	Wrap ─► metrics, trace ─► door ─► Routed(mux) ─► handler
//	 │ id        ▲                      │ route
//	 └─ facts ───┴──────────────────────┘
//
// It stands below every face and imports the standard library only.
package requestinfo
