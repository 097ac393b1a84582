package workcmd

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/work"
)

// LogFlags say which part of a log is wanted and how it is shown.
type LogFlags struct {
	Attempt            int
	Follow, Timestamps bool
	// Grep selects lines by a regular expression; Tail leaves only the last so many of
	// them, 0: all.
	Grep string
	Tail int
}

func taskLog(e *command.Env) *cobra.Command {
	var f LogFlags
	c := &cobra.Command{
		Use: "log ID", Aliases: []string{"logs"}, Short: "Print what a task printed", Args: e.Args("ID"),
		Long: `Print what a task printed: its newest attempt, or the one of --attempt.

ID is that of the task, or JOB/STEP. With --follow it waits for the task to start
and goes on until the task has ended, attempt after attempt. With -o json each
line is an object. --grep prints the lines that match a regular expression, --tail
the last ones.`,
		Example: "  weir task log 8057b302099a\n  weir task log 5ac2f7d10b3e/render --follow\n  weir task log 8057b302099a --attempt 1 --timestamps\n  weir task log 8057b302099a --grep 'error|warn' --tail 20",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if f.Attempt < 0 {
				return command.Invalid("the first attempt is 1", "--attempt: %d is not an attempt", f.Attempt)
			}
			if f.Tail < 0 || f.Tail > 0 && f.Follow {
				return command.Invalid("give a number from 1 on, without --follow", "--tail: %d cannot be", f.Tail)
			}
			if _, err := f.matcher(); err != nil {
				return err
			}
			id, err := FindTask(ctx, s, args[0])
			if err != nil {
				return err
			}
			if f.Follow {
				return f.FollowLog(ctx, e.Output(), s, id)
			}
			return f.ReadLog(ctx, e.Output(), s, id)
		}),
	}
	flags := c.Flags()
	flags.IntVar(&f.Attempt, "attempt", 0, "this attempt; default: the newest")
	flags.BoolVarP(&f.Follow, "follow", "f", false, "go on until the task has ended")
	flags.BoolVarP(&f.Timestamps, "timestamps", "t", false, "begin each line with its time")
	flags.StringVar(&f.Grep, "grep", "", "only lines that match this regular expression")
	flags.IntVar(&f.Tail, "tail", 0, "only the last so many lines; default: all")
	command.SettingFlags(c, false, "bucket")
	return c
}

// matcher says which lines are wanted.
func (f LogFlags) matcher() (func(text string) bool, error) {
	if f.Grep == "" {
		return func(string) bool { return true }, nil
	}
	re, err := pattern.Regexp(f.Grep)
	if err != nil {
		return nil, command.Invalid("write a regular expression, such as 'error|warn'", "--grep: %s", err)
	}
	return re.MatchString, nil
}

// ReadLog prints what there is.
func (f LogFlags) ReadLog(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	n, err := f.printAttempt(ctx, o, s, id, f.Attempt, false)
	if err != nil || n > 0 || !o.Table() {
		return err
	}
	if f.Grep != "" {
		o.Say("No line matches.")
		return nil
	}
	task, err := ShowTask(ctx, s, id)
	if err != nil {
		return err
	}
	if len(task.Awaits) > 0 {
		first, err := ShowTask(ctx, s, task.Awaits[0])
		if err != nil {
			return err
		}
		o.Say("It was split into %s, and those print: weir task log %s/%s", command.Plural(len(task.Awaits), "item", "items"), command.Short(task.Job), command.Clean(first.Key))
		return nil
	}
	if task.Plan != nil {
		jobs, err := listJobs(ctx, s, work.JobFilter{Parent: id.String()}, view.Page{Limit: 1})
		if err != nil {
			return err
		}
		if len(jobs) > 0 {
			o.Say("It is a workflow, and the steps of its job print: weir job show %s", command.Short(jobs[0].ID))
			return nil
		}
	}
	o.Say("%s", noLog(task))
	return nil
}

// noLog says why there is nothing to read.
func noLog(t view.Task) string {
	switch {
	case t.Attempt == 0:
		return fmt.Sprintf("Nothing: it has not run. See why with: weir why %s", command.Short(t.ID))
	case t.State == "running":
		return fmt.Sprintf("Nothing yet. Wait for it with: weir task log %s --follow", command.Short(t.ID))
	}
	return "Nothing was printed, or it was not run by an agent."
}

// FollowLog prints until the task has ended: the attempt that runs, then the
// one after it.
func (f LogFlags) FollowLog(ctx context.Context, o *command.Output, s *app.Session, id weir.ID) error {
	wake, unfollow := command.Follow(ctx, s, weir.Filter{Task: id})
	defer unfollow()
	for printed := 0; ; {
		task, err := ShowTask(ctx, s, id)
		if err != nil {
			return err
		}
		wanted := max(f.Attempt, printed+1)
		if f.Attempt == 0 && printed == 0 {
			wanted = max(task.Attempt, 1) // those before it are read with --attempt
		}
		if task.Attempt >= wanted {
			_, err := f.printAttempt(ctx, o, s, id, wanted, true)
			if err != nil || ctx.Err() != nil || f.Attempt > 0 {
				return err
			}
			printed = wanted
			continue
		}
		if weir.State(task.State).Ended() || !command.Rest(ctx, command.LookEvery, command.DrawEvery, wake) {
			return nil
		}
	}
}

// printAttempt prints the log of one attempt and counts its lines.
func (f LogFlags) printAttempt(ctx context.Context, o *command.Output, s *app.Session, id weir.ID, n int, follow bool) (lines int, err error) {
	wanted, err := f.matcher()
	if err != nil {
		return 0, err
	}
	var last []joblog.Line
	for line, err := range joblog.Find(s.Log(ctx, id, n, joblog.Place{}, follow), wanted) {
		if err != nil {
			if ctx.Err() != nil {
				return lines, nil // Ctrl-C is how one stops following
			}
			return lines, err
		}
		lines++
		if f.Tail > 0 {
			last = append(last, line)
			last = last[max(0, len(last)-f.Tail):]
			continue
		}
		if err := f.printLine(o, line); err != nil {
			return lines, err
		}
	}
	for _, line := range last {
		if err := f.printLine(o, line); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

func (f LogFlags) printLine(o *command.Output, line joblog.Line) (err error) {
	switch {
	case o.Format == "json":
		return json.NewEncoder(o.Out).Encode(line)
	case o.Format == "yaml":
		if _, err = fmt.Fprintln(o.Out, "---"); err == nil {
			err = o.Value(line)
		}
		return err
	case f.Timestamps || o.Format == "wide":
		_, err = fmt.Fprintf(o.Out, "%s  %s\n", o.Paint(command.Dim, command.Exact(line.At)), logText(o, line))
		return err
	}
	_, err = fmt.Fprintln(o.Out, logText(o, line))
	return err
}

// logText is a line for whoever reads it, without control bytes: what goes through
// a pipe ends up on a terminal, too. The bucket has what was printed.
func logText(o *command.Output, line joblog.Line) string {
	text := command.Clean(line.Text)
	switch line.Stream {
	case joblog.Stderr:
		return o.Paint(command.Yellow, text)
	case joblog.Weir:
		return o.Paint(command.Dim, "weir: "+text)
	case joblog.Setup, joblog.Cleanup, joblog.Power:
		return o.Paint(command.Dim, line.Stream+": ") + text
	}
	return text
}
