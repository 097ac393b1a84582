package workpages

import (
	"context"
	"net/url"

	"github.com/a-h/templ"
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// jobsView is a list of jobs.
type jobsView struct {
	filter        view.JobFilter
	since         string
	jobs          []view.Job
	bulk          bulkBar
	newest, older string
}

// narrow says that a filter is set.
func (v jobsView) narrow() bool { return v.filter != view.JobFilter{} }

func (w *pages) jobs(r *site.Request) (site.View, error) {
	ctx := r.Context()
	f, err := jobFilter(r)
	if err != nil {
		return site.View{}, err
	}
	v, err := w.jobList(r, f, nil)
	if err != nil {
		return site.View{}, err
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.jobs"), Actions: runButton(r)}, Body: jobsPage(v),
		Follow: &timeline.Filter{Kinds: []string{"job", "task"}},
	}, nil
}

// jobPicks are the fields of the filter. That of a job whose steps are meant is
// there only where a link has led to it.
func jobPicks(ctx context.Context, v jobsView) []ui.Pick {
	picks := []ui.Pick{
		{Name: "state", Label: ui.Say(ctx, "word.state"), Value: v.filter.State, Options: view.JobStates, Words: "is."},
		{Name: "kind", Label: ui.Say(ctx, "word.kind"), Value: v.filter.Kind, Hint: ui.Say(ctx, "list.exact")},
		{Name: "name", Label: ui.Say(ctx, "word.name"), Value: v.filter.Name, Hint: ui.Say(ctx, "jobs.begins")},
		{Name: "workflow", Label: ui.Say(ctx, "word.workflow"), Value: v.filter.Workflow, Hint: ui.Say(ctx, "list.exact")},
		{Name: "schedule", Label: ui.Say(ctx, "word.schedule"), Value: v.filter.Schedule, Hint: ui.Say(ctx, "list.exact")},
		{Name: "since", Label: ui.Say(ctx, "word.since"), Value: v.since, Hint: "2h, 1d"},
	}
	if !v.filter.Of.IsZero() {
		picks = append(picks, ui.Pick{Name: "of", Label: ui.Say(ctx, "word.forstepsof"), Value: v.filter.Of.String()})
	}
	return picks
}

// jobFilter reads the filter of jobs in the address.
func jobFilter(r *site.Request) (f view.JobFilter, err error) {
	f = view.JobFilter{Kind: r.Query("kind"), Name: r.Query("name"), Workflow: r.Query("workflow"), Schedule: r.Query("schedule")}
	if f.State, err = r.OneOf("state", view.JobStates); err != nil {
		return f, err
	}
	if of := r.Query("of"); of != "" {
		if f.Of, err = weir.ParseID(of); err != nil {
			return f, problem.Refuse("of", "give the whole id of a job", "%q is no id", of)
		}
	}
	f.Since, err = r.Since("since")
	return f, err
}

// jobList reads a list of jobs, and what can be done to all of it. With is the
// part of the filter that the address does not say.
func (w *pages) jobList(r *site.Request, f view.JobFilter, with url.Values) (v jobsView, err error) {
	v.filter, v.since = f, r.Query("since")
	if v.bulk, err = w.bar(r, "job", jobDeeds, f.State, with, func(most int) (int, bool, error) { return w.Store.CountJobs(r.Context(), f, most) }); err != nil {
		return v, err
	}
	var next string
	if v.jobs, next, err = w.Store.JobPage(r.Context(), f, r.Page()); err != nil {
		return v, err
	}
	v.newest, v.older = site.Paging(r, next)
	return v, nil
}

// WorkflowJobs lists the runs of one workflow, for its page.
func WorkflowJobs(c *site.Config, r *site.Request, workflow string) (templ.Component, error) {
	f, err := jobFilter(r)
	if err != nil {
		return nil, err
	}
	f.Workflow = workflow
	w := &pages{Config: c}
	list, err := w.jobList(r, f, url.Values{"workflow": {workflow}})
	if err != nil {
		return nil, err
	}
	return workflowJobs(workflow, list), nil
}
