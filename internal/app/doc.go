// Package app is the one place that wires. It reads the configuration, starts
// the parts of a server in order and stops them in the reverse one, and gives
// commands a connection to a server that runs.
//
//	flags ─┐
//	WEIR_* ├─► Load ─► Config ─┬─► Up, Serve ──► PostgreSQL ─► schema ─► coordinator ─► dashboard and API ─► demo
//	file  ─┘                   │                 └───────────────── stopped from right to left ────────────────┘
//	                           └─► FindTarget ─► Connect ─► Session (reads, commands, accounts)
//	                                             on a database, or through a server's API
//
// Up writes server.json into its data folder: where its database is and where it
// listens. That is how commands on the same machine find it without any set-up.
// The file holds a password, so it is its owner's alone (0600). Serve leaves
// nothing on the machine: all state is in the database, so any number of servers
// run beside one another.
//
// Nothing below this package knows where a setting came from, and nothing else
// reads the environment.
package app
