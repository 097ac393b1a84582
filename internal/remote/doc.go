// Package remote is the Go client of Weir's HTTP API. It reads and commands as a client
// of the database does, so that a command works the same with a server's address and a
// token as on the server's own machine.
//
//	command ──► Client ── HTTP, JSON, bearer or cookie ──► /api/v1
//	              ▲  │
//	              │  └─ a safe call whose connection broke: again, a few times, with jitter
//	              └──── problem+json ──► *problem.Problem, of the same kind
//
// The server decides who the author of a change is: the owner of the token. The By of a
// decision is not sent.
//
// A call is safe to repeat if it reads, if it describes the wanted state (PUT, DELETE),
// or if it carries an idempotency key. Any other call is repeated only if the connection
// was never made.
package remote
