package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fault is an error in a file: where, what is wrong, and what to do about it.
type Fault struct {
	File string
	// Line and Column count from 1, the column in characters. Zero: the whole file.
	Line, Column int
	What, Next   string
}

// Error is file:line:column: what; advice.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(f.What)
	if f.Next != "" {
		b.WriteString("; " + f.Next)
	}
	return b.String()
}

// in names the file of a fault that was found in a text.
func (f *Fault) in(file string) *Fault {
	named := *f
	named.File = file
	return &named
}

// faultAt is a fault at an offset of text.
func faultAt(text string, offset int, what, next string) *Fault {
	line, column := place(text, offset)
	return &Fault{Line: line, Column: column, What: what, Next: next}
}

// place turns an offset into line and column.
func place(text string, offset int) (line, column int) {
	offset = min(max(offset, 0), len(text))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	return strings.Count(text[:start], "\n") + 1, utf8.RuneCountInString(text[start:offset]) + 1
}

// foreignSpace is white space that no database takes for it. It comes with text
// that was copied from a page.
func foreignSpace(r rune) bool {
	return r >= utf8.RuneSelf && unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff'
}

const foreignSpaceNext = "write a plain space instead, or nothing"

func foreignSpaceWhat(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	return fmt.Sprintf("the character U+%04X looks like a space and is none", r)
}

// quoteLimit is how much of a text an error repeats.
const quoteLimit = 60

// excerpt is the beginning of a text in one line.
func excerpt(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > quoteLimit {
		text = string([]rune(text)[:quoteLimit]) + "…"
	}
	return text
}
