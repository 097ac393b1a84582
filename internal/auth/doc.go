// Package auth identifies the subject behind a request and decides what it may do.
//
//	password, link, OIDC ──► session ─┐
//	user ──────────────────► token ───┼─► Subject ──► Can(subject, verb, object) ──► yes, or a Problem
//	join token ──► node credential ───┘                 one table, default deny
//
// A [Subject] is a user, a token of a user, a node, or the system itself: a loop, or a
// command on the database. The zero Subject is anonymous. The rights of a role are one
// literal table (can.go); docs and tests are made from it.
//
// The contract of the [Store]:
//
//   - A secret leaves the store once, when it is made. The database holds its SHA-256,
//     and the argon2id hash of a password. No event and no log line holds either.
//   - A secret carries its kind and a checksum, so that a mistyped or foreign one is
//     refused without a query of the database.
//   - The database clock decides what is expired, so that several servers agree.
//   - Every change writes its event (kind "auth") in the same transaction.
//   - A method that takes the calling Subject checks its right itself. Methods that only
//     read do not: their caller checks before it shows the result.
//   - Wrong name, wrong password and disabled account give the same answer, after the
//     same work.
//   - At least one admin who may log in always remains.
//
// Package door is the HTTP side of it: cookies, headers, addresses.
package auth
