package mutate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestNoRowIsStale finds rows that do not fit the tree anymore, without running them: the
// guard was rewritten, or its test has another name.
func TestNoRowIsStale(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Rows() {
		if names[r.Guard] {
			t.Errorf("two rows are called %q", r.Guard)
		}
		names[r.Guard] = true
		if err := r.Stale(root); err != nil {
			t.Errorf("%s: %v", r.Guard, err)
		}
	}
	if len(names) < 250 {
		t.Errorf("only %d guards have a row", len(names))
	}
}

// TestEveryGuardHasARow finds guards of a known form (a token check, a row lock, an
// advisory lock, a unique index, a horizon, an epoch) that no row takes out, and entries
// of spare guards that do not exist anymore.
func TestEveryGuardHasARow(t *testing.T) {
	var files []string
	for _, pattern := range []string{"schema/functions/*/*.sql", "schema/migrations/*.sql"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 300 {
		t.Fatalf("only %d files: nothing was tested", len(files))
	}
	for _, f := range files {
		name, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		bare, err := Uncovered(root, filepath.ToSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		if len(bare) > 0 {
			t.Errorf("a guard without a row in internal/mutate; add one, with the test that fails without the guard:\n  %s", strings.Join(bare, "\n  "))
		}
	}
	for file, guards := range spare {
		text, err := os.ReadFile(filepath.Join(root, file)) // #nosec G304 -- a file of the schema
		if err != nil {
			t.Fatal(err)
		}
		for guard, reason := range guards {
			if reason == "" || strings.Count(string(text), guard) != 1 {
				t.Errorf("%s: %q must stand there once, with the reason why it has no row", file, guard)
			}
		}
	}
}
