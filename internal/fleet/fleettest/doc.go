// Package fleettest plays the runners and the scheduler of the device queue whose names
// the schema fleet keeps: they are scripts for psql that use plain SQL and nothing of
// Weir, without a server.
package fleettest
