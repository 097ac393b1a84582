// Package workspace keeps workspaces: a home that stays, and a container that comes and
// goes. People want a phase; the controller looks at what is there, judges, plans and
// acts, until what was wanted is what is seen.
//
//	API, proxy, TTL ──▶ weir.workspace_want ──▶ desired
//	                                               │
//	  providers, bucket ──▶ look ──▶ ladder.Decide ┤ phase, conditions
//	                          ▲                    ▼
//	                          └──── act ◀── intent (operation, id) ── committed first
//
// # Contracts
//
//   - What is there is the truth; the database is the last look at it. A call that
//     returned is not an end: an end is seen.
//   - A look that could not see everything is no look: nothing changes, and nothing is
//     done, but for workspaces of providers that could be seen.
//   - One writer for each column: what people, the proxy and the clock want is written by
//     weir.workspace_want and its like, what was seen and done by the controller, under
//     the term of the leader. A test reads which function writes which column.
//   - Intent before effect. Every act can be done again, by anybody, after a crash at any
//     point.
//   - The volume goes after its archive was read back whole, recorded, and nobody has
//     mounted it since the archive was begun. The volume itself keeps watch over that: it
//     refuses whoever means another state of it.
//   - Starts and archives are numbered in the order in which they were begun. So everybody
//     can tell whether a volume is newer than the archive, or a leftover of somebody who
//     was late.
//   - Time runs out from the last progress, and only while somebody could get on: not
//     during an outage, without a leader, or in the queue.
//   - Archives are removed by the collector alone.
//   - The bucket that has the archives has a mark (workspaces/.bucket). One without it is
//     another one, such as the folder of a disk that is not mounted: it says nothing about
//     archives, and cannot be seen.
package workspace
