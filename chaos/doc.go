// Package chaos breaks Weir on purpose and judges the result.
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
package chaos
