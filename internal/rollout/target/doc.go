// Package target changes somebody else's database: it applies one change to one
// PostgreSQL or MySQL/MariaDB database, at most once, and can tell afterwards
// what became of it. It knows nothing of plans and stages.
//
//	Apply ─ connect ─ evict ─ lock ─ fence ─ history ─┬─ applied already ──► Replayed
//	                                                  └─ step … step ─ row ─► Result
//	                                                       │
//	            the server said no ◄── Failure ────────────┼──► Failure{Unknown} ─► Resolve
//	                                                       └─ nobody knows
//
// # The ten rules
//
//	 1  One executor per target. The lock is a session lock of the connection that
//	    runs the change, polled and never waited for inside the server: a waiter
//	    holds no snapshot that CREATE INDEX CONCURRENTLY would wait for. A pooler
//	    that lends the backend to others is refused.    lock.go, postgres_pooler.go
//	 2  The history row is written in the transaction of the change. A replay
//	    finds it and does nothing.                          decide.go, transaction.go
//	 3  A version whose text changed is refused, and so is one that is older than
//	    what the target has, unless the plan allows it.                    decide.go
//	 4  Every session has a lock timeout, a statement timeout, an idle timeout and
//	    a name. Unlimited is something a change has to ask for by name.    limits.go
//	 5  Inside an attempt only what the server undid is tried again: lock not
//	    granted, deadlock, serialization; and a connect.                  patience.go
//	 6  A connection that is lost after something was sent leaves the outcome
//	    unknown. It is never called a failure.                 failure.go, resolve.go
//	 7  What cannot run in a transaction is a step with a mark before and after.
//	    Whoever comes next looks at the target before going on.     step.go, resume.go
//	 8  Cancel is a request to the server. Apply returns when the backend is gone. guard.go
//	 9  A newer attempt shuts out older ones: it ends their sessions and raises the
//	    fence, which every transaction of theirs looks at first.           fence.go
//	10  Statements come from a parser, not from a scan for semicolons: package script.
//
// # What is in the target
//
// Three tables, made by the first change, in the schema of Options.Schema or the
// one that the target's user creates tables in:
//
//	weir_history  one row per change that is applied; version and task are unique
//	weir_steps    how far a change of several steps got; gone with its history row
//	weir_fence    per task the newest attempt that was let in
//
// # The engines
//
// Everything above is the same for both and stands in the files named after the
// nouns. What differs is behind the interface session: postgres_*.go and
// mysql_*.go. In MySQL each DDL statement commits by itself, so each is a step.
// A lock there has no shared form, so changes of data run one after the other;
// on PostgreSQL they run beside one another.
//
// A change runs on a connection that the context does not reach: a driver that
// drops a connection in the middle of a statement leaves the server at work. The
// guard watches the context instead and asks the server to stop.
package target
