// Package remote is the agent's transport over HTTPS: the agent calls the server, and the
// server never calls the agent. The machine needs no open port and no password of the
// database, only the server's address and the credential of its node.
//
//	join token ──► POST /join ──► credential (file, 0600)
//	                                   │
//	agent ──► Transport ── HTTPS, bearer ──► /api/v1/agent/… ──► node.Desk
//	              └──────── presigned URL ──► bucket   (else through the server)
package remote
