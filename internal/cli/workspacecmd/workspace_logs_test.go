package workspacecmd

import (
	"strings"
	"testing"
)

func TestPrintedSince(t *testing.T) {
	many := strings.Repeat("a line of many\n", 1000)
	for _, c := range []struct{ last, now, want string }{
		{"", "", ""},
		{"", "one\n", "one\n"},
		{"one\n", "one\n", ""},
		{"one\n", "one\ntwo\n", "two\n"},
		{"one\ntwo\n", "two\nthree\n", "three\n"},
		{"one\ntwo\n", "another start\n", "another start\n"},
		{many + "one\n", many[len(many)/2:] + "one\ntwo\n", "two\n"},
		{"half", "half a line\n", " a line\n"},
	} {
		if got := printedSince(c.last, c.now); got != c.want {
			t.Errorf("%.20q, then %.20q: %q", c.last, c.now, got)
		}
	}
}
