package workcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// Job is the command weir job.
func Job(e *command.Env) *cobra.Command {
	return e.Noun("job", "Submit, watch, repeat and cancel jobs", []string{"jobs"},
		jobList(e), jobShow(e), jobWhy(e), jobSubmit(e), jobWatch(e), jobRerun(e), jobRetry(e), jobSignal(e), jobCancel(e), jobArtifacts(e))
}

func jobList(e *command.Env) *cobra.Command {
	var flags jobFilterFlags
	var page view.Page
	c := &cobra.Command{
		Short:   "List jobs, newest first",
		Example: "  weir job list --state failed --since 1d\n  weir job list --workflow media --watch",
	}
	command.ListCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l command.List[view.Job], err error) {
		if page.After != "" {
			id, err := FindJob(ctx, s, page.After)
			if err != nil {
				return l, err
			}
			page.After = id.String()
		}
		f, err := flags.read(e.Output().Now)
		if err != nil {
			return l, err
		}
		shown := jobListing
		if f != (work.JobFilter{}) {
			shown.Empty = []string{"No job matches.", "See them all with: weir job list"}
		}
		l = command.PlainList(page, shown, func(ctx context.Context, page view.Page) ([]view.Job, error) { return listJobs(ctx, s, f, page) })
		l.After = func(j view.Job) string { return command.Short(j.ID) }
		return l, nil
	})
	flags.register(c)
	command.PageFlags(c, &page, "id")
	return c
}

var jobListing = command.Listing[view.Job]{
	Name:  func(j view.Job) string { return j.ID.String() },
	Empty: []string{"There are no jobs yet.", "Run a workflow with: weir run NAME; weir workflow init writes one to begin with"},
	Columns: []command.Column[view.Job]{
		{Title: "ID", Value: func(o *command.Output, j view.Job) string { return o.ID(j.ID) }},
		{Title: "STATE", Value: func(_ *command.Output, j view.Job) string { return j.State }, Paint: command.StateColor},
		{Title: "KIND", Value: func(_ *command.Output, j view.Job) string { return j.Kind }},
		{Title: "NAME", Value: func(_ *command.Output, j view.Job) string { return j.Name }},
		{Title: "TASKS", Value: func(_ *command.Output, j view.Job) string {
			if j.State == "queued" {
				return ""
			}
			return fmt.Sprintf("%d/%d", endedTasks(j), j.Total)
		}},
		{Title: "PRIORITY", Wide: true, Value: func(_ *command.Output, j view.Job) string { return fmt.Sprint(j.Priority) }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, j view.Job) string { return o.Ago(j.CreatedAt) }},
		{Title: "TOOK", Ages: true, Value: func(o *command.Output, j view.Job) string { return took(o, j) }},
		{Title: "DUE", Wide: true, Value: func(o *command.Output, j view.Job) string { return o.Ago(j.Due) }},
		{Title: "SCHEDULE", Wide: true, Value: func(_ *command.Output, j view.Job) string { return j.Schedule }},
		{Title: "NOTE", Value: jobNote},
	},
}

// jobNote is the one thing to know about a job where it stands.
func jobNote(o *command.Output, j view.Job) string {
	switch {
	case j.Cause != "":
		return j.Cause
	case j.Waits != "":
		return j.Waits
	case j.State != "queued":
		return ""
	case j.Due.After(o.Now):
		return "due " + o.Ago(j.Due)
	case j.Note != "":
		return j.Note
	}
	return "waits to be built"
}

func endedTasks(j view.Job) int { return j.Done + j.Failed + j.Canceled + j.Skipped }

// took is how long a job took, or has taken until now.
func took(o *command.Output, j view.Job) string {
	if j.Ended() {
		return command.Span(j.FinishedAt.Sub(j.CreatedAt))
	}
	return command.Span(o.Now.Sub(j.CreatedAt))
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
	if page.Job, err = ShowJob(ctx, s, id); err != nil {
		return page, err
	}
	page.Tasks, err = op.Each(ctx, s.Operations, work.ListTasks, work.ListingTasks{TaskFilter: work.TaskFilter{Job: id.String()}})
	return page, err
}

