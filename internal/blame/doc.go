// Package blame says whose fault an error of the database is. One table of
// SQLSTATEs decides for the SDK, for agents and for executors what to do with
// work that is over and whose report met an error:
//
//	Value    the value itself was refused; the same again is refused again.
//	         Only this may end a task as "the result was refused".
//	State    the engine refused: the lease, the task or the moment in its life.
//	Passing  it passes without anybody's doing: send it again.
//	Setup    somebody must change the schema, a grant or a setting. The work is
//	         not to blame: report it again while the lease lives, then leave it.
//
// An error that the table does not know is Setup, because an unknown error must
// not cost anybody finished work.
//
// It depends on pgx alone, so that the SDK can use it.
package blame
