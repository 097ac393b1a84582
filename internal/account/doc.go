// Package account is what people do with accounts: the operations on users, and on the
// credentials with which people, programs and machines come in.
//
//	faces ── op.Caller ── auth.Store: asks again with the real owner, writes row and event
//
// Invariants:
//
//   - A secret is in the answer of the operation that made it, and in no other one.
//   - Somebody else's thing and one that is not there are the same answer to who may not see
//     what belongs to others.
//   - The system, which is a command on the database, has no user of its own: what is asked
//     for as one's own is everybody's then.
//
// Logging in and out, and joining as a node, are no operations, because who asks is not known
// before or has no session afterwards: package httpapi has a route for each, written by hand.
package account
