package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

func (e *env) job() *cobra.Command {
	return e.noun("job", "Submit, watch, repeat and cancel jobs", []string{"jobs"},
		e.jobList(), e.jobShow(), e.jobWhy(), e.jobSubmit(), e.jobWatch(), e.jobRerun(), e.jobRetry(), e.jobCancel(), e.jobArtifacts())
}

func (e *env) jobList() *cobra.Command {
	var flags jobFilterFlags
	var page view.Page
	c := &cobra.Command{
		Short:   "List jobs, newest first",
		Example: "  weir job list --state failed --since 1d\n  weir job list --workflow media --watch",
	}
	listCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l list[view.Job], err error) {
		if page.After != "" {
			id, err := findJob(ctx, s, page.After)
			if err != nil {
				return l, err
			}
			page.After = id.String()
		}
		f, err := flags.read(e.output().now)
		if err != nil {
			return l, err
		}
		shown := jobListing
		if f != (work.JobFilter{}) {
			shown.empty = []string{"No job matches.", "See them all with: weir job list"}
		}
		l = plainList(page, shown, func(ctx context.Context, page view.Page) ([]view.Job, error) { return listJobs(ctx, s, f, page) })
		l.after = func(j view.Job) string { return short(j.ID) }
		return l, nil
	})
	flags.register(c)
	pageFlags(c, &page, "id")
	return c
}

var jobListing = listing[view.Job]{
	name:  func(j view.Job) string { return j.ID.String() },
	empty: []string{"There are no jobs yet.", "Run a workflow with: weir run NAME; weir workflow init writes one to begin with"},
	columns: []column[view.Job]{
		{title: "ID", narrow: true, value: func(_ *output, j view.Job) string { return short(j.ID) }},
		{title: "ID", wide: true, value: func(_ *output, j view.Job) string { return j.ID.String() }},
		{title: "STATE", value: func(_ *output, j view.Job) string { return j.State }, paint: stateColor},
		{title: "KIND", value: func(_ *output, j view.Job) string { return j.Kind }},
		{title: "NAME", value: func(_ *output, j view.Job) string { return j.Name }},
		{title: "TASKS", value: func(_ *output, j view.Job) string {
			if j.State == "queued" {
				return ""
			}
			return fmt.Sprintf("%d/%d", endedTasks(j), j.Total)
		}},
		{title: "PRIORITY", wide: true, value: func(_ *output, j view.Job) string { return fmt.Sprint(j.Priority) }},
		{title: "CREATED", ages: true, value: func(o *output, j view.Job) string { return o.ago(j.CreatedAt) }},
		{title: "TOOK", ages: true, value: func(o *output, j view.Job) string { return o.took(j) }},
		{title: "DUE", wide: true, value: func(o *output, j view.Job) string { return o.ago(j.Due) }},
		{title: "SCHEDULE", wide: true, value: func(_ *output, j view.Job) string { return j.Schedule }},
		{title: "NOTE", value: jobNote},
	},
}

// jobNote is the one thing to know about a job where it stands.
func jobNote(o *output, j view.Job) string {
	switch {
	case j.Cause != "":
		return j.Cause
	case j.Waits != "":
		return j.Waits
	case j.State != "queued":
		return ""
	case j.Due.After(o.now):
		return "due " + o.ago(j.Due)
	case j.Note != "":
		return j.Note
	}
	return "waits to be built"
}

func endedTasks(j view.Job) int { return j.Done + j.Failed + j.Canceled + j.Skipped }

// took is how long a job took, or has taken until now.
func (o *output) took(j view.Job) string {
	if j.Ended() {
		return span(j.FinishedAt.Sub(j.CreatedAt))
	}
	return span(o.now.Sub(j.CreatedAt))
}

// jobPage is everything about a job.
type jobPage struct {
	view.Job
	Tasks []view.Task `json:"tasks"`
	// why says of tasks that wait what for; waits says it of the job.
	why   map[weir.ID]string
	waits []string
	// children are the jobs that steps wait for, by the step.
	children map[weir.ID]*jobPage
}

