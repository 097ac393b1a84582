package workcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/work"
)

const (
	// endWithin is how long to wait for the last event of a job that has ended.
	endWithin = 10 * time.Second
	// whysMost is how many tasks are asked why they wait, for one drawing.
	whysMost = 8
)

func jobWatch(e *command.Env) *cobra.Command {
	var log bool
	c := &cobra.Command{
		Use: "watch ID", Short: "Watch a job until it has ended; the exit code is how it ended", Args: e.Args("ID"),
		Long: `Watch a job until it has ended.

On a terminal it draws the job as a tree and keeps it up to date: what runs, how
far it is, and why the rest waits. The job of a step that is a workflow is drawn
below that step; the items of a large map share a line. Elsewhere, and with --log, it prints a line for
each event, from the job's beginning.

The exit code is 0 when the job is done, 1 when it failed, 2 when it was canceled.`,
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := FindJob(ctx, s, args[0])
			if err != nil {
				return err
			}
			return watchJob(ctx, e.Output(), s, id, log)
		}),
	}
	c.Flags().BoolVar(&log, "log", false, "print what the tasks print, too")
	command.SettingFlags(c, false, "bucket")
	return c
}

// watchJob shows a job until it has ended, and returns how it ended.
func watchJob(ctx context.Context, o *command.Output, s *app.Session, id weir.ID, log bool) error {
	var page jobPage
	var err error
	if o.Terminal && o.Format == "table" && !log {
		page, err = command.Watched[jobPage]{
			Follow: weir.Filter{Job: id},
			Read:   func(ctx context.Context) (jobPage, error) { return lookAtJob(ctx, s, id) },
			Draw:   func(p jobPage, room int) []string { return drawJob(o, p, room) },
			Over:   func(p jobPage) bool { return p.Ended() },
			Left:   "The job goes on. Watch it with: weir job watch " + command.Short(id),
		}.Watch(ctx, o, s)
	} else {
		lines := &jobLines{o: o, s: s, job: id, log: log, printed: map[attempt]joblog.Place{}}
		page.Job, err = lines.watch(ctx)
		if ctx.Err() != nil && o.Table() {
			o.Say("The job goes on. Watch it with: weir job watch %s", command.Short(id))
		}
	}
	if err != nil {
		return err
	}
	job := page.Job
	if o.Table() {
		fmt.Fprintf(o.Out, "Job %s is %s after %s: %s.\n", command.Short(id), o.Paint(command.StateColor(job.State), job.State), took(o, job), jobCounts(job))
		if job.Cause != "" {
			fmt.Fprintf(o.Out, "Cause: %s\n", command.Clean(job.Cause))
		}
		if job.State == "failed" && !job.Definition.IsZero() {
			o.Say("Do again what failed with: weir job rerun %s --failed", command.Short(id))
		}
	}
	return command.Ended(job.State)
}

// lookAtJob reads what a watcher sees.
func lookAtJob(ctx context.Context, s *app.Session, id weir.ID) (jobPage, error) {
	page, err := readJob(ctx, s, id)
	if err == nil {
		budget := childrenMost
		err = page.nest(ctx, s, levelsMost, &budget)
	}
	if err == nil {
		err = page.explain(ctx, s)
	}
	return page, err
}

// explain asks why the job and its first waiting tasks wait. That a task waits
// for others of its job can be seen; that is not asked.
func (p *jobPage) explain(ctx context.Context, s *app.Session) error {
	if p.State == "queued" {
		reasons, err := work.WhyJob.Call(ctx, s.Operations, &work.NamedJob{Job: p.ID.String()})
		if err != nil {
			return err
		}
		for _, r := range reasons.Items {
			p.waits = append(p.waits, r.Text)
		}
	}
	p.why = map[weir.ID]string{}
	for _, t := range p.Tasks {
		waits := t.State == "available" || t.State == "pending" && t.Gate != "needs"
		if !waits || p.children[t.ID] != nil || len(p.why) >= whysMost {
			continue
		}
		reasons, err := readWhy(ctx, s, t.ID)
		if err != nil {
			return err
		}
		p.why[t.ID] = ""
		for _, r := range reasons {
			if !r.Open {
				p.why[t.ID] = r.Text
				break
			}
		}
	}
	return nil
}

// Follows watches a job that was just made, or says how to.
func Follows(ctx context.Context, o *command.Output, s *app.Session, id weir.ID, watch, log bool) error {
	if watch || log {
		o.Now = time.Now()
		return watchJob(ctx, o, s, id, log)
	}
	if o.Table() {
		o.Say("Watch it with: weir job watch %s", command.Short(id))
	}
	return nil
}
