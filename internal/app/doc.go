// Package app is the one place that wires. It reads the configuration, starts
// the parts of a server in order and stops them in the reverse one, and gives
// commands a connection to a server that runs.
//
//	flags ─┐
//	WEIR_* ├─► Load ─► Config ─┬─► Up ──► PostgreSQL ─► schema ─► HTTP ─► coordinator ─► demo
//	file  ─┘                   │          └──────────── stopped from right to left ─────────┘
//	                           └─► Connect ─► Session (client, store)
//
// A server writes server.json into its data folder: where its database is and
// where it listens. That is how commands on the same machine find it without
// any set-up. The file holds a password, so it is its owner's alone (0600).
//
// Nothing below this package knows where a setting came from, and nothing else
// reads the environment.
package app
