// Package temporal runs workflows on Temporal's development server, for comparison with
// Weir.
//
// The server is the program temporal, which is optional: [Find] looks for one, or builds
// it from its module when asked. It runs with a SQLite file, which is its default without
// further setup; Temporal in production uses a database server. Workflows and activities
// are written with its Go SDK and run in this process, with the SDK's defaults except for
// the number of slots.
package temporal
