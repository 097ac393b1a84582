// Package command is what all commands share: the run of a command (Env), the session on a
// database or a server, arguments and flags from the descriptions of operations, and how
// things are printed, listed, shown, watched and completed.
//
//	op.Op ─► Operation, Lists ─► cobra command ─► Env.Session ─► Output
//
// A command is a function that takes the Env and returns a command of cobra. What it prints
// goes through Output, which knows the form that was asked for and the terminal.
package command
