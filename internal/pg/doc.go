// Package pg is everything between Weir and PostgreSQL that is not a query: the
// connection pool, the migrations, and the private server that `weir up` and the tests
// run. It knows no table but its own three.
//
// # The embedded server
//
// [Start] returns a running server that belongs to one data folder:
//
//	DIR/postgres/           ours
//	  lock                  flocked by the Weir that owns the folder; holds its pid
//	  password              0600, random, made once
//	  port                  the port chosen last time
//	  server.log            the server's log
//	  run/                  its unix socket
//	  data/                 PGDATA; owned by the server's user
//	    weir.conf           our settings, written at every start
//
// The contract:
//
//   - There is one Weir per folder. A second one is refused with the pid of the first.
//   - A server is ours if its postmaster.pid is in our folder, it accepts our password
//     and it reports our data folder. Such a server is adopted; any other is left alone,
//     even if it keeps us from starting.
//   - Data of another major version is never opened and never changed.
//   - Killing Weir with -9 loses nothing: on Linux the kernel signals the server to shut
//     down, elsewhere the server keeps running. The next Start waits, adopts or restarts.
//   - Started by root, the server runs as an unprivileged user.
//   - fsync stays on.
//
// # Migrations
//
// [Migrate] brings a database to the schema compiled into this binary. Files
// in migrations/ run once, in order. Files in functions/ and views/ run when
// their content changed, all in one transaction; grants.sql runs after them.
//
// Functions, views and grants have a version of their own, which only goes up: the count
// of lines of versions.txt. A binary applies its files to a database of a lower version
// and leaves those of a higher one as they are, so older and newer servers can be started
// in any order beside each other. A file that a version no longer has is retired, and its
// objects are dropped a week later by the next version, because servers of the version
// before may still call them. Decision 0016 has the whole table.
//
// A migration that contains the line `-- weir:breaking` is one that older binaries cannot
// work with: they refuse with [ErrSchemaNewer]. A release whose functions older binaries
// cannot call has such a migration, even if it is otherwise empty.
package pg
