// Package mariatest gives every test a real MariaDB database of its own. The product
// never imports it.
//
//	func TestApplies(t *testing.T) {
//		db := mariatest.New(t)
//		target.Open(ctx, script.MySQL, db.DSN, …)
//	}
//
//	test process ──pipe──► guard (sh) ──starts──► mariadbd
//	                         └ when the pipe closes: ends it, removes the folder
//
// The first test that needs a database starts the server, which lives as long as the
// process. The server has its own folder, socket and port; if it is started by root, it
// runs as an unprivileged user. The guard is a small shell script: whatever happens to
// the test process, even kill -9, the guard removes the server and its folder with it.
// The server is throw-away: it does not flush.
//
// Where MariaDB is missing, tests are skipped with the reason; with CI=true they fail.
package mariatest
