package workcmd

import (
	"strings"
	"testing"
)

func TestGrepOfALog(t *testing.T) {
	for grep, want := range map[string]bool{"": true, "err(or)?": true, "^error$": false, "(?i)DISK": true} {
		wanted, err := LogFlags{Grep: grep}.matcher()
		if err != nil || wanted("an error of the disk") != want {
			t.Errorf("%q: %v", grep, err)
		}
	}
	for _, bad := range []string{"(", strings.Repeat("a", 2000)} {
		if _, err := (LogFlags{Grep: bad}).matcher(); err == nil || !strings.Contains(err.Error(), "--grep") {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}
