package workspace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// What happens next, and when: the same as the clock will do.
func TestNext(t *testing.T) {
	t.Parallel()
	now := time.Now()
	running := workspace.Workspace{
		Phase: ladder.Running, Desired: ladder.Running, Operation: ladder.None, PhaseAt: now.Add(-time.Hour), LastAccess: now.Add(-3 * time.Minute), LastUse: "terminal",
		StandbyTTL: node.Span(10 * time.Minute), ArchiveTTL: node.Span(30 * time.Minute),
	}
	with := func(change func(*workspace.Workspace)) workspace.Workspace {
		w := running
		change(&w)
		return w
	}
	for name, c := range map[string]struct {
		w       workspace.Workspace
		unknown bool
		says    string
		because string
	}{
		"runs":             {running, false, "stops in 7m", "last: terminal"},
		"runs, late":       {with(func(w *workspace.Workspace) { w.LastAccess = now.Add(-time.Hour) }), false, "stops", "nobody uses it"},
		"busy":             {with(func(w *workspace.Workspace) { w.BusyUntil = new(now.Add(time.Hour)) }), false, "stops in 1h", "busy"},
		"busy no longer":   {with(func(w *workspace.Workspace) { w.BusyUntil = new(now.Add(time.Minute)) }), false, "stops in 7m", "last: terminal"},
		"runs too long":    {with(func(w *workspace.Workspace) { w.MaxLife = node.Span(61 * time.Minute) }), false, "ends in 1m", "in one piece"},
		"runs long enough": {with(func(w *workspace.Workspace) { w.MaxLife = node.Span(2 * time.Hour) }), false, "stops in 7m", "last"},
		"stands by": {with(func(w *workspace.Workspace) {
			w.Phase, w.Desired, w.PhaseAt = ladder.Standby, ladder.Standby, now.Add(-29*time.Minute)
		}), false, "archives in 1m", "stands by for 30m"},
		"is about to start": {with(func(w *workspace.Workspace) { w.Phase = ladder.Standby }), false, "", ""},
		"archived":          {with(func(w *workspace.Workspace) { w.Phase, w.Desired = ladder.Archived, ladder.Archived }), false, "", ""},
		"under way":         {with(func(w *workspace.Workspace) { w.Operation = ladder.Stopping }), false, "", ""},
		"waits to try again": {with(func(w *workspace.Workspace) {
			w.Operation, w.OpRetry, w.ErrorSays = ladder.Stopping, new(now.Add(4*time.Second)), "no"
		}), false, "retries in 4s", "STOPPING failed: no"},
		"cannot be seen": {running, true, "", ""},
		"deleted":        {with(func(w *workspace.Workspace) { w.DeletedAt = new(now) }), false, "", ""},
	} {
		n := c.w.Next(now, c.unknown)
		switch {
		case n == nil && c.says != "", n != nil && (n.Says != c.says || !strings.Contains(n.Because, c.because)):
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.create("one", ladder.Running)
	why := func() workspace.Why {
		t.Helper()
		y, err := d.store.Why(t.Context(), id)
		d.ok(err)
		return y
	}
	has := func(y workspace.Why, what, text string) {
		t.Helper()
		for _, p := range y.Parts {
			if p.What == what && strings.Contains(p.Text, text) {
				return
			}
		}
		t.Errorf("no part %s says %q: %+v", what, text, y.Parts)
	}
	if y := why(); !strings.HasPrefix(y.Summary, "Nobody has looked at it yet") || y.Next != nil {
		t.Errorf("%+v", y)
	} else {
		has(y, "wanted", "RUNNING is wanted by ann")
	}
	op := d.begin(id, ladder.Provisioning)
	d.exec(`select weir.workspace_progress($1, $2, 'making room')`, id, op)
	y := why()
	if !strings.HasPrefix(y.Summary, "PROVISIONING is under way since ") || !strings.HasSuffix(y.Summary, ": making room") {
		t.Errorf("%+v", y)
	}
	has(y, "operation", "making room")
	d.end(id, op, ladder.ActionFailed, "no space")
	if y = why(); y.Next == nil || y.Next.What != "retries" || !strings.HasPrefix(y.Summary, "PROVISIONING failed 1 of 3 times: no space") {
		t.Errorf("%+v", y)
	}
	d.see(id, ladder.Standby, 0)
	d.end(id, op, "", "")
	if y = why(); y.Summary != "It is STANDBY and will be RUNNING by ann" || y.In("ko", "") != "지금 상태: 대기, 될 상태: 실행 중 (요청: ann)" {
		t.Errorf("%+v", y)
	}
	d.through(id, ladder.Starting, ladder.Running, 1)
	if y = why(); !strings.HasPrefix(y.Summary, "It is RUNNING, as is wanted by ann. It stops in ") || y.Next.What != "stops" {
		t.Errorf("%+v", y)
	}
	d.exec(`select weir.workspace_unknown('{process}', 'it does not answer')`)
	if y = why(); !strings.HasPrefix(y.Summary, "It was RUNNING when it could last be seen") || y.Next != nil {
		t.Errorf("%+v", y)
	}
	has(y, "unknown", "it does not answer")
	d.exec(`select weir.workspace_unknown('{docker}', 'another does not answer')`)
	if y = why(); strings.Contains(y.Summary, "another") {
		t.Errorf("it is not about this one: %+v", y)
	}
	d.exec(`select weir.workspace_unknown()`)
	for reason, remedy := range map[ladder.Reason]string{ladder.DataLost: "recover one --fresh", ladder.ArchiveCorrupted: "recover one --fresh", ladder.ImagePullFailed: "image", ladder.ContainerWithoutVolume: "volume", ladder.Timeout: "recover one"} {
		d.end(id, d.begin(id, ladder.Stopping), reason, "it is broken")
		if y = why(); !strings.Contains(y.Summary, string(reason)+": it is broken") || !strings.Contains(y.Summary, remedy) || y.Next != nil {
			t.Errorf("%+v", y)
		}
		has(y, "error", "it is broken")
		_, err := d.store.Recover(t.Context(), id, "ann", "", false)
		d.ok(err)
		d.see(id, ladder.Running, 1)
	}
	d.want(id, ladder.Deleted)
	d.through(id, ladder.DeletingAll, ladder.Deleted)
	if y = why(); !strings.HasPrefix(y.Summary, "It is deleted") {
		t.Errorf("%+v", y)
	}
}
