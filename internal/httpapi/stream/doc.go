// Package stream sends the timeline to browsers and programs as it grows:
// Server-Sent Events over HTTP/1.1 and HTTP/2.
//
//	GET /api/v1/events?job=…&task=…&kind=…&type=…&fold=state&after=CURSOR
//	Last-Event-ID: CURSOR                           (wins over after)
//
//	retry: 1000                                     once, with the place where
//	id: 700.9223372036854775807                     the stream begins
//
//	id: 712.40+3                                    one per event
//	event: claimed
//	data: {"cursor": "712.40+3", "seq": 40, …}
//
//	:beat                                           every 30 s, with the place
//	id: 715.9223372036854775807                     up to which all was sent
//
// A stream that breaks off continues after the last id without gap or duplicate, on any
// server. An invalid cursor is 422, one whose history was dropped is 410: load afresh,
// then follow from now.
//
// A stream holds no queue. Its follower has a place in the hub's ring, or reads the
// database until it is in the ring again, and the bytes of an event are made once for all
// streams. A client that does not take its bytes within the write timeout is
// disconnected; it may reconnect and continue.
//
// The subject is looked up again every minute, and the right is checked for every row.
// The stream ends when the session or token does.
//
// fold=state leaves out events that do not change the state of a task: events that are no
// transition (such as progress), and those into the state it had. Events about other
// objects all pass.
package stream
