// Package scenario contains what is measured and how.
//
// A round is the unit of measurement. It has one order for every system:
//
//	reset · VACUUM ANALYZE · CHECKPOINT
//	  insert n jobs         (first clock)
//	ANALYZE
//	  start workers … until all n are finished in the database   (second clock)
//	stop workers · check the count · reset
//
// Rounds of the systems alternate (A B A B …), so that other load on the machine affects
// both. A round leaves empty tables behind, so that no vacuum of one system runs inside
// the round of another. Scenarios report the median of their rounds, and the best beside
// it.
package scenario
