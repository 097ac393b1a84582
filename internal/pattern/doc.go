// Package pattern compiles everything that somebody else wrote as a pattern: regular
// expressions, wildcards, globs and JSON Schemas. It is the one place that does, because a
// pattern of a kilobyte can ask for a gigabyte of memory: (((a)…)){1000} repeats what is
// inside for each turn. internal/archtest refuses a regexp.Compile of anything but a constant
// elsewhere.
//
// What a pattern costs is counted on its syntax tree, which is as long as its text, before
// anything is compiled. The bounds:
//
//	text of a regular expression      MaxLength bytes
//	groups inside one another         MaxDepth
//	instructions, repeats multiplied  MaxCost
//	regular expressions of a schema   MaxPatterns, together MaxTotal instructions
//	parts of a schema                 MaxParts
//	checks on one value of a document MaxChecks, references followed
//	checks on a whole document        MaxWork
//
// Every refusal is an *Error. It says where in a schema the fault is.
package pattern
