package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/scenario"
	"github.com/weirhq/weir/bench/internal/server"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-only", "held", "-json", "x.json", "-database-url", "postgres://h/d"}, environment("BENCH_SCALE", "0.5"))
	if err != nil {
		t.Fatal(err)
	}
	if o.scale != 0.5 || o.json != "x.json" || o.databaseURL != "postgres://h/d" {
		t.Errorf("options = %+v", o)
	}
	if len(o.scenarios) != 1 || o.scenarios[0].Names[0] != "queue100" {
		t.Errorf("held runs with %v, want queue100", o.scenarios)
	}
	o, err = parse(nil, environment())
	if err != nil || o.scale != 1 || len(o.scenarios) != len(scenario.All)-1 {
		t.Errorf("defaults = %+v, %v", o, err)
	}
	for _, s := range o.scenarios {
		if s.Long {
			t.Errorf("%v runs though nobody asked for it", s.Names)
		}
	}
	o, err = parse([]string{"-quick"}, environment())
	if err != nil || len(o.scenarios) != 1 || o.scenarios[0].Names[0] != "queue2000" {
		t.Errorf("quick = %+v, %v", o, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  []string
		want string
	}{
		"scale":    {nil, []string{"BENCH_SCALE", "big"}, "BENCH_SCALE"},
		"zero":     {nil, []string{"BENCH_SCALE", "0"}, "BENCH_SCALE"},
		"nan":      {nil, []string{"BENCH_SCALE", "NaN"}, "BENCH_SCALE"},
		"scenario": {[]string{"-only", "nothing"}, nil, "queue2000"},
		"argument": {[]string{"quick"}, nil, "flags only"},
	} {
		if _, err := parse(c.args, environment(c.env...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want one with %q", name, err, c.want)
		}
	}
}

// This runs everything at a tiny size: every system is set up, worked, counted in the
// database and reported. The figures are meaningless, but they must be present.
func TestRunSmall(t *testing.T) {
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
	for _, c := range []struct {
		scenario string
		figures  []string
	}{
		{"queue2000", []string{"queue2000.river.jobs_per_s", "queue2000.river.wal_per_job"}},
		{"held", []string{"queue100.river.jobs_per_s", "held.river.jobs_per_s", "held.river.loss"}},
		{"history", []string{"history.river.empty_claim_us", "history.river.full_claim_us"}},
		{"fleets", []string{"fleets.weir.fill_s", "turns.weir.busy_claims_per_s", "turns.weir.paced_busy_next_p99_ms", "rest.weir.pass_ms", "rest.weir.pass_rows_written", "rest.weir.report_ms"}},
		{"floor", []string{"floor.floor.jobs_per_s", "floor.floor.insert_per_s"}},
		{"pages", []string{"pages.weir.worst_p95_ms", "pages.weir.fill_s", "served.weir.worst_p95_ms", "served.weir.pages"}},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bench.json")
			var out bytes.Buffer
			args := []string{"-only", c.scenario, "-json", path, "-database-url", srv.URL("")}
			scale := "0.005"
			if c.scenario == "pages" {
				scale = "0.001" // the least that it writes: a thousand jobs
			}
			if err := run(t.Context(), args, environment("BENCH_SCALE", scale), &out); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, "queue: weir/river jobs_per_s=") || !strings.HasSuffix(last, " at 2000 workers") {
				t.Errorf("last line = %q", last)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var found report.Report
			if err := json.Unmarshal(text, &found); err != nil {
				t.Fatal(err)
			}
			for _, name := range c.figures {
				if math.IsNaN(found.Value(name)) {
					t.Errorf("figure %s is missing", name)
				}
			}
			if found.Environment.Settings["fsync"] != "on" || found.Environment.Systems["river"] == "" {
				t.Errorf("environment = %+v", found.Environment)
			}
		})
	}
}

func TestServerWithoutDurabilityIsRefused(t *testing.T) {
	srv, err := server.Open(t.Context(), "")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, nothing was tested: no PostgreSQL: %v", err)
	}
	defer srv.Close(t.Context())
	_, err = server.Open(t.Context(), srv.URL("")+"&synchronous_commit=off")
	if err == nil || !strings.Contains(err.Error(), "synchronous_commit") {
		t.Errorf("error = %v, want one that names synchronous_commit", err)
	}
}
