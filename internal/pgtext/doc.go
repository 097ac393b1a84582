// Package pgtext makes text of other programs fit for PostgreSQL and for readers:
// the SDK and the agent store what steps print, which may hold bytes that text and
// jsonb refuse.
package pgtext
