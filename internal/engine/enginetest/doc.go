// Package enginetest holds the tests of the SQL engine: the functions of
// schema/functions, called the way a client or a worker calls them, on a real
// PostgreSQL.
//
// The engine is SQL, so nothing here goes through Go code of the product. Every
// test gets a database of its own and ends with weir.doctor(). Every call hands
// in the time, so no test waits for a clock.
//
//	matrix     every state × every command
//	twin       random histories against a naive engine in memory
//	gates      limits under concurrency, read back from the timeline
//	isolation  interleavings of calls on several connections
//	plans      what a hot statement reads and writes
//	…          why, jobs, timeline, bad input, doctor, roles: one file each
package enginetest
