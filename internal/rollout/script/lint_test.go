package script_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

// TestLintGolden keeps what a person reads before a change runs.
func TestLintGolden(t *testing.T) {
	stats := script.Stats{"public.big": 1_200_000, "big": 1_200_000, "small": 20}
	for _, engine := range []script.Engine{script.Postgres, script.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			var out strings.Builder
			for _, file := range inputs(t, "testdata/lint/"+string(engine)+"/*.sql", 6) {
				c, err := script.Read(filepath.Base(file), []byte(readFile(t, file)))
				if err != nil {
					t.Fatal(err)
				}
				warnings, err := script.Lint(engine, c, stats)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				fmt.Fprintf(&out, "=== %s\n", filepath.Base(file))
				for _, w := range warnings {
					if w.What == "" || w.Why == "" || w.Instead == "" || w.Severity != script.Danger && w.Severity != script.Caution {
						t.Errorf("%s: %+v", file, w)
					}
					fmt.Fprintf(&out, "%d #%d %s %s: %s\n    %s\n    Instead: %s\n", w.Line, w.Statement, w.Severity, w.Code, w.What, w.Why, w.Instead)
				}
			}
			compareGolden(t, "testdata/lint-"+string(engine)+".golden", out.String())
		})
	}
}

// TestLintWithoutStats: a table that nobody counted may be large.
func TestLintWithoutStats(t *testing.T) {
	c := script.Change{SQL: "alter table small alter column x set not null;", Transaction: true}
	for _, stats := range []script.Stats{nil, {"other": 5}, {"small": -1}} {
		warnings, err := script.Lint(script.Postgres, c, stats)
		if err != nil || len(warnings) != 1 || warnings[0].Severity != script.Danger {
			t.Errorf("%v: %+v, %v", stats, warnings, err)
		}
	}
}
