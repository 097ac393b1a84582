// Package garbage removes from a bucket what belongs to nobody any more.
//
// History is dropped by partition, so what is gone is a range of time, and ids
// begin with their time:
//
//	ids       ├── dropped ──┤── partition ──┤── dropped ──┤── partition ──┤ …
//	bucket    ▪▪ ▪ ▪▪▪      ▪▪▪ ▪ ▪▪        ▪ ▪           ▪▪ ▪▪▪
//	          └ listed, deleted             └ listed, deleted
//
// Only what lies in a gap is listed, so a sweep costs what there is to remove,
// and each id is asked for once more before anything of it is deleted. Objects
// that were uploaded and never recorded go with their job in the same way; those
// that came in and never got their place go after a day.
//
// The order is: objects first, then their rows. Whoever is killed in between
// does it again.
package garbage
