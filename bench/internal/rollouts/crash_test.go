package rollouts

import (
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/bench/internal/server"
)

// TestMain is also the main function of every victim.
func TestMain(m *testing.M) {
	Child()
	os.Exit(m.Run())
}

// The table of crashes is meaningful only if each tool was killed at the point that the
// table names, which is checked by what it leaves behind.
func TestCrash(t *testing.T) {
	srv, err := server.Open(t.Context(), "")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, nothing was tested: no PostgreSQL: %v", err)
	}
	defer func() {
		if err := srv.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for i, c := range []struct{ tool, point, left, after string }{
		{Goose, Points[0], "0 version rows, change not there", "version row, change there 1×"},
		{Migrate, Points[1], "version row, dirty, change there 1×", "version row, dirty, change there 1×"},
		{Target, Points[1], "0 version rows, change not there", "version row, change there 1×"},
		{Target, Points[2], "version row, change there 1×", "version row, change there 1×"},
		{Target, Points[4], "0 version rows, INVALID index", "version row, valid index"},
	} {
		name := "crash_" + string(rune('a'+i))
		if err := srv.CreateDatabase(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		got, err := Crash(t.Context(), c.tool, c.point, srv.URL(name))
		if err != nil {
			t.Fatal(err)
		}
		if got.Left != c.left || got.After != c.after {
			t.Errorf("%s, %s: left %q, after %q (%s)", c.tool, c.point, got.Left, got.After, got.Again)
		}
		if c.tool == Migrate != strings.HasPrefix(got.Again, "Dirty") {
			t.Errorf("%s, %s: run again: %s", c.tool, c.point, got.Again)
		}
	}
}
