// Package fleettest plays the runners and the scheduler of the device queue
// whose names schema fleet keeps: they are scripts for psql, know plain SQL and
// nothing of Weir, and no server helps them.
package fleettest
