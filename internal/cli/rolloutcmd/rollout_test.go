package rolloutcmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

// A board has a line per stage and per database, fits the width, and drops first
// what is done.
func TestDrawRollout(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	began := now.Add(-12 * time.Second)
	p := rolloutPage{Rollout: rollout.Rollout{Name: "orders", State: "running", StartedAt: &began, Waits: "stage prod waits for approval", Counts: rollout.Counts{Total: 8, Done: 3, Running: 1}}}
	p.Stages = []rollout.StageState{{Name: "test", State: "running", Counts: rollout.Counts{Total: 4, Done: 3}}, {Name: "prod", State: "waiting", Waits: "1 approval", Counts: rollout.Counts{Total: 4}}}
	add := func(stage, database, version, status, cause string) {
		p.Tasks = append(p.Tasks, rollout.Task{ID: weir.ID{byte(len(p.Tasks) + 1)}, Stage: stage, Database: database, Version: version, Status: status, Cause: cause, StartedAt: &began})
	}
	add("test", "a", "1", rollout.Done, "")
	add("test", "a", "2", rollout.Done, "")
	add("test", "b", "1", rollout.Done, "")
	add("test", "b", "2", rollout.Running, "")
	add("prod", "c", "1", rollout.Failed, "syntax error\x1b[31m")
	add("prod", "c", "2", rollout.Pending, "waits for 1")
	for i := range 5 {
		add("prod", fmt.Sprintf("d%d", i), "1", rollout.NotStarted, "waits for stage test")
	}
	o := &command.Output{Now: now, Width: 60}
	lines := drawRollout(o, p, 40)
	for n, line := range lines {
		if command.Cells(line) > o.Width {
			t.Errorf("line %d has %d cells: %s", n, command.Cells(line), line)
		}
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{"orders  running  3/8  12s", "stage prod waits for approval", "  test  running  3/4", "    b   ✓●  2 RUNNING 12s", "    c   ✗○  1 FAILED: syntax error\n", "    d4  ·   1 NOT_STARTED"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	small := strings.Join(drawRollout(o, p, 9), "\n")
	if !strings.Contains(small, "1 FAILED") || !strings.Contains(small, "2 RUNNING") || strings.Contains(small, "2 DONE") || !strings.Contains(small, "… and ") {
		t.Errorf("the small board:\n%s", small)
	}
}
