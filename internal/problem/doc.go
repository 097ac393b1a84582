// Package problem is the one place where an error becomes something a person or
// a program can act on.
//
//	SQLSTATE, sentinel, network ──► Explain ──► Problem ─┬─► CLI: two lines, exit code
//	auth, config, bad input ───────────────────────────► ├─► HTTP: problem+json, status, code
//	                                                     └─► dashboard: a page or a toast
//
// What says what is wrong, Next what to do about it. The kinds and what they
// mean at each face are one table (kind.go). Nothing here is logged: whoever
// shows a problem to somebody does that.
package problem