func jobShow(e *command.Env) *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a job and its tasks", Args: e.Args("ID"),
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := FindJob(ctx, s, args[0])
			if err != nil {
				return err
			}
			o := e.Output()
			if watch {
				return watchJob(ctx, o, s, id, false)
			}
			page, err := readJob(ctx, s, id)
			if err != nil {
				return err
			}
			return o.Show(id.String(), page, func() error { return printJob(ctx, o, s, page) })
		}),
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended, as weir job watch does")
	return c
}

func printJob(ctx context.Context, o *command.Output, s *app.Session, page jobPage) error {
	flow, err := workflowOf(ctx, s, page.Job)
	if err != nil {
		return err
	}
	if err := o.Details(jobFields(o, page.Job, flow)); err != nil || len(page.Tasks) == 0 {
		return err
	}
	served, err := whoServes(ctx, s, page.Tasks)
	if err != nil {
		return err
	}
	return TaskListing(served).Below(o, "", page.Tasks)
}

func jobFields(o *command.Output, j view.Job, flow string) []command.Field {
	note := jobNote(o, j)
	if note == j.Cause {
		note = ""
	}
	return []command.Field{
		{"Job", j.ID.String()},
		{"State", j.State},
		{"Note", note},
		{"Name", j.Name},
		{"Kind", j.Kind},
		{"Workflow", flow},
		{"Schedule", j.Schedule},
		{"Started by", startedBy(j)},
		{"Cause", j.Cause},
		{"Priority", fmt.Sprint(j.Priority)},
		{"Tasks", jobCounts(j)},
		{"Created", o.Both(j.CreatedAt)},
		{"Scheduled", o.Both(j.ScheduledAt)},
		{"Due", o.Both(j.Due)},
		{"Finished", o.Both(j.FinishedAt)},
		{"Took", took(o, j)},
		{"Part of task", command.IDText(j.Parent)},
		{"Repeats job", command.IDText(j.Origin)},
		{"Params", command.Pretty(j.Params)},
		{"Options", command.Pretty(j.Options)},
	}
}

// startedBy names the trigger that started a job, and what fired it.
func startedBy(j view.Job) string {
	by := workflow.StartedByOf(j.Options)
	switch {
	case by == nil:
		return ""
	case by.Source.IsZero():
		return fmt.Sprintf("trigger %s (%s)", by.Trigger, by.Key)
	}
	return fmt.Sprintf("trigger %s after job %s", by.Trigger, by.Source)
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
	return command.EndedWords(endedTasks(j), j.Total, command.Count{N: j.Done, Word: "done"}, command.Count{N: j.Failed, Word: "failed"}, command.Count{N: j.Canceled, Word: "canceled"}, command.Count{N: j.Skipped, Word: "skipped"})
}

func jobCancel(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "Cancel all that is left of a job", Example: "  weir job cancel 8057b302099a\n  weir job cancel --workflow media --state queued\n  weir job cancel --schedule nightly --state running --yes"}
	return jobCommand(e, c, bulk.Cancel, "canceled, or end when their workers have stopped", func(ctx context.Context, s *app.Session, id weir.ID, in *work.DecidingJob) error {
		done, err := work.CancelJob.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		said := fmt.Sprintf(": %d canceled, %d asked to stop", done.Ended, done.Asked)
		if done.Ended+done.Asked == 0 { // a queued one has no tasks yet
			said = " is canceled; it had no task to cancel or to ask"
		}
		return e.Output().Did(id.String(), struct {
			ID        weir.ID `json:"id"`
			Canceled  int     `json:"canceled"`
			Requested int     `json:"requested"`
		}{id, done.Ended, done.Asked}, "Job %s%s.", command.Short(id), said)
	})
}

// JobIDs are those of jobs.
var JobIDs = command.Listed(work.ListJobs, func(j view.Job) (string, string) { return command.Short(j.ID), j.State + ": " + j.Name })
