// Package op describes what people and programs can do with Weir, each thing once.
//
// An operation is a value that the package of its domain exports, such as
// rollout.Pause. It says its noun and verb, its route, the right it asks for, its
// input, and what it does on the domain's store. The faces are made of it:
//
//	command line ─┐                    ┌─ Local: asks for the right, then does it
//	a page's form ┼─ op.Op.Call ─ Caller
//	HTTP ─────────┘                    └─ remote.Client: the same operation on a server
//
// Invariants:
//
//   - A right is asked for in Local, below every face, by the same words that the faces
//     have. They ask first, because a stranger must not make them read a body or a page;
//     the answer of Local is the one that counts.
//   - An input says where each value travels, with the tags of the HTTP library: path,
//     query, or a field of Body. The client of a server sends it by the same tags, the
//     command line makes arguments of the path and flags of the body, a form reads its
//     fields by the same names.
//   - What a thing is called (an id, the end of one, a name) is read by the store, so it is
//     the same at every face.
//   - The words of a field are its doc tag, at every face.
package op
