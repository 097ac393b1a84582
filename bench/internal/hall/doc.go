// Package hall is a lab of real processes: one server and the agents of PCs with simulated
// devices, each a process of the product, as people run them.
//
//	weir up ◄── HTTP ── weir agent --pc PC-001 --simulate 20
//	   │    ◄── HTTP ── weir agent --pc PC-002 --simulate 20
//	   ▼                …
//	PostgreSQL
//
// It measures what a run on a device costs, from its claim to its end, with everything
// that the processes do besides: heartbeats, renewals, reports of devices, the leader's
// passes. Transactions, rows and statements are PostgreSQL's own counts, CPU time is that
// of the processes.
package hall
