// Package garbage removes objects from a bucket that no longer belong to any job or task.
//
// History is dropped by partition, so the dropped part is a range of time, and ids begin
// with their time:
//
//	ids       ├── dropped ──┤── partition ──┤── dropped ──┤── partition ──┤ …
//	bucket    ▪▪ ▪ ▪▪▪      ▪▪▪ ▪ ▪▪        ▪ ▪           ▪▪ ▪▪▪
//	          └ listed, deleted             └ listed, deleted
//
// Only gaps are listed, so the cost of a sweep depends on what there is to remove, and
// each id is looked up once more before anything of it is deleted. Objects that were
// uploaded and never recorded are removed with their job in the same way; incoming
// objects that never got their key are removed after a day.
//
// Objects are deleted first, then their rows, so that a sweep that is killed in between
// is simply repeated.
package garbage
