// Package queue is the seam between the benchmark and the systems under test.
//
// A scenario only ever talks to a Queue. Each system has one adapter that uses
// the system's own public packages in the way its authors recommend for speed:
// an adapter that holds a system back would make every ratio here worthless.
//
//	scenario ──► Queue ──► river   (River, the peer)
//	                  ├──► weir    (Weir, through its Go SDK)
//	                  └──► floor   (the same moves as bare SQL, no SDK, no handlers)
package queue
