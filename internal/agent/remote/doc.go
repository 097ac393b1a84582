// Package remote is the agent's transport over HTTPS: the agent asks, the server
// never calls. The machine needs no open port and no password of the database,
// only the server's address and the credential of its node.
//
//	join token ──► POST /join ──► credential (file, 0600)
//	                                   │
//	agent ──► Transport ── HTTPS, bearer ──► /api/v1/agent/… ──► node.Desk
//	              └──────── presigned URL ──► bucket   (else through the server)
//
// # Promises
//
//   - A call whose answer may still come is never given up early: a connection
//     that broke, a server that is starting, stopping or overloaded, are tried
//     again until the caller's context ends, with jitter between the tries.
//   - A claim is repeated with its own id, so a lost answer is no lost work. An
//     outcome that was taken before its answer got lost is no refusal.
//   - What is wrong for good (credential, certificate, clock, address, version)
//     is said at once, and says what to do.
//   - The credential goes to the server alone: redirects are not followed, and a
//     bucket is asked without it.
//   - A connection that went silent is found out within seconds and replaced.
package remote
