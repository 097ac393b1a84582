// Package river drives River through its own packages, in the way River's own benchmark
// does: FetchCooldown 2 ms, FetchPollInterval 20 ms, jobs with one number as arguments,
// handlers that return at once.
//
// Where River offers two ways the faster one is used: jobs are inserted by InsertManyFast
// (COPY) and no subscription is opened, because completion is counted in the database.
package river
