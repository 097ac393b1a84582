package chaos

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestLedgerIsJudged gives the judge ledgers that are each wrong in one way.
func TestLedgerIsJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, ledger, result string
		want                 []string
	}{
		{"good", "begin t 1 f 5\nbeat t 1 f 5\nend t 1 f 5", `{"attempt": 1, "token": "f", "pid": 5}`, nil},
		{"a later attempt won", "begin t 1 f 5\nbeat t 1 f 5\nbegin t 2 g 6\nend t 2 g 6", `{"attempt": 2, "token": "g", "pid": 6}`, nil},
		{"two at once", "begin t 1 f 5\nbegin t 2 g 6\nbeat t 1 f 5\nend t 2 g 6", `{"attempt": 2, "token": "g", "pid": 6}`, []string{ruleOverlap}},
		{"started twice", "begin t 1 f 5\nbegin t 1 f 6\nend t 1 f 5", `{"attempt": 1, "token": "f", "pid": 5}`, []string{ruleTwice}},
		{"run after its end", "begin t 1 f 5\nend t 1 f 5\nbegin t 2 g 6", `{"attempt": 1, "token": "f", "pid": 5}`, []string{ruleTerminal}},
		{"the loser's result", "begin t 1 f 5\nend t 1 f 5\nbegin t 2 g 6\nend t 2 g 6", `{"attempt": 1, "token": "f", "pid": 5}`, []string{ruleTerminal}},
		{"never ran", "", `{"attempt": 1, "token": "f", "pid": 5}`, []string{ruleRun}},
		{"never ended", "begin t 1 f 5\nbeat t 1 f 5", `{"attempt": 1, "token": "f", "pid": 5}`, []string{ruleRun}},
		{"no result", "begin t 1 f 5\nend t 1 f 5", `null`, []string{ruleTerminal}},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, err := ReadLedger(strings.NewReader(c.ledger))
			if err != nil {
				t.Fatal(err)
			}
			attempt := 1
			if strings.Contains(c.ledger, "end t 2") {
				attempt = 2
			}
			found := JudgeLedger(entries, []Ran{{"t", "key", attempt, json.RawMessage(c.result)}})
			if got := rules(found); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
