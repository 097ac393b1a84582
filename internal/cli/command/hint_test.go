package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

// Hints can be typed as they stand: with the program as it was called, and with
// the flags that lead to the same place.
func TestHint(t *testing.T) {
	e := &Env{Program: "bin/weir", Verbs: map[string]bool{}}
	for _, verb := range []string{"up", "task", "job", "login", "why"} {
		e.Verbs[verb] = true
	}
	root := &cobra.Command{Long: "Start it:\n  weir up --demo\n"}
	if e.HintHelp(root); root.Long != "Start it:\n  bin/weir up --demo\n" {
		t.Errorf("help says %q", root.Long)
	}
	e.remember("data", "my data")
	e.remember("output", "json")
	for text, want := range map[string]string{
		"start one with: weir up":            "start one with: bin/weir --data 'my data' up",
		"weir task list, or weir job list":   "bin/weir --data 'my data' task list, or bin/weir --data 'my data' job list",
		"log in with: weir login SERVER":     "log in with: bin/weir login SERVER",
		"a weir keeps a river at its level":  "a weir keeps a river at its level",
		"bin/weir task list stays":           "bin/weir task list stays",
		"(weir why 8057b302099a)":            "(bin/weir --data 'my data' why 8057b302099a)",
		"the configuration folder weir/task": "the configuration folder weir/task",
	} {
		if got := e.Hint(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCalledAs(t *testing.T) {
	found, elsewhere := filepath.Join(t.TempDir(), "weir"), filepath.Join(t.TempDir(), "weir")
	for _, path := range []string{found, elsewhere} {
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Dir(found))
	for arg, want := range map[string]string{found: "weir", elsewhere: elsewhere, "weir": "weir", "bin/weir": "bin/weir"} {
		if got := CalledAs(arg); got != want {
			t.Errorf("%s: got %s, want %s", arg, got, want)
		}
	}
}
