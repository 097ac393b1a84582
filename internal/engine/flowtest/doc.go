// Package flowtest plays the scheduler and the workers of the workflow core
// whose names schema flow keeps: they know plain SQL and nothing of Weir, and
// the builder of Weir does the rest.
package flowtest
