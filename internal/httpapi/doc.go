// Package httpapi is Weir's HTTP API, /api/v1: JSON in, JSON out, OpenAPI 3.1, and errors
// as application/problem+json. It holds no rules and no SQL: it calls the stores and the
// SDK, and passes the subject on.
//
//	request ─► id, log, recover ─► Door: identity ─► route ─► Allow(subject, verb, kind)
//	                                                            │ no: 401, 403, 404
//	                                                            ▼
//	            JSON answer ◄── handler ◄── fields checked ◄── size, depth, UTF-8
//
// One table (table.go) holds every route with the verb and the kind of object for Allow.
// The mux, the OpenAPI document, the access matrix in docs/reference/access.md and the
// test of every route with every role are made of it. A pattern that is not in the table
// cannot be registered.
//
// # Promises
//
//   - Every refusal is a problem: code (internal/problem), detail, next, field. A 500
//     contains nothing but an id; the log has the details under that id.
//   - A body is refused as a whole for: unknown fields, wrong types, numbers out of
//     range, more than 64 levels, NUL, text that is not UTF-8, too many bytes.
//   - A create can be sent again. Tasks and jobs take Idempotency-Key. The name of a user
//     or a token is unique: the second try is a conflict.
//   - A run of a workflow takes Idempotency-Key too. A definition that is stored
//     again makes no new version.
//   - Definitions (pools, schedules) carry an ETag. Changing one requires If-Match: 428
//     without, 412 when another client was faster.
//   - Lists are {"items": […], "next": "…"}; next is the ?after= of the next page.
//   - An object of another owner does not exist for the caller: 404.
//
// # Agents
//
// The agents of nodes call /agent/…, with the credential of their node and no other. A
// node has a [Desk] of its own, which refuses the leases of others (410, or a refusal in
// the list). A claim waits at most 25 s, and ends with its client or the server. Objects
// go straight into a bucket that has addresses, else through the server in one stream: an
// object is recorded only if it matches its declaration. The values of secrets are sent
// only to the holder of a live lease that names them.
package httpapi
