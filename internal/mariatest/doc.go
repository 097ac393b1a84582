// Package mariatest gives every test a real MariaDB database of its own. The
// product never imports it.
//
//	func TestApplies(t *testing.T) {
//		db := mariatest.New(t)
//		target.Open(ctx, script.MySQL, db.DSN, …)
//	}
//
//	test process ──pipe──► guard (sh) ──starts──► mariadbd
//	                         └ when the pipe closes: ends it, removes the folder
//
// The server is started by the first test that wants a database, and lives as
// long as the process. It has a folder, a socket and a port of its own, and
// started by root it runs as an unprivileged user. The guard is a small shell
// script: whatever happens to the test process, kill -9 included, the server
// and its folder go with it. The server is throw-away: it does not flush.
//
// Where MariaDB is missing, tests are skipped and say why; with CI=true they
// fail.
package mariatest
