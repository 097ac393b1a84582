// Package activity keeps when workspaces were last used, and by what.
//
//	request, frame ──▶ memory ──── 30 s ───▶ Redis, if there is one ──┐
//	                   (1 s)  └─── 60 s, or when asked ───────────────┴──▶ database
//
// # What counts
//
// A tab that is left open is no use, though it talks all the time. So requests that a
// page repeats do not count, nor do control frames, nor small frames of a WebSocket: an
// editor sends them every few seconds to keep its connection. Bytes of bigger frames
// count per minute. Small frames that come as fast as a person types do count. A
// connection that says that it is a terminal of ours sends what was typed and nothing
// else: there every message counts. What a workspace sends never counts.
//
// # Times
//
// The clocks of servers differ. Memory keeps times of this machine; to Redis and to the
// database goes how long ago it was, and theirs are the clocks that count. A time never
// goes back. From Redis is taken away only what has not moved since it was read.
//
// # Before something is stopped
//
// What is in memory is not in the database for up to a minute. So whoever stops
// workspaces calls [Meter.Ask] first: if something is due, every server writes down what
// it knows, and after a moment the database tells the truth.
package activity
