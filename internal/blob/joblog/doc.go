// Package joblog reads and writes the output of tasks. An attempt's log is a row of
// objects that never change, each with some lines of JSON:
//
//	logs/{job}/{task key}/{attempt}/00000000.jsonl   {"at":…,"stream":"stdout","text":"…"}
//	                                00000001.jsonl   …
//	                                00000002.jsonl   ◄─ the agent adds the next one
//
// A chunk is compressed (zstd), because a line has its time and its stream beside a text
// that is often short. Those of earlier releases are not, and are read as well.
//
// A [Place] is a chunk and a line in it: a reader that continues from the place of the
// last line gets every line once, also after a restart of any part. While an attempt
// runs, [Follow] waits for more; the timeline's events of type "log" wake it.
//
// A reader reports a fault of a log instead of ending there: a missing chunk and a line
// that is not JSON become lines of the streams "weir" and "raw".
package joblog
