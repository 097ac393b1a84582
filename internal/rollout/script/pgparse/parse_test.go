package pgparse_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script/pgparse"
)

func TestTree(t *testing.T) {
	tree, err := pgparse.JSON("select 1; alter table t add column c int")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SelectStmt", "AlterTableStmt", "AT_AddColumn"} {
		if !strings.Contains(tree, want) {
			t.Errorf("%s is not in %s", want, tree)
		}
	}
}

// TestRefusal: a refused text is told apart with its place, and many of them
// leave the instance as it was.
func TestRefusal(t *testing.T) {
	for range 200 {
		_, err := pgparse.JSON("select\n  from from")
		var refused *pgparse.Refusal
		if !errors.As(err, &refused) {
			t.Fatalf("%v is no refusal", err)
		}
		if want := `syntax error at or near "from"`; refused.Message != want || refused.Cursorpos != 15 {
			t.Fatalf("%q at %d, want %q at 15", refused.Message, refused.Cursorpos, want)
		}
	}
}

// TestTrapSpoilsNothing: a text that overflows the parser's stack does not take
// later ones with it. The splitter refuses such texts before; this is for the
// one that nobody thought of.
func TestTrapSpoilsNothing(t *testing.T) {
	_, err := pgparse.JSON("select " + strings.Repeat("(select ", 300) + "1" + strings.Repeat(")", 300))
	if !errors.Is(err, pgparse.ErrTooDeep) {
		t.Fatalf("the stack held it (%v): look whether maxDepth of the splitter can be more", err)
	}
	if _, err := pgparse.JSON("select 1"); err != nil {
		t.Error(err)
	}
}

// TestCache: the machine code is kept in the user's cache, and not where others
// could put theirs.
func TestCache(t *testing.T) {
	// A program of its own, without the race detector: with it the machine code
	// takes ten times as long to make, and here that is done three times.
	program := filepath.Join(t.TempDir(), "once")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/once").CombinedOutput(); err != nil { // #nosec G204 -- ours
		t.Fatalf("%v: %s", err, out)
	}
	other := func(cache string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program) // #nosec G204 -- built above
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	entries := func(cache string) (n int) {
		_ = filepath.WalkDir(filepath.Join(cache, "weir"), func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return nil
		})
		return n
	}
	own := t.TempDir()
	other(own)
	kept := entries(own)
	if kept == 0 {
		t.Error("nothing was kept")
	}
	other(own)
	if n := entries(own); n != kept {
		t.Errorf("%d files were kept, and %d after a second process", kept, n)
	}
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil { // #nosec G302 -- what is not allowed
		t.Fatal(err)
	}
	other(shared)
	if n := entries(shared); n != 0 {
		t.Errorf("%d files were kept where everybody may write", n)
	}
	other("/dev/null/none") // no folder at all
}
