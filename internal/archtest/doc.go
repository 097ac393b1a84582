// Package archtest checks the shape of the repository: which package may import which,
// which may own a clock, how long a file may be, what a file of schema/functions looks
// like.
//
//	cmd → cli → app → httpapi web proxy agent coordinator
//	                → workflow rollout fleet workspace
//	                → engine node → timeline blob auth → pg → schema loop SDK
//
// The rules are literals in rules.go, each with its reason. An exception to a rule is
// beside it, also with a reason. An exception that nothing needs anymore is itself a
// finding, so the lists contain only what is true.
//
// The checks read an fs.FS. The repository test gives them the real tree, and the
// self-test gives them the small bad trees of testdata, which prove that each check can
// fail.
package archtest
