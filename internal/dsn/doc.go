// Package dsn reads the address of a database, for everything that connects to
// Weir's own: the server, commands, agents, migrations, LISTEN, the SDK. So every
// setting works everywhere or nowhere: those of libpq, pool_max_conns and the other
// pool_ settings of pgx, default_query_exec_mode, and one word of ours:
//
//	pooler=transaction   the address leads to a pooler in transaction mode
//	pooler=none          it leads to PostgreSQL itself, whatever it looks like
//
// Without the word it is found out: the process id that a server names when a
// session begins is that of the process that answers queries, and a pooler names
// another one, because it must tell its own clients apart when they cancel.
//
// Through a pooler no statement may be prepared, because the next one may go to
// another connection, and no setting may be sent at the start that PgBouncer
// refuses. It depends on pgx alone, so that the SDK can use it.
package dsn
