// Package joblog reads and writes what tasks print. An attempt's log is a row of
// objects that never change, each with some lines of JSON:
//
//	logs/{job}/{task key}/{attempt}/00000000.jsonl   {"at":…,"stream":"stdout","text":"…"}
//	                                00000001.jsonl   …
//	                                00000002.jsonl   ◄─ the agent adds the next one
//
// A [Place] is a chunk and a line in it: who goes on from the place of the last
// line gets every line once, also after a restart of anything. While an attempt
// runs, [Follow] waits for more; the timeline's events of type "log" are what
// wakes it.
//
// A reader tells what is wrong with a log instead of ending there: a chunk that
// is missing and a line that is no JSON become lines of the stream "weir" and
// "raw".
package joblog
