// Package fleets is a large lab without phones: PCs that report devices, claim work for
// their slots, end it and ask for the next, all through the SQL functions that agents
// use, over one pool of connections.
//
//	Open ──► every PC reports its devices ──► a job of three rounds
//	Fill ──► all slots run
//	Work ──► an end and a claim, PC after PC, as fast as possible or at a fixed rate
//	         besides: reports, renewals and heartbeats of all PCs; the leader's
//	         passes; a plain queue
//	Pass ──► what the leader's pass and a report cost when nothing is new
//
// At the end the benchmark compares the number of ended runs with the database: a turn
// that the client counts and the database does not is an error.
package fleets
