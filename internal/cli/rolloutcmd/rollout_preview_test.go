package rolloutcmd

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

// A plan over a hundred databases fits on a screen: what is the same for many is said
// once, with how many they are and how large.
func TestPreviewOfManyDatabases(t *testing.T) {
	general := rollout.PlanWarning{Change: "2", Line: 1, Code: "index_not_concurrent", What: "builds an index on orders", Why: "Writes wait.", Instead: "say CONCURRENTLY", Severity: "danger"}
	again := general
	again.Line = 2
	v := rollout.Preview{Changes: []rollout.PreviewChange{
		{Version: "1", Name: "orders", Kind: "ddl", Engine: "postgres", Warnings: []rollout.PlanWarning{{Change: "1", Code: "drop", What: "drops old", Severity: "danger"}}},
		{Version: "2", Name: "index", Kind: "ddl", Engine: "postgres", Warnings: []rollout.PlanWarning{general, again}},
	}}
	stage := rollout.PreviewStage{Stage: rollout.Stage{Name: "prod", Canary: 1}}
	for i := range 100 {
		own := general
		own.What += fmt.Sprintf(" (about %d,000 rows)", 301+i)
		name := fmt.Sprintf("db%03d", i)
		first := rollout.PreviewTask{Database: name, Version: "1", Change: 0, Canary: i == 0, Skip: "applied"}
		second := rollout.PreviewTask{Database: name, Version: "2", Change: 1, Canary: i == 0, Warnings: []rollout.PlanWarning{own}}
		if i > 94 {
			second.Problem, second.Warnings = "no connection", nil
		}
		stage.Tasks = append(stage.Tasks, first, second)
	}
	v.Stages = []rollout.PreviewStage{stage}
	var out bytes.Buffer
	o := &command.Output{Streams: command.Streams{Out: &out, Err: io.Discard}, Format: "table", Width: 80}
	printStages(o, v)
	printChanges(o, v)
	got := out.String()
	want := `Stage prod (1 canary first)
  db000 (canary): 2; 1 applied already
  db001, db002, db003 and 96 more: 2; 1 applied already
    would fail on db095, db096, db097 and 2 more: 2: no connection

Change 1  orders, ddl, postgres: 0 statements, 0 steps

Change 2  index, ddl, postgres: 0 statements, 0 steps
  danger change 2 line 1: builds an index on orders, on 95 databases, up to 395,000 rows (index_not_concurrent)
    why: Writes wait.
    instead: say CONCURRENTLY
  danger change 2 line 2: builds an index on orders, on 95 databases (index_not_concurrent)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := strings.Count(got, "\n"); n > 24 {
		t.Errorf("%d lines", n)
	}
}

// Where all tables are small, the warning is no danger.
func TestPreviewOfSmallTables(t *testing.T) {
	general := rollout.PlanWarning{Code: "x", What: "does it", Severity: "danger"}
	small := general
	small.What, small.Severity = "does it (about 20 rows)", "warning"
	v := rollout.Preview{Changes: []rollout.PreviewChange{{Warnings: []rollout.PlanWarning{general}}}, Stages: []rollout.PreviewStage{{Tasks: []rollout.PreviewTask{
		{Database: "a", Warnings: []rollout.PlanWarning{small}}, {Database: "b"},
	}}}}
	if got := sized(v, 0); len(got) != 1 || got[0].Severity != "danger" || got[0].where != ", on 2 databases, up to 20 rows" {
		t.Errorf("one that nobody counted: %+v", got)
	}
	v.Stages[0].Tasks = v.Stages[0].Tasks[:1]
	if got := sized(v, 0); len(got) != 1 || got[0].Severity != "warning" || got[0].where != ", on 1 database, about 20 rows" {
		t.Errorf("a small one: %+v", got)
	}
}
