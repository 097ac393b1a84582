// Package blob keeps what is too large or too plain for the database: inputs
// and outputs of tasks, their logs, and old partitions of the timeline.
//
//	inputs/{job}/{task key}/{attempt}/{name}    ┐
//	outputs/{job}/{task key}/{attempt}/{name}   ├─ Key builds them, Parse reads them
//	logs/{job}/{task key}/{attempt}/{seq}.jsonl ┘
//	timeline/{partition}.jsonl.zst
//	incoming/{hash of a key}                    what a node has put there itself, until it is recorded
//
// A [Bucket] is any S3 endpoint or a folder, chosen by a URL ([Open]). Both are
// twins: they pass one suite of tests, and a program cannot tell them apart but
// for two things. A folder has no presigned URLs, and it guesses a content type
// from the name instead of keeping it. In a folder a key cannot be both an
// object and the beginning of another's path (a and a/b): file systems cannot.
//
// # Promises
//
//   - An object is there whole or not at all. A Put that is cut off leaves no
//     object, and leaves the one it would have replaced.
//   - Whoever reads to the end without an error has read every byte that was
//     asked for: a body that was cut is an error, never a short read.
//   - No error, name or log line holds the credentials of a bucket.
//
// What a Put cannot promise is that the bucket keeps its word. Where that
// matters, [Upload] asks the bucket again after it has stored something, and
// [Verify] compares what comes back with the SHA-256 that was noted.
//
// # One bucket, one Weir
//
// Package garbage deletes objects of jobs that the database no longer knows. Two
// databases must therefore not share a bucket without a prefix each.
package blob
