// Package temporal runs workflows on Temporal's development server, beside Weir.
//
// The server is the program temporal, which is optional: [Find] looks for one, or
// builds it from its module when asked. It runs with a SQLite file, which is how
// it comes without further set-up; Temporal in production stands on a database
// server of its own. Workflows and activities are written with its Go SDK and run
// in this process, with the SDK's defaults except for the number of slots.
package temporal
