// Package listen holds the one LISTEN connection of a process.
//
// A notification is a hint to look, never a message: hints are merged, may be
// lost, and each subscriber is told to look at everything when listening begins
// and when it breaks off.
//
//	PostgreSQL ── one connection ──► Listener ──► Subscription (worker 1)
//	                                         ├──► Subscription (worker 2)
//	                                         └──► Subscription (feed)
//
// It depends on pgx alone, so that the SDK can use it.
package listen
