// Package view reads what faces show: lists with filters and pages, and the
// details of one thing. It writes nothing.
//
// Rules of every list: newest first, by id; a page ends at its limit and the
// next one begins after the last id; nothing is counted beyond ten thousand. A
// filter by state reads the table that holds that state, so that a few running
// tasks are found at once among millions that have ended.
//
// # Bounded time
//
// Every question takes a bounded time, whatever the tables hold. The tables of
// tasks have no index but the engine's, because every index is paid for by every
// task. So a filter that no index answers walks over the newest rows, and stops
// after so many:
//
//	newest ─────────────────────────────────────────────────────────────► oldest
//	├─ look: 50,000 rows ─┤ next
//	   ▪    ▪        ▪    (found: a page, perhaps short)
//	                      ├─ the next page looks on from here ─┤
//
// A page of [Store.TaskPage], [Store.JobPage] and [Store.Timeline] may therefore be
// short, or even empty, and yet not be the last: next says. [Store.Tasks] and
// [Store.Jobs] look on until the page is full. Where an index finds few rows, a
// page is made from these. Ends of ids and keys of tasks are looked for among
// what is new and what lives.
//
// The fields' JSON names are those of the public views, and only ever grow.
package view
