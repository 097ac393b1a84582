// Package stats contains the few statistics that the benchmark prints.
//
// No function here changes its samples: each one works on a copy.
package stats
