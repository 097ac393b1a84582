// Package chaos breaks Weir on purpose and judges what is left.
//
//	  parent (go test)                                   agents (the same binary)
//	┌───────────────────────┐   call, wait for go      ┌─────────────────────────┐
//	│ Recorder: every call  │◄─────────────────────────│ claim, renew, run,      │
//	│ with the parent's     │─────────────────────────►│ finish, fail, tend      │
//	│ clock, as JSONL       │   go (after a fault)     └───────────┬─────────────┘
//	└──────────┬────────────┘                                      │ SQL
//	           │            kill -9, SIGSTOP            ┌──────────▼─────────────┐
//	           │            toxics, partitions ────────►│ Proxy (toxiproxy)      │
//	           │                                        └──────────┬─────────────┘
//	           │            kill -9, terminate ───────► ┌──────────▼─────────────┐
//	           ▼                                        │ PostgreSQL             │
//	  layer 2: linearizable?      layer 1: invariants ◄─┤ weir.events            │
//	                                                    └────────────────────────┘
//
// # History
//
// A client tells the [Recorder] of a call before it makes it and waits for the
// go; so no call is ever missing, the recorded interval always contains the
// real one, and a fault can strike at an exact call. A call whose answer never
// came has the outcome unknown and never returns: it may have happened or not.
//
// # Judgement
//
// Layer 1 ([Evidence.Judge]) walks the timeline once and checks what must hold
// at every instant: leases, tokens, gates, attempts, terminal moves, epochs.
// It walks in the order of seq. A transaction writes an event after it has seen
// and locked what the event is about, so for one task, one lane and one pool
// seq is the order of cause and effect; xid is not, because a transaction has
// its xid before it sees what others commit meanwhile.
//
// Layer 2 ([Evidence.Linearize]) asks whether the answers that clients got can
// be explained by one task that moves step by step (porcupine, one history per
// task). Moves that no client made, such as the end of a lease, come from the
// timeline.
//
// Both return findings that name the invariant (I1 … I16), the guarantee it
// stands for (R1 … R15) and the task. The checker is itself tested: for each
// broken build in broken_test.go the same run must be clean on the real
// functions and must be found out on the broken ones.
//
// # Machines
//
// A storm runs workflows on agents of the product, each a process with keepers
// and work of its own, over SQL and over HTTPS:
//
//	conductors (lead, build, plan) ──► PostgreSQL ◄── Proxy ◄── machine ──► keeper ──► step
//	                                       ▲                       ▲                     │
//	                      HTTPS server ────┘ ◄──────── Proxy ◄─────┘      ledger ◄───────┘
//
// Every step appends to one file, the ledger, that it begins, lives and ends,
// with its attempt and fence. The order of those lines is the order of what
// happened, without any clock: [JudgeLedger] finds two attempts of a step that
// lived at the same time, an attempt that was started twice, and a result that
// is not what the winner did. For containers the ledger is what their engine
// tells. Afterwards nothing may be left on a machine: [Remains] looks for
// processes, and the folders of attempts are empty.
//
// # Workspaces
//
// A house is a database, a provider and a bucket in which workspaces live through one run
// after another. Whatever a controller does outside of itself passes a place where a blow
// can fall, before it, in the middle or after it:
//
//	users ── want, write ──► the house knows what must be in each home
//
//	controller ── QueryRow ──────► PostgreSQL      a blow, at the nth call of a kind:
//	           ── shaky provider ► processes       it is dead from there on, or paused,
//	           ── shaky bucket ──► folder, S3      and goes on when another reigns
//
// Meanwhile the parts fail (500, cut, a flipped bit, stored and not there), archives
// vanish for a time, somebody starts what is being archived, and hours pass for the
// collector. Then nothing fails any more, and it is judged: all is as it is wanted, every
// file that a user was told is stored is there, in the volume or in an archive whose bytes
// are what they should be; no volume went before its archive, nothing was made empty where
// a home was, nothing was done twice at once, nobody wrote after its term. The judge is
// tested with broken builds, too. Processes that lead are also killed and stopped for
// real.
//
// # Ordinary operation
//
// Most of what goes wrong goes wrong while nothing is broken. Deeds (ordinary_test.go)
// are what users and operators do every week: transactions that stay open while they
// hold something, servers that are replaced, migrations beside load, a pooler in the
// path, a dump and its restore. A flow (flow_test.go) has many clients submit in slow
// transactions while floors rise, and a reader with a cursor. Extreme values
// (extreme_test.go) come from one table and go through every public function, every route
// and page that shows what was taken (extreme_face_test.go), and every field of the API
// (extreme_body_test.go). A restore (restore_test.go) leads into another cluster.
//
// # Tiers
//
// `go test ./chaos` runs every fault once, in a few minutes.
// `go test -tags chaos -run Long ./chaos` mixes them for the duration in
// WEIR_CHAOS, from the seed in WEIR_CHAOS_SEED or one that it prints.
package chaos
