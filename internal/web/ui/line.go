package ui

import "strings"

// Line takes the colours of a terminal and other control characters out of a
// text that stands on one line.
func Line(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			i = len(s)
		}
		b.WriteString(strings.Map(func(r rune) rune {
			switch {
			case r == '\n' || r == '\t':
				return ' '
			case r < ' ' || r == 0x7f:
				return -1
			}
			return r
		}, s[:i]))
		s = afterEscape(s[i:])
	}
	return b.String()
}

// afterEscape is what follows the control sequence at the beginning of s.
func afterEscape(s string) string {
	if len(s) < 2 {
		return ""
	}
	if s[1] == ']' { // the title of a window, a link: up to a bell or the next escape
		if i := strings.IndexAny(s[2:], "\a\x1b"); i >= 0 {
			return strings.TrimPrefix(s[2+i+1:], `\`)
		}
		return ""
	}
	if s[1] != '[' {
		return s[2:]
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return s[i+1:]
		}
	}
	return ""
}
