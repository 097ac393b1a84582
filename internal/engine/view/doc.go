// Package view reads what faces show: lists with filters and pages, and the
// details of one thing. It writes nothing.
//
// Rules of every list: newest first, by id; a page ends at its limit and the
// next one begins after the last id; nothing is counted. A filter by state
// reads the table that holds that state, so that a few running tasks are found
// at once among millions that have ended.
//
// The fields' JSON names are those of the public views, and only ever grow.
package view
