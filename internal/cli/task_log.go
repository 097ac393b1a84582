package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

// logFlags say which part of a log is wanted and how it is shown.
type logFlags struct {
	attempt            int
	follow, timestamps bool
}

func (e *env) taskLog() *cobra.Command {
	var f logFlags
	c := &cobra.Command{
		Use: "log ID", Aliases: []string{"logs"}, Short: "Print what a task printed", Args: e.args("ID"),
		Long: `Print what a task printed: its newest attempt, or the one of --attempt.

ID is that of the task, or JOB/STEP. With --follow it waits for the task to start
and goes on until the task has ended, attempt after attempt. With -o json each
line is an object.`,
		Example: "  weir task log 8057b302099a\n  weir task log 5ac2f7d10b3e/render --follow\n  weir task log 8057b302099a --attempt 1 --timestamps",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if f.attempt < 0 {
				return invalid("the first attempt is 1", "--attempt: %d is not an attempt", f.attempt)
			}
			id, err := findTask(ctx, s, args[0])
			if err != nil {
				return err
			}
			if f.follow {
				return f.followLog(ctx, e.output(), s, id)
			}
			return f.readLog(ctx, e.output(), s, id)
		}),
	}
	flags := c.Flags()
	flags.IntVar(&f.attempt, "attempt", 0, "this attempt; default: the newest")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on until the task has ended")
	flags.BoolVarP(&f.timestamps, "timestamps", "t", false, "begin each line with its time")
	settingFlags(c, false, "bucket")
	return c
}

// readLog prints what there is.
func (f logFlags) readLog(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	n, err := f.printAttempt(ctx, o, s, id, f.attempt, false)
	if err != nil || n > 0 || !o.table() {
		return err
	}
	task, err := showTask(ctx, s, id)
	if err != nil {
		return err
	}
	if len(task.Awaits) > 0 {
		first, err := showTask(ctx, s, task.Awaits[0])
		if err != nil {
			return err
		}
		o.say("It was split into %s, and those print: weir task log %s/%s", plural(len(task.Awaits), "item", "items"), short(task.Job), clean(first.Key))
		return nil
	}
	if task.Plan != nil {
		jobs, err := listJobs(ctx, s, work.JobFilter{Parent: id.String()}, view.Page{Limit: 1})
		if err != nil {
			return err
		}
		if len(jobs) > 0 {
			o.say("It is a workflow, and the steps of its job print: weir job show %s", short(jobs[0].ID))
			return nil
		}
	}
	o.say("%s", noLog(task))
	return nil
}

// noLog says why there is nothing to read.
func noLog(t view.Task) string {
	switch {
	case t.Attempt == 0:
		return fmt.Sprintf("Nothing: it has not run. See why with: weir why %s", short(t.ID))
	case t.State == "running":
		return fmt.Sprintf("Nothing yet. Wait for it with: weir task log %s --follow", short(t.ID))
	}
	return "Nothing was printed, or it was not run by an agent."
}

// followLog prints until the task has ended: the attempt that runs, then the
// one after it.
func (f logFlags) followLog(ctx context.Context, o *output, s *app.Session, id weir.ID) error {
	wake, unfollow := follow(ctx, s, weir.Filter{Task: id})
	defer unfollow()
	for printed := 0; ; {
		task, err := showTask(ctx, s, id)
		if err != nil {
			return err
		}
		wanted := max(f.attempt, printed+1)
		if f.attempt == 0 && printed == 0 {
			wanted = max(task.Attempt, 1) // those before it are read with --attempt
		}
		if task.Attempt >= wanted {
			_, err := f.printAttempt(ctx, o, s, id, wanted, true)
			if err != nil || ctx.Err() != nil || f.attempt > 0 {
				return err
			}
			printed = wanted
			continue
		}
		if weir.State(task.State).Ended() || !rest(ctx, lookEvery, drawEvery, wake) {
			return nil
		}
	}
}

// printAttempt prints the log of one attempt and counts its lines.
func (f logFlags) printAttempt(ctx context.Context, o *output, s *app.Session, id weir.ID, n int, follow bool) (lines int, err error) {
	for line, err := range s.Log(ctx, id, n, joblog.Place{}, follow) {
		if err != nil {
			if ctx.Err() != nil {
				return lines, nil // Ctrl-C is how one stops following
			}
			return lines, err
		}
		lines++
		if err := f.printLine(o, line); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

func (f logFlags) printLine(o *output, line joblog.Line) (err error) {
	switch {
	case o.format == "json":
		return json.NewEncoder(o.Out).Encode(line)
	case o.format == "yaml":
		if _, err = fmt.Fprintln(o.Out, "---"); err == nil {
			err = o.value(line)
		}
		return err
	case f.timestamps || o.format == "wide":
		_, err = fmt.Fprintf(o.Out, "%s  %s\n", o.paint(dim, exact(line.At)), logText(o, line))
		return err
	}
	_, err = fmt.Fprintln(o.Out, logText(o, line))
	return err
}

// logText is a line for whoever reads it, without control bytes: what goes through
// a pipe ends up on a terminal, too. The bucket has what was printed.
func logText(o *output, line joblog.Line) string {
	text := clean(line.Text)
	switch line.Stream {
	case joblog.Stderr:
		return o.paint(yellow, text)
	case joblog.Weir:
		return o.paint(dim, "weir: "+text)
	}
	return text
}
