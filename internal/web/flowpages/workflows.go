package flowpages

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workflow"
)

// workflowsView is a list of workflows.
type workflowsView struct {
	rows []workflow.Workflow
	// last are the newest jobs by id, schedules how many a workflow has by name.
	last          map[weir.ID]view.Job
	schedules     map[string]int
	newest, older string
}

// flowEvents are those that change the pages of workflows.
func flowEvents() *timeline.Filter {
	return &timeline.Filter{Kinds: []string{"workflow", "job", "schedule", "trigger"}}
}

func (w *pages) workflows(r *site.Request) (site.View, error) {
	ctx := r.Context()
	if w.Workflows == nil {
		return site.View{Head: ui.Head{Title: ui.Say(ctx, "word.workflows")}, Body: ui.Empty("workflow", ui.Say(ctx, "workflows.off"), ui.Say(ctx, "workflows.off.text")), Still: true}, nil
	}
	rows, err := w.Workflows.Workflows(r.Context(), site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	var v workflowsView
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(f workflow.Workflow) string { return f.Name })
	if v.last, err = w.lastJobs(r.Context(), v.rows); err != nil {
		return site.View{}, err
	}
	if v.schedules, err = w.scheduleCounts(r.Context(), v.rows); err != nil {
		return site.View{}, err
	}
	head := ui.Head{Title: ui.Say(ctx, "word.workflows")}
	if r.Can(auth.Manage, "workflow") {
		head.Actions = ui.ButtonLink(ui.Say(ctx, "word.newworkflow"), "plus", "/new-workflow", false)
	}
	return site.View{Head: head, Body: workflowsPage(v), Follow: flowEvents()}, nil
}

// lastJobs are the newest jobs of workflows. A page has few of them.
func (w *pages) lastJobs(ctx context.Context, rows []workflow.Workflow) (map[weir.ID]view.Job, error) {
	out := map[weir.ID]view.Job{}
	for _, f := range rows {
		if f.LastJob.IsZero() {
			continue
		}
		j, err := w.Store.Job(ctx, f.LastJob)
		if err != nil {
			if site.Gone(err) {
				continue // retention took it meanwhile
			}
			return nil, err
		}
		out[j.ID] = j
	}
	return out, nil
}

func (w *pages) scheduleCounts(ctx context.Context, rows []workflow.Workflow) (map[string]int, error) {
	names := make([]string, len(rows))
	for i, f := range rows {
		names[i] = f.Name
	}
	found, err := w.Store.SchedulesOf(ctx, names)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, s := range found {
		out[s.Workflow]++
	}
	return out, nil
}
