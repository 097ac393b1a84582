// Package lab simulates hours of a test lab in minutes, on the real functions of the
// database.
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
// No part of Weir is replaced: all functions of fleets take the time as an argument, so a
// day passes as fast as the database can work. One thing happens at a time, and all
// randomness comes from one seed, including the database's own: the same seed gives the
// same day again.
package lab
