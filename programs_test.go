package weir_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

// The example programs run, and say what their readers are told they say.
func TestExamplePrograms(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "they have pools of their own, which prepare statements")
	said := map[string]string{
		"go-queue":    `done after attempt 2: "sent to user3@example.org"`,
		"go-workflow": "failed: 3 done, 1 failed, 1 skipped (test: 2 of 90 tests failed)",
		"go-outbox":   "refused, nothing written: an order needs an item",
		"go-trace":    "process order.ship weir.attempt=2 weir.outcome=done\n      ask the carrier",
	}
	dirs, err := filepath.Glob("examples/go-*")
	if err != nil || len(dirs) != len(said) {
		t.Fatalf("%d examples, %v", len(dirs), err)
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./examples/go-queue", "./examples/go-workflow", "./examples/go-outbox", "./examples/go-trace").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range said {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
			defer cancel()
			command := exec.CommandContext(ctx, filepath.Join(bin, name))
			command.Env = append(os.Environ(), "WEIR_DATABASE_URL="+w.URL)
			out, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
