// Package stats holds the few statistics that the benchmark prints.
//
// Samples are never changed by a function here: each one works on a copy.
package stats
