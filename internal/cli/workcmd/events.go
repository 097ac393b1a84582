package workcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// Events is the command weir events.
func Events(e *command.Env) *cobra.Command {
	var follow bool
	var job, task, since, archive string
	var limit int
	c := &cobra.Command{
		Use: "events", Aliases: []string{"event"}, Short: "Read the timeline, and follow it", Args: e.NoArgs,
		Long: `Read the timeline: its end, or what comes after a cursor.

With -o json each event is one line with its cursor. Give the last cursor back
with --since to go on without a gap; 0.0 is the beginning.

What is older than the retention was archived before it was dropped: --archive list
says which partitions there are, --archive PARTITION prints one.`,
		Example: "  weir events --follow\n  weir events --job 8057b302099a\n  weir events --since 0.0 -o json\n  weir events --archive list",
		RunE: e.Session(func(ctx context.Context, s *app.Session, _ []string) (err error) {
			var filter weir.Filter
			if archive != "" && (follow || since != "") {
				return command.Invalid("leave --follow and --since out", "an archive does not grow")
			}
			if job != "" {
				if filter.Job, err = FindJob(ctx, s, job); err != nil {
					return err
				}
			}
			if task != "" {
				if filter.Task, err = FindTask(ctx, s, task); err != nil {
					return err
				}
			}
			o := e.Output()
			if archive != "" {
				return readArchive(ctx, o, s, archive, filter)
			}
			cursor := weir.Cursor(since)
			if follow && since == "" {
				// Before the last events are read, so that none falls between.
				tail, err := work.ShowTail.Call(ctx, s.Operations, &struct{}{})
				if cursor = tail.Cursor; err != nil {
					return err
				}
			}
			if !follow || since == "" {
				if err := printEvents(ctx, o, s, filter, since, limit, follow); err != nil || !follow {
					return badCursor(err, since)
				}
			}
			err = s.Follow(ctx, cursor, filter, func(event weir.Event) error { return printEvent(o, fromFeed(event)) })
			if ctx.Err() != nil || errors.Is(err, context.Canceled) {
				return nil // Ctrl-C is how one stops following
			}
			return badCursor(err, since)
		}),
	}
	flags := c.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "go on with what happens")
	flags.StringVar(&job, "job", "", "only events of this job")
	flags.StringVar(&task, "task", "", "only events of this task")
	flags.StringVar(&since, "since", "", "go on after this `cursor`")
	flags.StringVar(&archive, "archive", "", "read this archived `partition`; list shows which there are")
	command.SettingFlags(c, false, "bucket", "events_export")
	command.LimitFlag(c, &limit)
	return c
}

// badCursor names the flag when the database refuses its value.
func badCursor(err error, since string) error {
	if err == nil || since == "" {
		return err
	}
	p := problem.Explain(err)
	if p.Kind == problem.Invalid {
		p.What = fmt.Sprintf("--since: %q is not a cursor of ours", since)
		p.Next = "start with 0.0, or go on after the cursor of an event: weir events -o json shows them"
	}
	return p
}

// printEvents prints what has happened already.
func printEvents(ctx context.Context, o *command.Output, s *app.Session, filter weir.Filter, since string, limit int, follow bool) error {
	var events []view.Event
	var err error
	switch {
	case since != "":
		events, err = work.EventsAfter(ctx, s.Operations, since, filter.Job, filter.Task, limit)
	case !filter.Task.IsZero():
		events, err = taskEvents(ctx, s, filter.Task)
		events = events[max(0, len(events)-limit):]
	default:
		events, err = work.LastEvents(ctx, s.Operations, filter.Job, limit)
	}
	if err != nil {
		return err
	}
	for _, event := range events {
		if err := printEvent(o, event); err != nil {
			return err
		}
	}
	if len(events) == 0 && !follow && o.Table() {
		o.Say("No events. See what happens with: weir events --follow")
	}
	return nil
}

// fromFeed is an event of the SDK in the form of the store.
func fromFeed(e weir.Event) view.Event {
	return view.Event{
		Cursor: string(e.Cursor), Seq: e.Seq, At: e.At, Type: e.Type, Kind: e.Kind, Subject: e.Subject, Job: e.Job, Task: e.Task, Attempt: e.Attempt,
		Worker: e.Worker, Source: e.Source, Level: e.Level, Message: e.Message, Data: e.Data,
	}
}

// printEvent prints one event: a line for a person, a line of JSON, a document
// of YAML, or its cursor.
func printEvent(o *command.Output, event view.Event) error {
	var err error
	switch o.Format {
	case "json":
		err = json.NewEncoder(o.Out).Encode(event)
	case "yaml":
		if _, err = fmt.Fprintln(o.Out, "---"); err == nil {
			err = o.Value(event)
		}
	case "name":
		_, err = fmt.Fprintln(o.Out, event.Cursor)
	default:
		_, err = fmt.Fprintln(o.Out, eventLine(o, event, true))
	}
	return err
}

// eventLine is an event as one line. The subject is left out where all events
// are about the same thing.
func eventLine(o *command.Output, e view.Event, subject bool) string {
	at := e.At.Local().Format("15:04:05.000")
	if o.Format == "wide" {
		at = command.Exact(e.At)
	}
	parts := []string{o.Paint(command.Dim, at), o.Paint(eventColor(e), fmt.Sprintf("%-10s", command.Clean(e.Type)))}
	if subject {
		name := command.Clean(e.Subject)
		if !e.Task.IsZero() && e.Kind == "task" {
			name = command.Short(e.Task)
		} else if !e.Job.IsZero() && e.Kind == "job" {
			name = command.Short(e.Job)
		}
		subject := fmt.Sprintf("%-4s %-12s", e.Kind, name)
		if o.Names != nil {
			subject += " " + o.Names(e)
		}
		parts = append(parts, subject)
	}
	var more []string
	if e.Attempt > 0 {
		more = append(more, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if e.Worker != "" {
		more = append(more, "on "+e.Worker)
	}
	if e.Source != "" {
		more = append(more, "by "+e.Source)
	}
	if text := eventText(e); text != "" {
		more = append(more, text)
	}
	return strings.TrimRight(strings.Join(append(parts, command.Clean(strings.Join(more, ", "))), "  "), " ")
}

// eventText is the message, and what progress or a new priority says.
func eventText(e view.Event) string {
	var data struct {
		Percent  float64
		Priority int
		Lines    int
	}
	known := e.Type == "progress" || e.Type == "priority" || e.Type == "log" && e.Message == ""
	switch {
	case !known || json.Unmarshal(e.Data, &data) != nil:
		return e.Message
	case e.Type == "log":
		return command.Plural(data.Lines, "line", "lines")
	case e.Type == "priority":
		return strings.TrimSpace(fmt.Sprintf("now %d %s", data.Priority, e.Message))
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f%% %s", data.Percent, e.Message))
}

func eventColor(e view.Event) string {
	if e.Level == "warn" || e.Level == "error" {
		return command.StateColor(e.Level)
	}
	switch e.Type {
	case "claimed", "submitted", "opened":
		return command.Blue
	case "gated", "retrying", "held":
		return command.Yellow
	}
	return command.StateColor(e.Type)
}
