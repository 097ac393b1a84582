// Package pgparse is PostgreSQL's own parser: a text goes in, its parse tree
// comes out as JSON.
//
// The parser is C, compiled to a WebAssembly module that go-pgquery embeds, so
// Weir needs no C compiler. We drive the module ourselves, for three things that
// library does not do:
//
//   - The machine code is kept on disk. Compiling the module takes a second or
//     two, loading it from the cache some ten milliseconds, and each command line
//     that reads SQL is a process of its own.
//   - An instance whose stack overflowed is dropped. It has 64 KiB; after a
//     text that nests some hundred deep every later one would fail too.
//   - A text that keeps the parser busy for longer than Patience is given up.
//
// One text is parsed at a time: each instance takes tens of megabytes. Nothing is
// loaded before the first.
//
// # The cache
//
// What lies there is run, so it is read only from a folder that is ours and that
// nobody else may write to: weir/parser in the user's cache. Without such a
// folder the module is compiled anew in each process.
package pgparse
