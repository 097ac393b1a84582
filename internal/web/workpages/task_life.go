package workpages

import (
	"context"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// leadsTo says in which state an event leaves a task. Those that end it lead
// nowhere.
var leadsTo = map[string]picture.State{
	"submitted": picture.Available, "gated": picture.Pending, "opened": picture.Available, "held": picture.Pending, "claimed": picture.Running,
	"retrying": picture.Pending, "snoozed": picture.Pending, "expired": picture.Available, "returned": picture.Available, "retried": picture.Pending,
	"done": "", "failed": "", "canceled": "", "skipped": "",
}

// life is the states that a task went through. An attempt that has ended looks
// like what came of it.
func life(ctx context.Context, v taskView, now time.Time) picture.Life {
	out := picture.Life{Title: ui.Say(ctx, "task.lifeof", site.TaskName(v.Task)), Now: now, Width: 860}
	for _, e := range v.events {
		state, ok := leadsTo[e.Type]
		if !ok {
			continue
		}
		if n := len(out.Spans); n > 0 {
			last := &out.Spans[n-1]
			if last.To.IsZero() {
				last.To = e.At
			}
			if last.State == picture.Running {
				last.State = picture.State(e.Type)
			}
			if last.State == state && e.Type == "held" {
				last.Note = ui.Say(ctx, "glance.held", e.Source)
			}
		}
		if state != "" {
			out.Spans = append(out.Spans, picture.Span{State: state, Note: lifeNote(ctx, e), From: e.At})
		}
	}
	if len(out.Spans) == 0 {
		out.Spans = bareLife(v.Task)
	}
	if n := len(out.Spans); !v.ended() && v.Gate != "" && out.Spans[n-1].State == picture.Pending {
		out.Spans[n-1].Note = ui.Say(ctx, "life.gate", ui.Code(ctx, "gate.", v.Gate))
	}
	return out
}

func lifeNote(ctx context.Context, e view.Event) string {
	switch e.Type {
	case "claimed":
		return ui.Say(ctx, "life.attempt", e.Attempt, e.Worker)
	case "retrying":
		return ui.Say(ctx, "life.after", e.Attempt)
	case "held":
		return ui.Say(ctx, "glance.held", e.Source)
	}
	return ""
}

// bareLife is made of the times of the task itself, where its history is no
// longer kept.
func bareLife(t view.Task) []picture.Span {
	spans := []picture.Span{{State: picture.Pending, From: t.CreatedAt, To: t.StartedAt}}
	if !t.StartedAt.IsZero() {
		spans = append(spans, picture.Span{State: picture.State(t.State), From: t.StartedAt, To: t.FinishedAt})
	} else if !t.FinishedAt.IsZero() {
		spans[0].To = t.FinishedAt
	}
	return spans
}

// traceID is the id of a trace out of a traceparent; any other text is shown as
// it is.
func traceID(parent string) string {
	if parts := strings.Split(parent, "-"); len(parts) == 4 && len(parts[1]) == 32 {
		return parts[1]
	}
	return parent
}

// lines is a text of several lines without control characters.
func lines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, ui.Line(strings.TrimRight(line, "\r\n")))
	}
	return strings.Join(out, "\n")
}
