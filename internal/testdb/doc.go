// Package testdb gives every test a real, migrated PostgreSQL database of its
// own.
//
//	func TestMain(m *testing.M) { testdb.Main(m) }
//
//	func TestClaim(t *testing.T) {
//		db := testdb.New(t)
//		db.Pool.Exec(…)
//	}
//
// A database is a clone of a template that is named after the hash of the
// schema and migrated once per cluster. The cluster is the one at
// WEIR_TEST_DATABASE_URL, which `make test` starts for the whole run (package
// testdb/serve); without that, each test process starts a private one on first
// use. Either way it is throw-away: it runs without fsync.
//
// When a test ends, weir.doctor() looks at its database, and every invariant
// that does not hold fails the test.
package testdb
