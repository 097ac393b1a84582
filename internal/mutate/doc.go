// Package mutate takes the guards out of Weir one by one and checks that a test notices.
//
// A guard is a line without which a promise does not hold although everything seems to
// work: a token check, a row lock, a fence, a horizon, a unique index, an epoch, a limit.
// [Rows] is the table of guards. Each row names a file, the text of the guard, its
// replacement, and the test that must fail:
//
//	{"claim locks the node", "schema/functions/engine/claim.sql",
//		`where x.id = w.node for no key update`, `where x.id = w.node`,
//		engineTests, "TestNodeCapacity"},
//
// A mutation of SQL needs no build: the schema is copied to a folder with the one change,
// and testdb makes its template from there (testdb.SchemaVariable). A mutation of Go is a
// build with -overlay. The tree is never written to.
//
// A row is killed when the test was built, ran and failed, on a schema that PostgreSQL
// accepts. It survived when the test passed. It is stale when its text does not occur in
// the file exactly once, when its test does not exist, or when the test fails without the
// mutation: then the row proves nothing and must be rewritten.
//
// `make mutate` runs every row. `make test` looks for stale rows, requires a row for
// every guard of a known form ([Uncovered]), and runs a few rows.
package mutate
