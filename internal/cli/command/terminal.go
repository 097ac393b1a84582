package command

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// terminal says whether f is one, and how wide.
func terminal(f *os.File) (is bool, columns int) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return false, 0
	}
	if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
		return true, columns
	}
	return true, 80
}

// Clean makes one line of text that is safe on a terminal: without escape
// sequences, other control bytes and marks that turn the direction of writing.
func Clean(s string) string {
	s = StripEscapes(s)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unsafeRune(r):
			return -1
		}
		return r
	}, s)
}

// CleanLines is clean for text of several lines.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || r == unicode.ReplacementChar ||
		r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff
}

// StripEscapes takes out whole escape sequences: taking only the escape byte
// would leave "[31m" behind.
func StripEscapes(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b\u009d") {
		return s
	}
	var out strings.Builder
	rest := []rune(s)
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == 0x1b && i+1 < len(rest):
			i = endOfEscape(rest, i+1)
		case rest[i] == 0x9b:
			i = endOfCSI(rest, i+1)
		case rest[i] == 0x9d:
			i = endOfString(rest, i+1)
		default:
			out.WriteRune(rest[i])
		}
	}
	return out.String()
}

// endOfEscape is the place of the last rune of the sequence whose kind stands at i.
func endOfEscape(s []rune, i int) int {
	switch s[i] {
	case '[':
		return endOfCSI(s, i+1)
	case ']', 'P', 'X', '^', '_':
		return endOfString(s, i+1)
	}
	return i
}

func endOfCSI(s []rune, i int) int {
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
		i++
	}
	return i
}

func endOfString(s []rune, i int) int {
	for ; i < len(s); i++ {
		if s[i] == 0x07 || s[i] == 0x9c {
			return i
		}
		if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
			return i + 1
		}
	}
	return i
}

// Cells is how many places of a terminal a text takes.
func Cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	if unicode.Is(unicode.Mn, r) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut shortens a text to so many cells.
func Cut(s string, limit int) string {
	if limit <= 0 || Cells(s) <= limit {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeCells(r); n > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// terminalHeight is how many lines the terminal has.
func terminalHeight(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if _, lines, err := term.GetSize(int(f.Fd())); err == nil && lines > 0 {
			return lines
		}
	}
	return 24
}
