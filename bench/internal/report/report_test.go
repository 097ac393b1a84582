package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHeadline(t *testing.T) {
	r := New(Environment{})
	r.Figure("queue2000.weir.jobs_per_s", 42_000)
	r.Figure("queue2000.river.jobs_per_s", 12_000)
	r.Figure("queue2000.weir.wal_per_job", 960)
	r.Figure("queue2000.river.wal_per_job", 2_740)
	r.Finish()
	const want = "queue: weir/river jobs_per_s=3.50 wal_per_job=0.35 at 2000 workers"
	if r.Headline != want {
		t.Errorf("headline = %q, want %q", r.Headline, want)
	}
}

func TestHeadlineWithoutOneSystem(t *testing.T) {
	r := New(Environment{})
	r.Figure("queue2000.river.jobs_per_s", 12_000)
	r.Finish()
	const want = "queue: weir/river jobs_per_s=n/a wal_per_job=n/a at 2000 workers"
	if r.Headline != want {
		t.Errorf("headline = %q, want %q", r.Headline, want)
	}
}

func TestMissingFigureIsAbsent(t *testing.T) {
	r := New(Environment{})
	r.Figure("a", math.NaN())
	r.Figure("b", math.Inf(1))
	if len(r.Figures) != 0 {
		t.Errorf("figures = %v, want none", r.Figures)
	}
}

func TestJSONHoldsEverything(t *testing.T) {
	r := New(Environment{Cores: 2, Settings: map[string]string{"fsync": "on"}})
	r.Figure("queue2000.river.jobs_per_s", 1)
	r.Sections = append(r.Sections, Section{Scenario: "queue2000", Title: "t"})
	r.Finish()
	path := filepath.Join(t.TempDir(), "out.json")
	if err := r.WriteJSON(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Value("queue2000.river.jobs_per_s") != 1 || back.Environment.Cores != 2 ||
		len(back.Goals) != len(goals) || back.Headline != r.Headline || len(back.Sections) != 1 {
		t.Errorf("report did not survive: %s", text)
	}
}

func TestWriteJSONSaysWhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "such", "folder", "x.json")
	if err := New(Environment{}).WriteJSON(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error = %v, want one that names %s", err, path)
	}
}

func TestEnvironmentPrint(t *testing.T) {
	var b bytes.Buffer
	Environment{Cores: 2, Postgres: "15.1", Settings: map[string]string{"fsync": "on", "autovacuum": "on"}, Systems: map[string]string{"river": "v1"}}.Print(&b)
	for _, want := range []string{"2 cores", "PostgreSQL 15.1", "autovacuum=on fsync=on", "river: v1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, b.String())
		}
	}
}

func TestParseLoad(t *testing.T) {
	for in, want := range map[string]string{
		"0.17 0.06 0.01 1/234 5678\n": "0.17 0.06 0.01",
		"1.0":                         "1.0",
		"":                            "",
	} {
		if got := parseLoad(in); got != want {
			t.Errorf("parseLoad(%q) = %q, want %q", in, got, want)
		}
	}
}
