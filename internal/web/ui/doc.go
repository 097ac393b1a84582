// Package ui is the kit that pages are made of. A component takes values and
// writes HTML; it reads nothing and decides nothing about rights.
//
//	around a page   Layout(Frame), Bare(Frame), PageHead(Head)
//	live            Live(id) { … }
//	words           State, TaskState, Gate, Level, Badge, Label, Labels, Note, Text, Line
//	times           Time (3m ago), Since (3m12s, counting), Until (7m12s, counting down), Took(from, to), Exact, Duration
//	language        Say, Count, Because, Told, Spoken; Code(ctx, prefix, code): what people call it
//	ids, commands   ID(id, href), Copy, Command(line), Secret
//	boxes           Card (padded), Box (flush, for tables), Stat in <div class="stats">, Empty
//	lists           Table, Columns, Row, Paging, Filter(action, Pick…), Tabs, Facts and Fact
//	numbers         Number, Bytes, Plural, Progress, JobProgress(Tally)
//	data            JSON(value, raw), Log(text, raw)
//	forms           Form, Fields, Field, Problem, Ask, Act, ButtonLink, Asked(Question)
//	addresses       Path("jobs", id), With(url, "after", x)
//	icons           Icon(name): see icon.go
//
// Layout helpers are classes: stack, stack-tight, row, push, grid, grid-wide,
// stats, muted, small, mono, num, clip, nowrap, strong, sr (for screen readers),
// needs-script. Colours, sizes and radii are tokens of the stylesheet
// (asset/files/1-tokens.css); nothing has a colour of its own.
//
// Colour never speaks alone: every state has an icon and a word. An icon is
// decoration and hidden from screen readers; a button that is only an icon has
// an aria-label.
package ui
