// Package cli is the command line: weir NOUN VERB.
//
//	flags, WEIR_*, file, context ─► app.FindTarget ─┬─► database ─┐
//	                                                └─► server ───┴─► Session ─► command ─► table, JSON, name
//
// A command reads its flags, asks a store or the client, and prints. It holds
// no rules and no SQL, and does not know whether a database or a server's API
// answers.
//
//   - What a program reads goes to standard output, what a person is told goes
//     to standard error. With -o json, yaml or name the output is for programs
//     and its fields only ever grow.
//   - An error is one line that says what is wrong and one that says what to do
//     next, or an object with -o json and yaml. The exit code tells the kind;
//     problem.Kind has the table.
//   - A command in a hint can be typed as it stands (hint.go).
//   - Colour and redrawing happen on a terminal only, and not with NO_COLOR.
//     Text that came from elsewhere is stripped of control bytes before a
//     terminal sees it.
//   - A list that is empty says which command would fill it. Every list can be
//     watched: it is drawn again on a terminal, elsewhere a line is printed for
//     each row that is new or changed.
//   - A task can be named JOB/STEP wherever its id can (findTask).
//   - Passwords and tokens come from a prompt or from standard input, and go to
//     nobody's command line.
package cli
