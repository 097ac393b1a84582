// Package rollouts applies the same migrations to databases with Weir, goose and
// golang-migrate, and kills each of them at the same points.
//
//	bare SQL ─┐
//	goose ────┤
//	migrate ──┼──► a fresh database each, 100 migrations one after the other
//	target ───┤    (the part of Weir that connects to the database)
//	weir ─────┘    (a rollout: store, engine, executor, target)
//
// All tools are libraries in this process; for the crashes, in a child process.
package rollouts
