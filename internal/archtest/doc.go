// Package archtest holds the shape of the repository: which package may import
// which, who may own a clock, how long a file may grow, what a file of
// schema/functions looks like.
//
//	cmd → cli → app → httpapi web proxy agent coordinator
//	                → workflow rollout fleet workspace
//	                → engine node → timeline blob auth → pg → schema loop SDK
//
// The rules are literals in rules.go, each with its reason. Where a rule must
// bend, the exception stands beside it with a reason too. An exception that
// nothing needs any more is itself a finding, so the lists only hold what is true.
//
// The checks read an fs.FS. The repository test gives them the real tree, the
// self-test gives them the small bad trees of testdata, so we know each check
// can fail.
package archtest
