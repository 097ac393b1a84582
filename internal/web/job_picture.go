package web

import (
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/ui"
)

// drawn is the graph of a job as its picture takes it.
func drawn(v jobView, g view.Graph) picture.Graph {
	out := picture.Graph{
		Title: "Job " + jobName(v.Job), Edges: g.Edges, Tasks: make([]picture.Task, len(g.Nodes)), More: max(0, v.Total-len(g.Nodes)),
		GroupHref: func(service string) string { return queryPath(jobPath(v.ID)+"/tasks", "service", service) },
	}
	for i, n := range g.Nodes {
		t := picture.Task{Key: n.Key, Service: n.Service, State: picture.State(n.State), Gate: n.Gate, Attempt: n.Attempt, Href: taskPath(n.ID)}
		if n.Percent != nil {
			t.Percent = int(*n.Percent)
		}
		switch {
		case n.Worker != "" && n.State == "running":
			t.Note = "on " + n.Worker
		case !n.StartedAt.IsZero() && !n.FinishedAt.IsZero():
			t.Note = "took " + ui.Duration(n.FinishedAt.Sub(n.StartedAt))
		}
		out.Tasks[i] = t
	}
	return out
}

// timetable is when the tasks of a job waited and ran.
func timetable(v jobView, g view.Graph, spans []view.Span, now time.Time) picture.Timetable {
	out := picture.Timetable{Title: "Job " + jobName(v.Job), Rows: make([]picture.Row, len(g.Nodes)), Now: now, MoreHref: jobPath(v.ID) + "/tasks", Width: 1100}
	at := make(map[weir.ID]int, len(g.Nodes))
	for i, n := range g.Nodes {
		at[n.ID] = i
		out.Rows[i] = picture.Row{Name: named(n.Key, n.Service), Service: n.Service, State: picture.State(n.State), Href: taskPath(n.ID), Created: n.CreatedAt}
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
	for _, e := range g.Edges {
		out.Rows[e[1]].Needs = append(out.Rows[e[1]].Needs, e[0])
	}
	return out
}
