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
// # Tiers
//
// `go test ./chaos` runs every fault once, in a few minutes.
// `go test -tags chaos -run Long ./chaos` mixes them for the duration in
// WEIR_CHAOS, from the seed in WEIR_CHAOS_SEED or one that it prints.
package chaos
