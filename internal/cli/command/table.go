package command

import (
	"fmt"
	"strings"
)

// Column is one column of a table of T.
type Column[T any] struct {
	Title string
	// Wide columns are shown with -o wide only, narrow ones without it only.
	Wide, Narrow bool
	Value        func(o *Output, row T) string
	// Ages are columns that move by themselves: a row is no other for that.
	Ages bool
	// Paint colours by the value; nil: no colour.
	Paint func(string) string
}

// Listing says how rows of T are shown.
type Listing[T any] struct {
	Columns []Column[T]
	Name    func(T) string
	// Empty says that there is nothing and which command would change that.
	Empty []string
}

// Print writes the rows in the form that was asked for.
func (l Listing[T]) Print(o *Output, rows []T) error {
	switch {
	case o.Data():
		if rows == nil {
			rows = []T{}
		}
		return o.Value(rows)
	case o.Format == "name":
		for _, row := range rows {
			if _, err := fmt.Fprintln(o.Out, Clean(l.Name(row))); err != nil {
				return err
			}
		}
		return nil
	case len(rows) == 0:
		for _, line := range l.Empty {
			o.Say("%s", line)
		}
		return nil
	}
	_, err := fmt.Fprint(o.Out, l.text(o, rows, nil, true))
	return err
}

// Below prints the rows below what was printed already, with a title unless that is empty.
// Of no rows it prints nothing.
func (l Listing[T]) Below(o *Output, title string, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	o.Title(title)
	return l.Print(o, rows)
}

// Title begins another part of what is printed.
func (o *Output) Title(text string) {
	fmt.Fprintln(o.Out)
	if text != "" {
		fmt.Fprintln(o.Out, o.Paint(Bold, text))
	}
}

// shown are the columns that the form of output wants.
func (l Listing[T]) shown(o *Output) (shown []Column[T]) {
	for _, c := range l.Columns {
		if !(c.Wide && o.Format != "wide" || c.Narrow && o.Format == "wide") {
			shown = append(shown, c)
		}
	}
	return shown
}

// text is the rows as lines. Columns are at least as wide as atLeast says, and
// it learns how wide they became.
func (l Listing[T]) text(o *Output, rows []T, atLeast *[]int, titled bool) string {
	shown := l.shown(o)
	widths := make([]int, len(shown))
	if atLeast != nil {
		copy(widths, *atLeast)
	}
	lines := make([][]string, 0, len(rows))
	for i, c := range shown {
		widths[i] = max(widths[i], Cells(c.Title))
	}
	for _, row := range rows {
		line := make([]string, len(shown))
		for i, c := range shown {
			line[i] = Clean(c.Value(o, row))
			if line[i] == "" {
				line[i] = "-"
			}
			widths[i] = max(widths[i], Cells(line[i]))
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
			titles[i] = c.Title
		}
		writeLine(o, &text, titles, widths, func(int) func(string) string { return func(string) string { return Bold } })
	}
	for _, line := range lines {
		writeLine(o, &text, line, widths, func(i int) func(string) string { return shown[i].Paint })
	}
	return text.String()
}

// fit makes the rows fit a terminal: the last column, which says most, takes
// what is left, and if that is too little the widest ones give. Elsewhere
// nothing is cut.
func (o *Output) fit(widths []int) {
	if !o.Terminal || o.Format == "wide" {
		return
	}
	const last, other = 12, 5
	room := o.Width
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

func writeLine(o *Output, text *strings.Builder, line []string, widths []int, paint func(int) func(string) string) {
	for i, cell := range line {
		cell = Cut(cell, widths[i])
		painted := cell
		if p := paint(i); p != nil {
			painted = o.Paint(p(cell), cell)
		}
		text.WriteString(painted)
		if i < len(line)-1 {
			text.WriteString(strings.Repeat(" ", widths[i]-Cells(cell)+2))
		}
	}
	text.WriteByte('\n')
}

// Field is one line of a detail view: a label and a value. An empty value is left out.
type Field [2]string

// Details writes labels and values in two columns. A value of several lines is
// indented as a block.
func (o *Output) Details(fields []Field) error {
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
		lines := strings.Split(CleanLines(strings.TrimRight(f[1], "\n")), "\n")
		fmt.Fprintf(&text, "%s%s  %s\n", o.Paint(Bold, f[0]), strings.Repeat(" ", most-len(f[0])), o.Paint(StateColor(lines[0]), lines[0]))
		for _, line := range lines[1:] {
			fmt.Fprintf(&text, "%s  %s\n", strings.Repeat(" ", most), line)
		}
	}
	_, err := fmt.Fprint(o.Out, text.String())
	return err
}
