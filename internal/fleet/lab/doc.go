// Package lab lives through hours of a test lab in minutes, on the real functions of
// the database.
//
//	         queue of what happens next, by simulated time
//	                             │
//	    ┌───────────┬────────────┼───────────┬────────────┐
//	  PCs        devices       people      leader       checks
//	report      fail, hang,   submit,     tend,        doctor, slots,
//	claim       flap, break,  cancel,     fleet_tend,  the lab's own
//	renew       move, hubs    maintain,   schedules    ledger, meter
//	finish      drop          retire
//	    └───────────┴────────────┼───────────┴────────────┘
//	                             ▼
//	       weir.fleet_report, fleet_claim, renew, fail … (at => simulated time)
//
// Nothing of Weir is replaced: all functions of fleets take the time as an argument,
// so a day passes as fast as the database can work. One thing happens at a time and
// everything that is left to chance comes from one seed, the database's own dice
// too: the same seed is the same day again.
//
// # What is checked
//
// The lab knows the truth that Weir can only infer: which device is broken, which
// program hangs, which hub was pulled. It keeps a ledger of what it did to each task
// and compares:
//
//   - a device is never given out while something runs on it, and a PC never gets
//     more than its slots
//   - an end is taken once, and only from who holds the lease
//   - a run failed for good has spent its own attempts, or the infrastructure's; what
//     a lost hub took is in neither
//   - a device was put out by a job only for runs that failed so, or by a health task
//     that did fail
//   - a job that fails everywhere is stopped, and leaves no device behind as bad
//   - every unit ends, and the doctor is content all the time
//
// # What is measured
//
// Utilisation is busy slot-time by the slot-time that eligibility allows: per PC
// min(slots, what runs + idle devices that are eligible and have work waiting),
// integrated over time. What runs on a PC that is dead counts as allowed and not as
// busy until Weir has noticed.
//
// `go test ./internal/fleet/lab` lives through a few hours of a small lab,
// `go test -tags chaos -run Long -v ./internal/fleet/lab` through a day of 50 PCs.
package lab
