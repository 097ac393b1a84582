// Package script reads the SQL files of a rollout: their names, their order,
// their statements, and what each of them does to a database while it runs. It
// is pure: no database, no clock, no files but those of an fs.FS, so a plan can
// be read and warned about on a laptop.
//
//	V001__users.sql ─┐
//	0002_x.up.sql   ─┼─ReadDir, Read──► Change ──Split──► []Statement: text, place, tag, locks, probe
//	0003_goose.sql  ─┘                    │ └────Steps──► []Step: what shares a transaction, in source order
//	                                      └──────Lint───► []Warning: what, why, the safer form
//
// # Names
//
//	V1.2__x.sql  V1_2__x.sql        Flyway; R__x.sql is repeatable, U… and B… are left out
//	0001_x.sql   20260101120000_x.sql  numbered, or goose if it has its annotations (the Up part runs)
//	0001_x.up.sql                   golang-migrate; .down.sql is left out
//
// A version is numbers with dots. Leading zeros and trailing .0 do not count,
// so 001, 1 and 1.0 are one version, and Change.Version is always written in
// the shortest form (Canonical). Two files of one version are an error.
//
// # Directives
//
// Comments above the first statement may say how the file runs:
//
//	-- weir: transaction=off lock_timeout=2s statement_timeout=10m kind=data
//
// statement_timeout=unlimited is the named override of the limit that every
// statement has. A directive that is not known is an error: one that is passed
// over would run the file in a way nobody asked for.
//
// # Invariants
//
//   - Nothing is reordered. The statements of the steps, one after the other,
//     are the statements of the file (without a BEGIN and a COMMIT around all).
//   - The text between two statements is white space, comments and delimiters.
//   - A statement that cannot run in a transaction is alone in its step.
//   - The checksum does not depend on line ends or on a byte order mark: a file
//     checked out on another system is the same file.
//   - Splitting never guesses. PostgreSQL is read by its own parser (compiled to
//     WebAssembly, so no C compiler is needed), MySQL as its client reads it.
//     What cannot be read is a Fault with its place and the way out.
//
// The parser (package pgparse) is loaded when the first text is parsed. One text
// is parsed at a time.
package script
