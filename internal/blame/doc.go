// Package blame attributes an error of the database to a party. One table of SQLSTATEs
// decides for the SDK, for agents and for executors what to do with finished work whose
// report met an error:
//
//	Value    the value itself was refused; the same again is refused again.
//	         Only this may end a task as "the result was refused".
//	State    the engine refused: the lease, the task or the moment in its life.
//	Passing  it passes by itself: send it again.
//	Setup    an operator must change the schema, a grant or a setting. The work is
//	         not to blame: report it again while the lease lives, then leave it.
//
// An error that the table does not know is Setup, because an unknown error must not cost
// finished work.
//
// The package depends only on pgx, so that the SDK can use it.
package blame
