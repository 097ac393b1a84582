package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// lookEvery is the time between two looks at a job that is watched.
	lookEvery = 250 * time.Millisecond
	// drawEvery is the longest time between two drawings: ages and bars move.
	drawEvery = time.Second
	// endWithin is how long to wait for the last event of a job that has ended.
	endWithin = 10 * time.Second
)

func (e *env) jobWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch ID", Short: "Watch a job until it has ended; the exit code is how it ended", Args: e.args("ID"),
		Long: `Watch a job until it has ended.

On a terminal it draws the job as a tree and keeps it up to date. Elsewhere it
prints a line for each event, from the job's beginning.

The exit code is 0 when the job is done, 1 when it failed, 2 when it was canceled.`,
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := s.Store.JobID(ctx, args[0])
			if err != nil {
				return err
			}
			return watchJob(ctx, e.output(), s, id)
		}),
	}
}

// watchJob shows a job until it has ended, and returns how it ended.
func watchJob(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	watch := watchLines
	if o.terminal && o.format == "table" {
		watch = watchTree
	}
	job, err := watch(ctx, o, s, id)
	if err != nil {
		return err
	}
	if o.table() {
		fmt.Fprintf(o.Out, "Job %s is %s after %s: %s.\n", short(id), o.paint(stateColor(job.State), job.State), o.took(job), jobCounts(job))
		if job.Cause != "" {
			fmt.Fprintf(o.Out, "Cause: %s\n", clean(job.Cause))
		}
	}
	switch job.State {
	case "failed":
		return quiet(problem.Failed)
	case "canceled":
		return quiet(problem.Canceled)
	}
	return nil
}

// watchLines prints the events of the job as they come, until it has ended and
// the event that says so has been printed. A transaction elsewhere may hold
// that event back, and retention may have dropped it: then we do not wait long.
func watchLines(ctx context.Context, o *output, s *app.Session, id weir.ID) (view.Job, error) {
	page, err := readJob(ctx, s, id)
	if err != nil {
		return page.Job, err
	}
	o.names = namesOf(page.Tasks)
	over := false
	for cursor, left := "0.0", endWithin; ; {
		job, err := s.Store.Job(ctx, id)
		if err != nil {
			return job, err
		}
		events, err := s.Store.EventsAfter(ctx, cursor, id, weir.ID{}, 500)
		if err != nil {
			return job, err
		}
		for _, event := range events {
			if err := printEvent(o, event); err != nil {
				return job, err
			}
			cursor = event.Cursor
			over = event.Kind == "job" && weir.State(event.Type).Ended()
		}
		if job.Ended() {
			left -= lookEvery
		}
		switch {
		case len(events) > 0:
		case job.Ended() && (over || left < 0):
			return job, nil
		case !loop.Wait(ctx, lookEvery, nil):
			return job, context.Cause(ctx)
		}
	}
}

// watchTree draws the job again and again in the same place.
func watchTree(ctx context.Context, o *output, s *app.Session, id weir.ID) (view.Job, error) {
	wake, unfollow := follow(ctx, s, weir.Filter{Job: id})
	defer unfollow()
	drawn := 0
	for {
		page, err := readJob(ctx, s, id)
		if err != nil {
			return page.Job, err
		}
		o.now = time.Now()
		lines := drawJob(o, page, terminalHeight(o.Out)-2)
		drawn = redraw(o.Out, lines, drawn)
		if page.Ended() {
			return page.Job, nil
		}
		if !rest(ctx, lookEvery, drawEvery, wake) {
			return page.Job, context.Cause(ctx)
		}
	}
}

// redraw replaces the lines drawn before and returns how many there are now.
func redraw(out io.Writer, lines []string, before int) int {
	var text strings.Builder
	if before > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", before)
	}
	for _, line := range lines {
		text.WriteString(line + "\x1b[K\r\n") // also where the terminal adds no return
	}
	text.WriteString("\x1b[J")
	_, _ = io.WriteString(out, text.String()) // a terminal that is gone ends us otherwise
	return len(lines)
}
