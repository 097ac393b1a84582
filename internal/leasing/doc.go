// Package leasing keeps leases alive, for the SDK's worker and for the agent of a node.
//
//	asked                  sixth      third                    margin      end
//	  ├──────────────────────┼──────────┼────────── … ────────────┼──────────┤
//	  request was sent       renewed    a renewal                 work       another
//	  that gave the lease    with       is due                    stops      may have
//	                         others                                          the task
//
// A lease counts from the moment its request was sent, because the database counted from
// then at the earliest. The clock is that of internal/uptime, because leases continue
// while a machine sleeps, and that clock cannot be set.
//
// A [Keeper] calls Renew often enough and Guard more often. Renew sends one statement for
// all leases that are a sixth old as soon as one of them is a third old, so that there is
// about one statement per third, and none for short work. Guard stops work whose lease
// may soon belong to another worker. It has its own goroutine, because the answer to a
// renewal may take until the lease ends.
package leasing
