// Package cli is the command line: weir NOUN VERB.
//
// A command reads its flags, asks a store or the client, and prints. It holds
// no rules and no SQL.
//
//   - What a program reads goes to standard output, what a person is told goes
//     to standard error. With -o json, yaml or name the output is for programs
//     and its fields only ever grow.
//   - An error is one line that says what is wrong and one that says what to do
//     next. The exit code tells the kind; problem.Kind has the table.
//   - Colour and redrawing happen on a terminal only, and not with NO_COLOR.
//     Text that came from elsewhere is stripped of control bytes before a
//     terminal sees it.
//   - A list that is empty says which command would fill it.
package cli
