package node_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/node"
)

// The input is a command as a person writes it, in the form of a fleet job and for
// --devices.
func TestWords(t *testing.T) {
	for line, want := range map[string]string{
		"":                       "",
		"  ./test.sh \n --fast ": "./test.sh|--fast",
		`a "b c" 'd "e' f\ g`:    `a|b c|d "e|f g`,
		`"" '' x""y`:             "||xy",
		`$HOME *.txt "\"" '\n'`:  `$HOME|*.txt|"|\n`,
		"adb -s 한글 shell":        "adb|-s|한글|shell",
	} {
		if words, err := node.SplitCommand(line); err != nil || strings.Join(words, "|") != want {
			t.Errorf("%q: %q, %v", line, words, err)
		}
	}
	for _, line := range []string{`a "b`, `'`, `a\`} {
		if words, err := node.SplitCommand(line); err == nil {
			t.Errorf("%q: %q", line, words)
		}
	}
}
