// Package cli is the command line: weir NOUN VERB.
//
//	flags, WEIR_*, file, context ─► app.FindTarget ─┬─► database ─┐
//	                                                └─► server ───┴─► Session ─► command ─► table, JSON, name
//
// The command of each domain is in a package of its own, all of the same shape: an exported
// function for each noun, which takes the run of the command (command.Env) and returns the
// command of cobra.
//
//	cli            root command, weir up, server, migrate, doctor, config, open, why, version
//	├─ workcmd       tasks, jobs, pools, artifacts, secrets, events
//	├─ workflowcmd   workflows, runs, schedules
//	├─ rolloutcmd    rollouts, databases
//	├─ fleetcmd      fleet jobs, PCs, devices
//	├─ workspacecmd  workspaces
//	├─ machinecmd    agents, nodes, workers
//	├─ accountcmd    users, tokens, sessions, join tokens, contexts, logging in
//	└─ command       what all of them share: session, flags, printing, lists, watching
//
// Tasks and jobs are under most of the others, so those import workcmd. A schedule may start
// a fleet job, so workflowcmd imports fleetcmd; a workspace has an owner, so workspacecmd
// imports accountcmd. There is no other import between them.
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
//   - A command in a hint can be typed as it stands (command/hint.go).
//   - Colour and redrawing happen on a terminal only, and not with NO_COLOR.
//     Text that came from elsewhere is stripped of control bytes before a
//     terminal sees it.
//   - A list that is empty says which command would fill it. Every list can be
//     watched: it is drawn again on a terminal, elsewhere a line is printed for
//     each row that is new or changed.
//   - A task can be named JOB/STEP wherever its id can (workcmd.FindTask).
//   - Passwords and tokens come from a prompt or from standard input, and go to
//     nobody's command line.
package cli