// readJob reads a job with all its tasks; the list gives them in pages.
func readJob(ctx context.Context, s *app.Session, id weir.ID) (page jobPage, err error) {
	if page.Job, err = showJob(ctx, s, id); err != nil {
		return page, err
	}
	page.Tasks, err = op.Each(ctx, s.Operations, work.ListTasks, work.ListingTasks{TaskFilter: work.TaskFilter{Job: id.String()}})
	return page, err
}

func (e *env) jobShow() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a job and its tasks", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findJob(ctx, s, args[0])
			if err != nil {
				return err
			}
			o := e.output()
			if watch {
				return watchJob(ctx, o, s, id, false)
			}
			page, err := readJob(ctx, s, id)
			if err != nil {
				return err
			}
			return o.show(id.String(), page, func() error { return printJob(ctx, o, s, page) })
		}),
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended, as weir job watch does")
	return c
}

func printJob(ctx context.Context, o *output, s *app.Session, page jobPage) error {
	flow, err := workflowOf(ctx, s, page.Job)
	if err != nil {
		return err
	}
	if err := o.details(jobFields(o, page.Job, flow)); err != nil || len(page.Tasks) == 0 {
		return err
	}
	served, err := whoServes(ctx, s, page.Tasks)
	if err != nil {
		return err
	}
	return taskListing(served).below(o, "", page.Tasks)
}

func jobFields(o *output, j view.Job, flow string) []field {
	note := jobNote(o, j)
	if note == j.Cause {
		note = ""
	}
	return []field{
		{"Job", j.ID.String()},
		{"State", j.State},
		{"Note", note},
		{"Name", j.Name},
		{"Kind", j.Kind},
		{"Workflow", flow},
		{"Schedule", j.Schedule},
		{"Cause", j.Cause},
		{"Priority", fmt.Sprint(j.Priority)},
		{"Tasks", jobCounts(j)},
		{"Created", o.both(j.CreatedAt)},
		{"Scheduled", o.both(j.ScheduledAt)},
		{"Due", o.both(j.Due)},
		{"Finished", o.both(j.FinishedAt)},
		{"Took", o.took(j)},
		{"Part of task", idText(j.Parent)},
		{"Repeats job", idText(j.Origin)},
		{"Params", pretty(j.Params)},
		{"Options", pretty(j.Options)},
	}
}

// workflowOf names the workflow of a job with the version that it is pinned to.
func workflowOf(ctx context.Context, s *app.Session, j view.Job) (string, error) {
	if j.Definition.IsZero() {
		return "", nil
	}
	versions, err := op.Each(ctx, s.Operations, workflow.Versions, workflow.ListingVersions{Named: workflow.Named{Workflow: j.Name}})
	if err != nil && !errors.Is(err, weir.ErrNotFound) {
		return "", err
	}
	for _, w := range versions {
		if w.ID == j.Definition {
			return fmt.Sprintf("%s version %d", w.Name, w.Version), nil
		}
	}
	return j.Name, nil
}

func jobCounts(j view.Job) string {
	return endedWords(endedTasks(j), j.Total, count{j.Done, "done"}, count{j.Failed, "failed"}, count{j.Canceled, "canceled"}, count{j.Skipped, "skipped"})
}

func (e *env) jobCancel() *cobra.Command {
	c := &cobra.Command{Short: "Cancel all that is left of a job", Example: "  weir job cancel 8057b302099a\n  weir job cancel --workflow media --state queued\n  weir job cancel --schedule nightly --state running --yes"}
	return e.jobCommand(c, bulk.Cancel, "canceled, or end when their workers have stopped", func(ctx context.Context, s *app.Session, id weir.ID, in *work.DecidingJob) error {
		done, err := work.CancelJob.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		return e.output().did(id.String(), struct {
			ID        weir.ID `json:"id"`
			Canceled  int     `json:"canceled"`
			Requested int     `json:"requested"`
		}{id, done.Ended, done.Asked}, "Job %s: %d canceled, %d asked to stop.", short(id), done.Ended, done.Asked)
	})
}
