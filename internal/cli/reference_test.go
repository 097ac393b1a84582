package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/cli/command"
)

var rewrite = flag.Bool("rewrite", false, "write golden files again")

// The reference is written from the commands, so it is never out of date.
func TestReferenceGolden(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "reference", "cli.md")
	got := reference(root((&command.Env{})))
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date: run make gen", page)
	}
}
