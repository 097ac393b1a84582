// Package listen holds the one LISTEN connection of a process.
//
// A notification is a hint to look, never a message: hints are merged and may be lost, so
// each subscriber gets a hint to look at everything when listening begins and when it
// breaks off.
//
//	PostgreSQL ── one connection ──► Listener ──► Subscription (worker 1)
//	                                         ├──► Subscription (worker 2)
//	                                         └──► Subscription (feed)
//
// The package depends only on pgx, so that the SDK can use it.
package listen
