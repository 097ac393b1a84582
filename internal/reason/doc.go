// Package reason says in words why something waits, is held or has ended.
//
//	weir.why ──► code, args ──► Say("ko", code, args) ──► a sentence for a person
//
// The database gives a reason as a code with arguments, and programs read those. Words are
// for people only: nothing reads them back. A language is a file: en.json is what all
// others are measured by, and ko.json is Korean. A value has places: {pool} takes the
// argument of that name, {in:span} gives it a form, and what stands in [brackets] is left
// out where an argument is missing. With n = 1 the words of CODE.one are used, where there
// are some; {ahead:tasks} counts another argument with the words of many.tasks and
// many.tasks.one. An argument that is itself a reason (an object with a
// code) is said in the same language. {command} is the command that is advised; its words
// stand under command.CODE.
//
// English in SQL is made from the same file: weir._words is written by the test of this
// package with -rewrite, and weir._sentence does what Say does.
//
// How to add a reason: build the object in SQL, put its code into en.json and ko.json, and
// run the test with -rewrite. Decision 0024 says why it is so.
package reason
