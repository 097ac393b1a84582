package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
)

func (e *env) job() *cobra.Command {
	return e.noun("job", "Submit, watch and cancel jobs", []string{"jobs"},
		e.jobList(), e.jobShow(), e.jobSubmit(), e.jobWatch(), e.jobCancel())
}

func (e *env) jobList() *cobra.Command {
	var f view.JobFilter
	var page view.Page
	c := &cobra.Command{
		Short: "List jobs, newest first",
	}
	listCommand(e, c, func(ctx context.Context, s *app.Session) (l list[view.Job], err error) {
		if page.After != "" {
			id, err := s.Store.JobID(ctx, page.After)
			if err != nil {
				return l, err
			}
			page.After = id.String()
		}
		shown := jobListing
		if f != (view.JobFilter{}) {
			shown.empty = []string{"No job matches.", "See them all with: weir job list"}
		}
		l = plainList(page, shown, func(ctx context.Context, page view.Page) ([]view.Job, error) { return s.Store.Jobs(ctx, f, page) })
		l.after = func(j view.Job) string { return short(j.ID) }
		return l, nil
	})
	c.Flags().StringVar(&f.State, "state", "", "only jobs in this state: "+strings.Join(view.JobStates, ", "))
	c.Flags().StringVar(&f.Kind, "kind", "", "only jobs of this kind")
	c.Flags().StringVar(&f.Name, "name", "", "only jobs of this name")
	pageFlags(c, &page, "id")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(view.JobStates, cobra.ShellCompDirectiveNoFileComp))
	return c
}

var jobListing = listing[view.Job]{
	name:  func(j view.Job) string { return j.ID.String() },
	empty: []string{"There are no jobs yet.", "Submit one with: weir job submit FILE; weir job submit --help shows a file"},
	columns: []column[view.Job]{
		{title: "ID", narrow: true, value: func(_ *output, j view.Job) string { return short(j.ID) }},
		{title: "ID", wide: true, value: func(_ *output, j view.Job) string { return j.ID.String() }},
		{title: "STATE", value: func(_ *output, j view.Job) string { return j.State }, paint: stateColor},
		{title: "KIND", value: func(_ *output, j view.Job) string { return j.Kind }},
		{title: "NAME", value: func(_ *output, j view.Job) string { return j.Name }},
		{title: "TASKS", value: func(_ *output, j view.Job) string { return fmt.Sprintf("%d/%d", ended(j), j.Total) }},
		{title: "PRIORITY", wide: true, value: func(_ *output, j view.Job) string { return fmt.Sprint(j.Priority) }},
		{title: "CREATED", ages: true, value: func(o *output, j view.Job) string { return o.ago(j.CreatedAt) }},
		{title: "TOOK", ages: true, value: func(o *output, j view.Job) string { return o.took(j) }},
		{title: "NOTE", value: func(_ *output, j view.Job) string { return j.Cause }},
	},
}

func ended(j view.Job) int { return j.Done + j.Failed + j.Canceled + j.Skipped }

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
}

// readJob reads a job with all its tasks; the list gives them in pages.
func readJob(ctx context.Context, s *app.Session, id weir.ID) (page jobPage, err error) {
	if page.Job, err = s.Store.Job(ctx, id); err != nil {
		return page, err
	}
	next := view.Page{Limit: 1000}
	for {
		tasks, err := s.Store.Tasks(ctx, view.TaskFilter{Job: id}, next)
		if err != nil {
			return page, err
		}
		page.Tasks = append(page.Tasks, tasks...)
		if len(tasks) < next.Limit {
			return page, nil
		}
		next.After = tasks[len(tasks)-1].ID.String()
	}
}

func (e *env) jobShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a job and its tasks", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := s.Store.JobID(ctx, args[0])
			if err != nil {
				return err
			}
			page, err := readJob(ctx, s, id)
			if err != nil {
				return err
			}
			o := e.output()
			switch {
			case o.data():
				return o.value(page)
			case o.format == "name":
				return o.did(id.String(), nil, "")
			}
			if err := o.details([]field{
				{"Job", id.String()},
				{"State", page.State},
				{"Name", page.Name},
				{"Kind", page.Kind},
				{"Cause", page.Cause},
				{"Priority", fmt.Sprint(page.Priority)},
				{"Tasks", jobCounts(page.Job)},
				{"Created", o.both(page.CreatedAt)},
				{"Finished", o.both(page.FinishedAt)},
				{"Took", o.took(page.Job)},
				{"Params", pretty(page.Params)},
			}); err != nil {
				return err
			}
			fmt.Fprintln(o.Out)
			served, err := whoServes(ctx, s, page.Tasks)
			if err != nil {
				return err
			}
			return taskListing(served).print(o, page.Tasks)
		}),
	}
}

func jobCounts(j view.Job) string {
	parts := []string{fmt.Sprintf("%d of %d ended", ended(j), j.Total)}
	for _, c := range []struct {
		n    int
		word string
	}{{j.Done, "done"}, {j.Failed, "failed"}, {j.Canceled, "canceled"}, {j.Skipped, "skipped"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	return strings.Join(parts, ", ")
}

func (e *env) jobCancel() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "cancel ID", Short: "Cancel all that is left of a job", Args: e.args("ID"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := s.Store.JobID(ctx, args[0])
			if err != nil {
				return err
			}
			ended, asked, err := s.Client.CancelJob(ctx, id, weir.Decision{By: whoami(), Reason: reason})
			if err != nil {
				return err
			}
			return e.output().did(id.String(), struct {
				ID        weir.ID `json:"id"`
				Canceled  int     `json:"canceled"`
				Requested int     `json:"requested"`
			}{id, ended, asked}, "Job %s: %d canceled, %d asked to stop.", short(id), ended, asked)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	return c
}
