// Package layered places the boxes of a directed graph in columns, from left
// to right, and says where its edges run.
//
//	break cycles ─► columns by longest path ─► way points for long edges
//	             ─► order in a column, few crossings ─► heights ─► pack components
//
// It knows boxes and edges, no tasks. The same input gives the same layout.
// Boxes never overlap. An edge leaves the right side of its first box and ends
// at the left side of its second; between columns it runs through the gap, and
// across a column it has a row of its own, so it crosses no box.
//
// Work is bounded for any input: a graph whose long edges would need more way
// points than [maxBends] gets straight ones.
package layered
