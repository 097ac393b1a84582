package workpages

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/picture"
)

// The life of a task: an attempt that has ended looks like what came of it.
func TestLife(t *testing.T) {
	from := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	told := func(v taskView, types ...string) string {
		for i, kind := range types {
			v.events = append(v.events, view.Event{Type: kind, At: from.Add(time.Duration(i) * time.Second), Attempt: 1, Worker: "w", Source: "ada"})
		}
		var out []string
		for _, s := range life(t.Context(), v, from.Add(time.Hour)).Spans {
			out = append(out, string(s.State)+" "+s.Note)
		}
		return strings.Join(out, ", ")
	}
	of := func(state weir.State, gate weir.Gate) taskView {
		return taskView{Task: view.Task{State: state, Gate: gate, CreatedAt: from}}
	}
	for _, c := range []struct{ got, want string }{
		{told(of("done", ""), "submitted", "claimed", "progress", "done"), "available , done attempt 1 on w"},
		{told(of("pending", "time"), "gated", "opened", "claimed", "retrying"), "pending , available , retrying attempt 1 on w, pending at the gate time"},
		{told(of("running", ""), "submitted", "claimed", "expired", "claimed"), "available , expired attempt 1 on w, available , running attempt 1 on w"},
		{told(of("pending", "hold"), "submitted", "held"), "available , pending at the gate hold"},
		{told(of("canceled", ""), "gated", "canceled"), "pending "},
		{told(of("failed", "")), "pending "},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if l := life(t.Context(), of("pending", "pool"), from); len(l.Spans) != 1 || l.Spans[0].State != picture.Pending {
		t.Errorf("%+v", l)
	}
}

// The colours of one event do not reach into the next.
func TestLogText(t *testing.T) {
	text := logText([]view.Event{
		{Type: "claimed", Message: "not said"}, {Type: "progress", Level: "info", Message: "\x1b[31mred\nand more"}, {Type: "retrying", Level: "warn", Message: "boom"}, {Type: "note"},
	})
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[2], "\x1b[0m") || !strings.HasSuffix(lines[2], "boom") || strings.Contains(text, "not said") {
		t.Errorf("%q", text)
	}
}
