package archtest

import (
	"regexp"
	"strings"
)

// statement is one SQL statement. bare has no comments, and its quoted parts are emptied,
// so that a keyword found in it is a keyword and not a word of a text.
type statement struct{ bare string }

var dollarTag = regexp.MustCompile(`^\$(?:[A-Za-z_]\w*)?\$`)

// statements splits SQL at the semicolons that end statements. It handles line and nested
// block comments, single and double quotes and dollar quotes.
func statements(text string) []statement {
	var out []statement
	var bare strings.Builder
	flush := func() {
		if s := strings.TrimSpace(bare.String()); s != "" {
			out = append(out, statement{s})
		}
		bare.Reset()
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := text[i]; {
		case strings.HasPrefix(rest, "--"):
			i += until(rest, "\n")
			bare.WriteByte(' ')
		case strings.HasPrefix(rest, "/*"):
			i += blockComment(rest)
			bare.WriteByte(' ')
		case c == '\'':
			i += 1 + until(rest[1:], "'")
			bare.WriteString("''")
		case c == '"':
			n := 1 + until(rest[1:], `"`)
			bare.WriteString(rest[:n])
			i += n
		case c == '$' && dollarTag.MatchString(rest):
			tag := dollarTag.FindString(rest)
			i += len(tag) + until(rest[len(tag):], tag)
			bare.WriteString("''")
		case c == ';':
			flush()
			i++
		default:
			bare.WriteByte(c)
			i++
		}
	}
	flush()
	return out
}

// until returns the length of s up to and including end, or of all of s.
func until(s, end string) int {
	if n := strings.Index(s, end); n >= 0 {
		return n + len(end)
	}
	return len(s)
}

// blockComment returns the length of the comment that s begins with. Comments nest in
// SQL.
func blockComment(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
