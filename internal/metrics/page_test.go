package metrics

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var rewrite = flag.Bool("rewrite", false, "write golden files again")

var docs = filepath.Join("..", "..", "docs")

const begin, end = "<!-- metrics: written by make gen -->\n", "<!-- end of metrics -->\n"

// The table of docs/monitoring.md is generated from the declarations.
func TestPageGolden(t *testing.T) {
	file := filepath.Join(docs, "monitoring.md")
	text := read(t, file)
	before, rest, found := strings.Cut(text, begin)
	table, after, found2 := strings.Cut(rest, end)
	if !found || !found2 {
		t.Fatalf("%s has no place for the table", file)
	}
	if *rewrite {
		table = page()
		if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if table != page() {
		t.Errorf("%s is out of date: run make gen", file)
	}
}

func TestDeclarationsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range declared {
		if seen[m.name] {
			t.Errorf("%s is declared twice", m.name)
		}
		seen[m.name] = true
		if !strings.HasPrefix(m.name, "weir_") || m.help == "" || strings.ContainsAny(m.help, "|\n") || strings.HasSuffix(m.help, ".") {
			t.Errorf("%s: %q", m.name, m.help)
		}
		if (m.word() == "counter") != strings.HasSuffix(m.name, "_total") {
			t.Errorf("%s is a %s", m.name, m.word())
		}
	}
}

// The dashboard uses only metrics that exist.
func TestTheDashboardKnowsItsMetrics(t *testing.T) {
	var board struct {
		UID           string
		SchemaVersion int
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
		Annotations struct{ List []struct{ Expr string } }
		Panels      []struct {
			ID          int
			Title, Type string
			Datasource  struct{ UID string }
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct {
				Expr       string
				Datasource struct{ UID string }
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(docs, "grafana", "weir.json"))), &board); err != nil {
		t.Fatal(err)
	}
	if board.UID != "weir" || board.SchemaVersion < 39 || board.Templating.List[0].Type != "datasource" {
		t.Errorf("%s, schema %d, variables %v", board.UID, board.SchemaVersion, board.Templating.List)
	}
	var exprs []string
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have id %d", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if was := taken[[2]int{x, y}]; was != "" {
					t.Fatalf("%s lies over %s", p.Title, was)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.GridPos.X+p.GridPos.W > 24 || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s: %+v, %d targets", p.Title, p.GridPos, len(p.Targets))
		}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" || p.Datasource.UID != "${datasource}" {
				t.Errorf("%s asks another source", p.Title)
			}
			exprs = append(exprs, target.Expr)
		}
	}
	for _, a := range board.Annotations.List {
		exprs = append(exprs, a.Expr)
	}
	used := map[string]bool{}
	for _, e := range exprs {
		for _, name := range judge(t, e) {
			used[name] = true
		}
		if !strings.Contains(e, `job=~"$job"`) {
			t.Errorf("%s mixes installations", e)
		}
	}
	for _, m := range declared {
		// weir_leader shows the leader; this metric is for alerts.
		if !used[m.name] && m.name != lockHeld.name {
			t.Errorf("the dashboard does not show %s", m.name)
		}
	}
}

// The alerts use only metrics that exist, and the guide says what to do.
func TestTheAlertsKnowTheirMetrics(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(docs, "grafana", "alerts.yaml"))), &file); err != nil {
		t.Fatal(err)
	}
	guide := read(t, filepath.Join(docs, "monitoring.md"))
	var names []string
	for _, r := range file.Groups[0].Rules {
		judge(t, r.Expr)
		if r.For == "" || !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) || r.Annotations["summary"] == "" {
			t.Errorf("%+v", r)
		}
		if !strings.Contains(guide, "| `"+r.Alert+"` |") {
			t.Errorf("the guide does not say what to do about %s", r.Alert)
		}
		names = append(names, r.Alert)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(Weir[A-Za-z]+)` \\|").FindAllStringSubmatch(guide, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("the guide speaks of %s, which is no alert", m[1])
		}
	}
}

func TestJudgeFindsWhatIsWrong(t *testing.T) {
	for _, bad := range []string{
		"weir_taskz", "sum(weir_tasks", `weir_tasks{gate="x"}`, "sum by (nothing) (weir_tasks)", "weir_http_request_duration_seconds",
		"rate(weir_tasks[5m])", "weir_lease_expiries_total > 1", "weir_tasks_bucket", "frobnicate(weir_tasks)",
	} {
		if len(faults(bad)) == 0 {
			t.Errorf("%s passes", bad)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
