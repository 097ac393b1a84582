package workpages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// drawn is the graph of a job as its picture takes it.
func drawn(ctx context.Context, v jobView, g view.Graph, folded map[weir.ID]*fold) picture.Graph {
	out := picture.Graph{
		Title: ui.Say(ctx, "job.titled", site.JobName(v.Job)), Edges: g.Edges, Tasks: make([]picture.Task, len(g.Nodes)), More: max(0, v.Total-len(g.Nodes)),
		GroupHref: func(service string) string { return site.QueryPath(site.JobPath(v.ID)+"/tasks", "service", service) },
	}
	for i, n := range g.Nodes {
		t := picture.Task{Key: n.Key, Service: n.Service, State: picture.State(n.State), Gate: string(n.Gate), Attempt: n.Attempt, Href: site.TaskPath(n.ID)}
		if n.Percent != nil {
			t.Percent = int(*n.Percent)
		}
		c, split := v.child[n.ID]
		if split && n.State == "pending" && !c.Ended() && c.State != "queued" {
			// The step waits for its job: to a person it runs, and so far.
			t.State, t.Gate, t.Percent = "running", "", int(c.Progress*100)
		}
		m := folded[n.ID]
		if m != nil {
			t.Key, t.Href = fmt.Sprintf("%s ×%d", n.Key, m.n), site.QueryPath(site.JobPath(v.ID)+"/tasks", "items", n.Key)
			if n.State == "pending" && m.ended() > 0 || m.states["running"] > 0 {
				t.State, t.Gate, t.Percent = "running", "", 100*m.ended()/m.n
			}
		}
		switch {
		case m != nil:
			t.Note = m.words(ctx)
		case split:
			t.Note = ui.Say(ctx, "job.child", ui.Short(c.ID.String()), ui.Say(ctx, "is."+c.State), c.Done+c.Failed+c.Canceled+c.Skipped, c.Total)
		case n.Worker != "" && n.State == "running":
			t.Note = ui.Say(ctx, "glance.on", n.Worker)
		case !n.StartedAt.IsZero() && !n.FinishedAt.IsZero():
			t.Note = ui.Say(ctx, "job.took", ui.Duration(ctx, n.FinishedAt.Sub(n.StartedAt)))
		}
		out.Tasks[i] = t
	}
	return out
}

// timetable is when the tasks of a job waited and ran.
func timetable(ctx context.Context, v jobView, g view.Graph, spans []view.Span, now time.Time) picture.Timetable {
	out := picture.Timetable{Title: ui.Say(ctx, "job.titled", site.JobName(v.Job)), Rows: make([]picture.Row, len(g.Nodes)), Now: now, MoreHref: site.JobPath(v.ID) + "/tasks", Width: 1100}
	at := make(map[weir.ID]int, len(g.Nodes))
	for i, n := range g.Nodes {
		at[n.ID] = i
		out.Rows[i] = picture.Row{Name: site.Named(n.Key, n.Service), Service: n.Service, State: picture.State(n.State), Href: site.TaskPath(n.ID), Created: n.CreatedAt}
	}
	for _, c := range slices.Backward(v.children) {
		if i, ok := at[c.Parent]; ok {
			out.Rows[i].Bars = append(out.Rows[i].Bars, picture.Bar{Attempt: len(out.Rows[i].Bars) + 1, Outcome: picture.State(c.State), From: c.CreatedAt, To: c.FinishedAt})
		}
	}
	for _, s := range spans {
		i, ok := at[s.Task]
		if !ok {
			continue
		}
		bar := picture.Bar{Attempt: s.Attempt, Outcome: picture.State(s.Outcome), From: s.From, To: s.To}
		if s.To.IsZero() {
			bar.Worker = g.Nodes[i].Worker
		}
		out.Rows[i].Bars = append(out.Rows[i].Bars, bar)
	}
	spanMaps(g, out.Rows)
	for _, e := range g.Edges {
		out.Rows[e[1]].Needs = append(out.Rows[e[1]].Needs, e[0])
	}
	return out
}

// stepJob is a job that a step stands for.
type stepJob struct {
	view.Job
	step string
}

// childrenShownOf is how many jobs of steps the graph lists below it.
const childrenShownOf = 10

// childrenOf are the jobs of steps, those that go on first.
func childrenOf(v jobView, g view.Graph) []stepJob {
	names := make(map[weir.ID]string, len(g.Nodes))
	for _, n := range g.Nodes {
		names[n.ID] = site.Named(n.Key, n.Service)
	}
	var out []stepJob
	for _, c := range v.children {
		out = append(out, stepJob{c, names[c.Parent]})
	}
	slices.SortStableFunc(out, func(a, b stepJob) int { return rank(a.State) - rank(b.State) })
	return out[:min(len(out), childrenShownOf)]
}

// rank puts first what a person looks for.
func rank(state string) int {
	order := []string{"failed", "canceling", "running", "queued"}
	if i := slices.Index(order, state); i >= 0 {
		return i
	}
	return len(order)
}
