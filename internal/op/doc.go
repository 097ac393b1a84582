// Package op describes what people and programs can do with Weir, each operation once.
//
// An operation is a value that the package of its domain exports, such as rollout.Pause.
// It holds its noun and verb, its route, the right it requires, its input, and what it
// does on the domain's store. The faces are made of it:
//
//	command line ─┐                    ┌─ Local: checks the right, then does it
//	a page's form ┼─ op.Op.Call ─ Caller
//	HTTP ─────────┘                    └─ remote.Client: the same operation on a server
//
// Invariants:
//
//   - A right is checked in Local, below every face, by the same description that the
//     faces have. The faces check first, because a stranger must not make them read a
//     body or a page; the check in Local is the one that counts.
//   - The tags of an input tell where each value travels, with the names of the HTTP
//     library: path, query, or a field of Body. The client of a server sends it by the
//     same tags, the command line makes arguments of the path and flags of the body, a
//     form reads its fields by the same names.
//   - The store resolves references (an id, the end of one, a name), so they mean the same
//     at every face.
//   - The doc tag of a field is its description at every face.
package op
