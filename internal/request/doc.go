// Package request keeps what several parts want to know of the HTTP request
// that is served: its id, the route it took, who asks, how it was answered. The
// outer parts (metrics, traces, logs) ask after the inner ones have said.
//
//	Wrap ─► metrics, trace ─► door ─► Routed(mux) ─► handler
//	 │ id        ▲                      │ route
//	 └─ facts ───┴──────────────────────┘
//
// It stands below every face and imports the standard library only.
package request
