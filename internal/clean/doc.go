// Package clean makes what programs print fit for PostgreSQL and for readers:
// the SDK and the agent hand on text that somebody else wrote.
package clean
