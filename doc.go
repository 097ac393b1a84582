// Package weir is the Go SDK of Weir, a control plane that lives in one
// PostgreSQL database. It submits tasks, runs their handlers and says why a task
// waits. It imports the standard library and pgx, nothing else.
//
//	   your transaction                 PostgreSQL                     worker
//	┌──────────────────┐        ┌──────────────────────┐       ┌─────────────────┐
//	│ insert order     │ submit │ pending ─► available │ claim │ Handle("email") │
//	│ Submit("email")  ├───────►│  gates        │      ├──────►│   f(ctx, run)   │
//	│ commit           │        │            running ◄─┼─renew─┤                 │
//	└──────────────────┘        │               │      │finish │                 │
//	         hint ─ ─ ─ ─ ─ ─ ─ │            done …  ◄─┼───────┤                 │
//	                            └──────────────────────┘       └─────────────────┘
//
// # Submit
//
// A [Task] names a service and carries params. It may wait for a time, for a
// person, for other tasks of its [Job], for its turn in a lane or for room in a
// pool. [Client.Submit] makes it durable; [Client.SubmitTx] does so in your own
// transaction, so that the task exists if and only if your other writes do.
//
//	client, err := weir.Open(ctx, url, nil)
//	receipt, err := client.Submit(ctx, weir.Task{Service: "email.send", Params: Email{To: "a@example.org"}})
//
// # Work
//
// A [Worker] claims tasks of the services it handles, many at a time, and runs a
// handler for each.
//
//	worker := weir.NewWorker(client, weir.WorkerConfig{Concurrency: 50})
//	weir.Handle(worker, "email.send", func(ctx context.Context, run *weir.Run[Email]) (any, error) {
//		return nil, send(ctx, run.Args)
//	})
//	err := worker.Run(ctx)
//
// # What is promised
//
//   - What was acknowledged is durable. A task runs at least once unless it is
//     cancelled, and exactly one attempt decides how it ended.
//   - An attempt holds a lease. Every write of it carries the lease's token; a
//     stale attempt can change nothing, and the try is recorded.
//   - The worker ends a handler's context before anybody else may start its
//     task: when it cannot renew the lease, it stops counting from before the
//     last renewal that was answered, on a clock that goes on while the machine
//     sleeps (on Linux; elsewhere the wall clock and Go's monotonic one).
//   - A lost answer is asked for again under the same name: no lease leaks after
//     a lost claim, no task runs again after a lost finish.
//   - A worker that stops hands back what it holds without spending attempts.
//   - Notifications are hints. Without them all works, at the speed of polling.
//   - No server is needed. When no coordinator tends the engine, one of the
//     clients with a worker does.
//
// Errors of the database wrap [ErrNotFound], [ErrConflict], [ErrLeaseLost] or
// [ErrInvalid], and say what to do next.
package weir
