// Package problem turns errors into problems that a person or a program can act on. No
// other package does.
//
//	SQLSTATE, sentinel, network ──► Explain ──► Problem ─┬─► CLI: two lines, exit code
//	auth, config, bad input ───────────────────────────► ├─► HTTP: problem+json, status, code
//	                                                     └─► dashboard: a page or a toast
//
// What tells what is wrong, Next what to do about it. The kinds and their meaning at each
// face are one table (kind.go). This package logs nothing: the face that shows a problem
// does.
package problem
