// Package activity records when workspaces were last used, and by what.
//
//	request, frame ──▶ memory ──── 30 s ───▶ Redis, if there is one ──┐
//	                   (1 s)  └─── 60 s, or when asked ───────────────┴──▶ database
//
// # What counts
//
// A tab that is left open is no use, though it sends requests all the time. So requests
// that a page repeats do not count, nor do control frames, nor small frames of a
// WebSocket, because an editor sends them every few seconds to keep its connection. Bytes
// of bigger frames count per minute. Small frames that come as fast as a person types do
// count. A connection with the subprotocol of our terminal sends typed keys and nothing
// else, so every message of it counts. Data that a workspace sends never counts.
//
// # Times
//
// The clocks of servers differ. Memory keeps times of this machine; Redis and the
// database get the age of a use and apply their own clocks. A recorded time never goes
// back. An entry is removed from Redis only if it has not changed since it was read.
//
// # Before something is stopped
//
// A use in memory reaches the database up to a minute later. So the part that stops
// workspaces calls [Meter.Ask] first: if a workspace is due to be stopped, every server
// writes what it knows, and after a moment the database is up to date.
package activity
