package locale_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Every language has every word, with the same values in it, and none that is not
// in the default.
func TestComplete(t *testing.T) {
	all := locale.All()
	if len(all) < 2 || all[0].Code != locale.Default || !locale.Known("ko") {
		t.Fatalf("languages: %+v", all)
	}
	base := all[0]
	for _, w := range all[1:] {
		for _, key := range base.Keys() {
			if !slices.Contains(w.Keys(), key) {
				t.Errorf("%s lacks %s", w.Code, key)
				continue
			}
			if a, b := verbs(base.Say(key)), verbs(w.Say(key)); !slices.Equal(a, b) {
				t.Errorf("%s: %s has the values %v, and %v in %s", w.Code, key, b, a, base.Code)
			}
		}
		for _, key := range w.Keys() {
			if !slices.Contains(base.Keys(), key) {
				t.Errorf("%s has %s, which %s lacks", w.Code, key, base.Code)
			}
		}
		if w.Name == "" || w.Name == base.Name {
			t.Errorf("%s calls itself %q", w.Code, w.Name)
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[\d\])?([a-z])`)

// verbs are the kinds of values that a text takes, in any order.
func verbs(text string) (out []string) {
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

// Every status and state has its name, and Korean has its own.
func TestStates(t *testing.T) {
	en, ko := locale.Pick("en", ""), locale.Pick("ko", "")
	var keys []string
	for _, s := range rollout.Statuses {
		keys = append(keys, "status."+s)
	}
	for _, s := range rollout.States {
		keys = append(keys, "state."+s)
	}
	for _, s := range fleet.Healths {
		keys = append(keys, "health."+s)
	}
	for _, s := range fleet.Answers {
		keys = append(keys, "answer."+s)
	}
	for _, s := range fleet.JobStates {
		keys = append(keys, "fleetjob."+s)
	}
	for _, s := range fleet.UnitStates {
		keys = append(keys, "unit."+s)
	}
	for _, s := range []string{fleet.PCActive, fleet.PCPaused, fleet.PCDraining, fleet.PCBlind, fleet.PCDead} {
		keys = append(keys, "pcstate."+s)
	}
	for _, s := range []string{fleet.PolicyStrict, fleet.PolicyEvidence} {
		keys = append(keys, "policy."+s, "policy.text."+s)
	}
	for _, s := range ladder.Phases {
		keys = append(keys, "phase."+string(s))
	}
	for _, s := range ladder.Operations {
		keys = append(keys, "operation."+string(s))
	}
	for _, s := range ladder.Reasons {
		keys = append(keys, "reason."+string(s))
	}
	for _, s := range slices.Concat(view.Words(view.States), view.JobStates) {
		keys = append(keys, "is."+s)
	}
	for _, s := range view.Gates {
		keys = append(keys, "gate."+string(s))
	}
	for _, s := range auth.Roles() {
		keys = append(keys, "role."+string(s), "role.about."+string(s))
	}
	for _, s := range []weir.Overlap{
		weir.OverlapAllow, weir.OverlapSkip, weir.OverlapQueueOne, weir.OverlapQueueAll,
		weir.OverlapCancelRunning,
	} {
		keys = append(keys, "overlap."+string(s))
	}
	for _, s := range []weir.Missed{weir.MissedSkip, weir.MissedOne, weir.MissedAll} {
		keys = append(keys, "missed."+string(s), "missed.was."+string(s))
	}
	for _, key := range keys {
		if !slices.Contains(en.Keys(), key) || en.Say(key) == ko.Say(key) {
			t.Errorf("%s: %q and %q", key, en.Say(key), ko.Say(key))
		}
	}
	if got := ko.Say("status.AVAILABLE"); got != "실행 가능" {
		t.Errorf("AVAILABLE is %q", got)
	}
}

var (
	used = regexp.MustCompile(`(?:[sS]ay|[cC]ount|Code)\(.{0,20}?(?:ctx|Context\(\)), "([^"]+)"(\+)?`)
	// headings are the keys of a table.
	headings = regexp.MustCompile(`Columns\(ctx, ([^)]*)\)`)
	// quoted are the keys that stand in tables, and the beginnings of keys.
	quoted = regexp.MustCompile(`"([a-z][A-Za-z0-9_.]*)#?"`)
)

// Every word that a page says is there, and every word that is there is said.
func TestUsed(t *testing.T) {
	var files []string
	for _, face := range []string{"web", "proxy"} {
		err := filepath.WalkDir("../"+face, func(path string, _ fs.DirEntry, err error) error {
			files = append(files, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	keys := locale.Pick("en", "").Keys()
	said := map[string]bool{"language": true}
	var begins []string
	for _, name := range files {
		if !strings.HasSuffix(name, ".templ") && !strings.HasSuffix(name, ".go") ||
			strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name) // #nosec G304 -- the sources of the package
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllStringSubmatch(string(data), -1) {
			if m[2] == "" && !strings.HasSuffix(m[1], ".") && !slices.Contains(keys, m[1]) {
				t.Errorf("%s says %s, which is no word", name, m[1])
			}
		}
		for _, m := range headings.FindAllStringSubmatch(string(data), -1) {
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				if !slices.Contains(keys, q[1]) && !slices.Contains(keys, "word."+q[1]) {
					t.Errorf("%s has the heading %s, which is no word", name, q[1])
				}
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(string(data), -1) {
			for _, end := range []string{"", ".one", ".next"} {
				said[m[1]+end] = true
			}
			said["word."+m[1]] = true // a heading: see ui.Columns
			if strings.HasSuffix(m[1], ".") && m[1] != "word." {
				begins = append(begins, m[1])
			}
		}
	}
	for _, key := range keys {
		if !said[key] && !slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(key, b) }) {
			t.Errorf("nobody says %s", key)
		}
	}
}

func TestPick(t *testing.T) {
	for _, c := range []struct{ chosen, accept, want string }{
		{"", "", "en"},
		{"ko", "en", "ko"},
		{"en", "ko", "en"},
		{"xx", "ko-KR,ko;q=0.9,en;q=0.8", "ko"},
		{"", "fr,en;q=0.5,ko;q=0.7", "ko"},
		{"", "de", "en"},
		{"", "ko;q=nonsense", "en"},
		{"", "ko;q=0", "en"},
		{"<script>", ";;,,q=", "en"},
	} {
		if got := locale.Pick(c.chosen, c.accept).Code; got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.chosen, c.accept, got, c.want)
		}
	}
	en, ko := locale.Pick("en", ""), locale.Pick("ko", "")
	if en.Count("ask.tasks", 1) != "1 task" || en.Count("ask.tasks", 3) != "3 tasks" || ko.Count("ask.tasks", 3) != "작업 3개" {
		t.Error(en.Count("ask.tasks", 1), en.Count("ask.tasks", 3), ko.Count("ask.tasks", 3))
	}
	if got := ko.Say("no.such.word"); got != "no.such.word" {
		t.Error(got)
	}
}
