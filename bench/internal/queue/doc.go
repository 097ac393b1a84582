// Package queue is the interface between the benchmark and the systems under test.
//
// A scenario uses only a Queue. Each system has one adapter that uses the system's own
// public packages in the way its authors recommend for speed, because an adapter that
// slowed a system down would make every ratio here worthless.
//
//	scenario ──► Queue ──► river   (River, the peer)
//	                  ├──► weir    (Weir, through its Go SDK)
//	                  └──► floor   (the same moves as bare SQL, no SDK, no handlers)
package queue
