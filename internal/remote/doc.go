// Package remote is the Go client of Weir's HTTP API. It reads and commands like
// the database itself would, so that a command works the same with a server's
// address and a token as on the server's own machine.
//
//	command ──► Client ── HTTP, JSON, bearer or cookie ──► /api/v1
//	              ▲  │
//	              │  └─ a safe call whose connection broke: again, a few times, with jitter
//	              └──── problem+json ──► *problem.Problem, of the same kind
//
// Who did something is decided by the server: it is whoever the token belongs
// to. The By of a decision is not sent.
//
// A call is safe to repeat if it reads, if it says what should be there (PUT,
// DELETE), or if it carries an idempotency key. Anything else is repeated only
// if the connection never came about.
package remote
