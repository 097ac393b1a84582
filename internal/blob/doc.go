// Package blob stores data that is too large or too plain for the database: inputs and
// outputs of tasks, their logs, and old partitions of the timeline.
//
//	inputs/{job}/{task key}/{attempt}/{name}    ┐
//	outputs/{job}/{task key}/{attempt}/{name}   ├─ Key builds them, Parse reads them
//	logs/{job}/{task key}/{attempt}/{seq}.jsonl ┘
//	timeline/{partition}.jsonl.zst
//	incoming/{hash of a key}                    an upload of a node, until it is recorded
//
// A [Bucket] is any S3 endpoint or a folder, chosen by a URL ([Open]). Both pass one
// suite of tests, and a program cannot distinguish them except in two points. A folder
// has no presigned URLs, and it guesses a content type from the name instead of storing
// it. In a folder a key cannot be both an object and the beginning of another's path (a
// and a/b), because file systems do not allow it.
//
// # Promises
//
//   - An object is stored completely or not at all. A Put that is cut off stores no
//     object, and leaves the one it would have replaced.
//   - A reader that reaches the end without an error has read every byte that it
//     requested: a body that was cut is an error, never a short read.
//   - No error, name or log line holds the credentials of a bucket.
//
// A Put cannot guarantee that the bucket keeps the object. Where that matters, [Upload]
// checks with the bucket after it has stored something, and [Verify] compares the bytes
// read with the recorded SHA-256.
//
// # One bucket, one Weir
//
// Package garbage deletes objects of jobs that the database no longer has. Two databases
// must therefore not share a bucket unless each has its own prefix.
package blob
