// Package auth knows who asks and what they may do.
//
//	password, link, OIDC ──► session ─┐
//	user ──────────────────► token ───┼─► Subject ──► Can(subject, verb, object) ──► yes, or a Problem
//	join token ──► node credential ───┘                 one table, default deny
//
// A [Subject] is a user, a token of a user, a node, or the system itself: a
// loop, or a command on the database. The zero Subject is nobody. What a role
// may do is one literal table (can.go); docs and tests are made from it.
//
// The contract of the [Store]:
//
//   - A secret leaves it once, when it is made. The database holds its SHA-256,
//     a password's argon2id. No event and no log line holds either.
//   - A secret carries its kind and a checksum, so that a mistyped or foreign
//     one is refused before the database is asked.
//   - The database clock decides what is expired. Several servers agree.
//   - Every change writes its event (kind "auth") in the same transaction.
//   - A method that takes the Subject who asks checks its right itself. The ones
//     that only read do not: whoever shows their answer does.
//   - Wrong name, wrong password, disabled: one answer, after the same work.
//   - There is always an admin left who may log in.
//
// Package door is the HTTP side of it: cookies, headers, addresses.
package auth
