// Package pg is everything between Weir and PostgreSQL that is not a query:
// the connection pool, the migrations, and the private server that `weir up` and
// the tests run. It knows no table but its own two.
//
// # The embedded server
//
// [Start] gives a running server that belongs to one data folder:
//
//	DIR/postgres/           ours
//	  lock                  flocked by the Weir that owns the folder; holds its pid
//	  password              0600, random, made once
//	  port                  the port chosen last time
//	  server.log            what the server says
//	  run/                  its unix socket
//	  data/                 PGDATA; owned by the server's user
//	    weir.conf           our settings, written at every start
//
// The contract:
//
//   - One Weir per folder. A second one is refused with the pid of the first.
//   - A server is ours when its postmaster.pid stands in our folder, it accepts
//     our password and it reports our data folder. Such a server is adopted;
//     any other is left alone, whatever it does to us.
//   - Data of another major version is never opened and never changed.
//   - Killing Weir with -9 loses nothing: on Linux the kernel tells the server
//     to shut down, elsewhere it runs on. The next Start waits, adopts or
//     restarts.
//   - Started by root, the server runs as an unprivileged user.
//   - fsync stays on.
//
// # Migrations
//
// [Migrate] brings a database to the schema compiled into this binary. Files
// in migrations/ run once, in order. Files in functions/ and views/ run when
// their content changed, all in one transaction; what a file made and no longer
// makes is dropped. grants.sql runs after them.
//
// A migration that holds the line `-- weir:breaking` is one that older binaries
// cannot work with: they refuse with [ErrSchemaNewer]. A newer schema that is
// not breaking is left as it is, functions included. So a release that changes
// functions carries a migration, if only an empty one: it is what stops an older
// server, restarted during the roll-out, from putting the old functions back.
package pg
