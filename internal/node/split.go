package node

import (
	"fmt"
	"strings"
	"unicode"
)

// SplitCommand splits a command that a person wrote into its words, as a shell does: space
// separates, quotes keep together, a backslash escapes the next character. Nothing is
// expanded, because the command does not pass through a shell.
func SplitCommand(line string) (argv []string, err error) {
	var word strings.Builder
	var quote rune
	begun, taken := false, false
	for _, c := range line {
		switch {
		case taken:
			word.WriteRune(c)
			taken = false
		case c == '\\' && quote != '\'':
			begun, taken = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			begun, quote = true, c
		case quote == 0 && unicode.IsSpace(c):
			if begun {
				argv = append(argv, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	case taken:
		return nil, fmt.Errorf("nothing follows the last \\")
	}
	if begun {
		argv = append(argv, word.String())
	}
	return argv, nil
}
