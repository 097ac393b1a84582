// Package account has the operations on accounts: on users, and on the credentials of
// people, programs and machines.
//
//	faces ── op.Caller ── auth.Store: checks again with the real owner, writes row and event
//
// Invariants:
//
//   - A secret is in the answer of the operation that created it, and in no other one.
//   - For a subject who may not see the objects of others, an object of another owner and a
//     missing one give the same answer.
//   - The system, which is a command on the database, has no user of its own: a list of its
//     own objects is then the list of all users' objects.
//
// Logging in and out, and joining as a node, are no operations, because the caller is not
// identified before, or has no session afterwards: package httpapi has a route for each,
// written by hand.
package account
