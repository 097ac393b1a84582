package rollout

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	lines := func(s string) []string { return strings.Split(s, " ") }
	for _, c := range []struct{ was, now, want string }{
		{"a b c", "a b c", ""},
		{"a b c", "a x c", "@@ -1 +1 @@\n a\n-b\n+x\n c\n"},
		{"a", "a b", "@@ -1 +1 @@\n a\n+b\n"},
		{"1 2 3 4 5 6 7 8 9", "1 2 3 4 6 7 8 9 x", "@@ -2 +2 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n 9\n+x\n"},
		{"a 1 2 3 4 5 6 7 8 b", "x 1 2 3 4 5 6 7 8 y", "@@ -1 +1 @@\n-a\n+x\n 1\n 2\n 3\n@@ -7 +7 @@\n 6\n 7\n 8\n-b\n+y\n"},
	} {
		if got := diff(lines(c.was), lines(c.now)); got != c.want {
			t.Errorf("%s → %s:\n%s", c.was, c.now, got)
		}
	}
}
