package rolloutcmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

// Wherever an UNKNOWN run is shown, the way to resolve it stands beside it; and a run
// that goes on does not show the code of the attempt before it.
func TestUnknownNamesItsResolution(t *testing.T) {
	task := rollout.Task{ID: weir.ID{15: 7}, Key: "prod/a/1", Stage: "prod", Database: "a", Version: "1", Status: rollout.Unknown, Code: "connection_lost", Cause: "the connection broke"}
	p := rolloutPage{Rollout: rollout.Rollout{Name: "orders", State: rollout.StateFailed, Waits: "waits for a decision", Counts: rollout.Counts{Total: 1, Unknown: 1}, Stages: []rollout.StageState{{Name: "prod"}}}, Tasks: []rollout.Task{task}}
	var out bytes.Buffer
	o := &command.Output{Streams: command.Streams{Out: &out, Err: &out}, Format: "table", Width: 200, Now: time.Now(), Hint: func(s string) string { return s }}
	want := "weir rollout resolve " + command.Short(task.ID)
	if err := printMove(o, task); err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("watch: %v\n%s", err, out.String())
	}
	out.Reset()
	if sayUnknown(o, p); !strings.Contains(out.String(), want+" --applied") || !strings.Contains(out.String(), "1 run is of UNKNOWN outcome") {
		t.Errorf("show:\n%s", out.String())
	}
	if board := strings.Join(drawRollout(o, p, 20), "\n"); !strings.Contains(board, want) {
		t.Errorf("board:\n%s", board)
	}
	out.Reset()
	if err := rolloutListing.Print(o, []rollout.Rollout{p.Rollout}); err != nil || !strings.Contains(out.String(), "UNKNOWN") || !strings.Contains(out.String(), "--status unknown") {
		t.Errorf("list: %v\n%s", err, out.String())
	}
	running := task
	running.Status, running.Code, running.Cause = rollout.Running, "drift", ""
	out.Reset()
	if err := printMove(o, running); err != nil || strings.Contains(out.String(), "drift") {
		t.Errorf("running: %v\n%s", err, out.String())
	}
}
