package target_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// A history of random rows. Versions are few, so that they meet: some are written in
// two ways, and some belong to another tool.
func someHistory(t *rapid.T) []target.Entry {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) target.Entry {
		return target.Entry{
			Version:  rapid.SampledFrom([]string{"", "1", "01", "2", "2.1", "3", "not a version"}).Draw(t, "version"),
			Name:     rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"),
			Kind:     rapid.SampledFrom([]string{"ddl", target.KindBaseline}).Draw(t, "kind"),
			Checksum: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "checksum"),
			Task:     rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "task"),
		}
	}), 0, 6).Draw(t, "history")
}

// TestDecideIsWhatTheRulesSay compares with the rules said one by one, each over the
// whole history. In which order its rows were written does not matter.
func TestDecideIsWhatTheRulesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := someHistory(t)
		for _, version := range []string{"1", "2", "2.1", "3"} {
			for _, text := range []string{"x", "y"} {
				for _, leave := range []bool{false, true} {
					run := target.Run{Task: "t1", OutOfOrder: leave, Change: script.Change{Version: version, Name: "a", Checksum: text}}
					want := byTheRules(t, history, run)
					for range 3 {
						if got := decision(history, run); got != want {
							t.Fatalf("%+v with %+v: %s, want %s", run.Change, history, got, want)
						}
						rand.Shuffle(len(history), func(i, j int) { history[i], history[j] = history[j], history[i] })
					}
				}
			}
		}
	})
}

// byTheRules is the decision about a run that has a version.
func byTheRules(t *rapid.T, history []target.Entry, run target.Run) string {
	mine, err := script.Rank(run.Change.Version)
	if err != nil {
		t.Fatal(err)
	}
	some := func(is func(rank int64, e target.Entry) bool) bool {
		return slices.ContainsFunc(history, func(e target.Entry) bool {
			rank, err := script.Rank(e.Version)
			return err == nil && e.Version != "" && is(rank, e)
		})
	}
	switch {
	case some(func(rank int64, e target.Entry) bool {
		return rank == mine && e.Checksum != "" && e.Checksum != run.Change.Checksum
	}):
		return target.CodeChecksum
	case some(func(rank int64, e target.Entry) bool {
		return rank == mine || rank > mine && e.Kind == target.KindBaseline
	}):
		return "applied"
	case !run.OutOfOrder && some(func(rank int64, _ target.Entry) bool { return rank > mine }):
		return target.CodeOrder
	}
	return "run"
}

// TestDecideOnceApplied: whatever the history, a run that was let through and wrote
// its row is applied from then on, and a change of its text is not.
func TestDecideOnceApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := someHistory(t)
		run := target.Run{Task: "new", OutOfOrder: true, Change: script.Change{
			Version:    rapid.SampledFrom([]string{"", "1", "2", "2.1", "3", "4"}).Draw(t, "mine"),
			Name:       rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"),
			Checksum:   rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "text"),
			Repeatable: rapid.Bool().Draw(t, "repeatable"),
		}}
		if decision(history, run) != "run" {
			return
		}
		c := run.Change
		history = append([]target.Entry{{Version: c.Version, Name: c.Name, Kind: "ddl", Checksum: c.Checksum, Task: run.Task}}, history...)
		if got := decision(history, run); got != "applied" {
			t.Fatalf("its own row: %s", got)
		}
		other := run
		other.Task, other.Change.Checksum = "newer", "another"
		want := "run"
		if c.Version != "" {
			want = target.CodeChecksum
		}
		if got := decision(history, other); got != want {
			t.Fatalf("another text: %s, want %s", got, want)
		}
	})
}

func decision(history []target.Entry, run target.Run) string {
	applied, refused := target.Decide(history, run)
	switch {
	case applied != nil && refused != nil:
		return fmt.Sprintf("both %+v and %v", applied, refused)
	case refused != nil:
		return refused.Code
	case applied != nil:
		return "applied"
	}
	return "run"
}
