package cli

import (
	"fmt"
	"strings"
)

// column is one column of a table of T.
type column[T any] struct {
	title string
	// wide columns are shown with -o wide only, narrow ones without it only.
	wide, narrow bool
	value        func(o *output, row T) string
	// ages are columns that move by themselves: a row is no other for that.
	ages bool
	// paint colours by the value; nil: no colour.
	paint func(string) string
}

// listing says how rows of T are shown.
type listing[T any] struct {
	columns []column[T]
	name    func(T) string
	// empty says that there is nothing and which command would change that.
	empty []string
}

// print writes the rows in the form that was asked for.
func (l listing[T]) print(o *output, rows []T) error {
	switch {
	case o.data():
		if rows == nil {
			rows = []T{}
		}
		return o.value(rows)
	case o.format == "name":
		for _, row := range rows {
			if _, err := fmt.Fprintln(o.Out, clean(l.name(row))); err != nil {
				return err
			}
		}
		return nil
	case len(rows) == 0:
		for _, line := range l.empty {
			o.say("%s", line)
		}
		return nil
	}
	_, err := fmt.Fprint(o.Out, l.text(o, rows, nil, true))
	return err
}

// below prints the rows below what was printed already, with a title unless that is empty.
// Of no rows it prints nothing.
func (l listing[T]) below(o *output, title string, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	o.title(title)
	return l.print(o, rows)
}

// title begins another part of what is printed.
func (o *output) title(text string) {
	fmt.Fprintln(o.Out)
	if text != "" {
		fmt.Fprintln(o.Out, o.paint(bold, text))
	}
}

// shown are the columns that the form of output wants.
func (l listing[T]) shown(o *output) (shown []column[T]) {
	for _, c := range l.columns {
		if !(c.wide && o.format != "wide" || c.narrow && o.format == "wide") {
			shown = append(shown, c)
		}
	}
	return shown
}

// text is the rows as lines. Columns are at least as wide as atLeast says, and
// it learns how wide they became.
func (l listing[T]) text(o *output, rows []T, atLeast *[]int, titled bool) string {
	shown := l.shown(o)
	widths := make([]int, len(shown))
	if atLeast != nil {
		copy(widths, *atLeast)
	}
	lines := make([][]string, 0, len(rows))
	for i, c := range shown {
		widths[i] = max(widths[i], cells(c.title))
	}
	for _, row := range rows {
		line := make([]string, len(shown))
		for i, c := range shown {
			line[i] = clean(c.value(o, row))
			if line[i] == "" {
				line[i] = "-"
			}
			widths[i] = max(widths[i], cells(line[i]))
		}
		lines = append(lines, line)
	}
	if atLeast != nil {
		*atLeast = append((*atLeast)[:0], widths...)
	}
	o.fit(widths)
	var text strings.Builder
	if titled {
		titles := make([]string, len(shown))
		for i, c := range shown {
			titles[i] = c.title
		}
		writeLine(o, &text, titles, widths, func(int) func(string) string { return func(string) string { return bold } })
	}
	for _, line := range lines {
		writeLine(o, &text, line, widths, func(i int) func(string) string { return shown[i].paint })
	}
	return text.String()
}

// fit makes the rows fit a terminal: the last column, which says most, takes
// what is left, and if that is too little the widest ones give. Elsewhere
// nothing is cut.
func (o *output) fit(widths []int) {
	if !o.terminal || o.format == "wide" {
		return
	}
	const last, other = 12, 5
	room := o.width
	for _, w := range widths[:len(widths)-1] {
		room -= w + 2
	}
	note := &widths[len(widths)-1]
	*note = min(*note, max(room, last))
	for over := *note - room; over > 0; over-- {
		widest := 0
		for i, w := range widths[:len(widths)-1] {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= other {
			return // a terminal as narrow as this wraps
		}
		widths[widest]--
	}
}

func writeLine(o *output, text *strings.Builder, line []string, widths []int, paint func(int) func(string) string) {
	for i, cell := range line {
		cell = cut(cell, widths[i])
		painted := cell
		if p := paint(i); p != nil {
			painted = o.paint(p(cell), cell)
		}
		text.WriteString(painted)
		if i < len(line)-1 {
			text.WriteString(strings.Repeat(" ", widths[i]-cells(cell)+2))
		}
	}
	text.WriteByte('\n')
}

// field is one line of a detail view: a label and a value. An empty value is left out.
type field [2]string

// details writes labels and values in two columns. A value of several lines is
// indented as a block.
func (o *output) details(fields []field) error {
	most := 0
	for _, f := range fields {
		if f[1] != "" {
			most = max(most, len(f[0]))
		}
	}
	var text strings.Builder
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		lines := strings.Split(cleanLines(strings.TrimRight(f[1], "\n")), "\n")
		fmt.Fprintf(&text, "%s%s  %s\n", o.paint(bold, f[0]), strings.Repeat(" ", most-len(f[0])), o.paint(stateColor(lines[0]), lines[0]))
		for _, line := range lines[1:] {
			fmt.Fprintf(&text, "%s  %s\n", strings.Repeat(" ", most), line)
		}
	}
	_, err := fmt.Fprint(o.Out, text.String())
	return err
}
