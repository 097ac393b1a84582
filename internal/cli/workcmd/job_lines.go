package workcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// attempt is one try of a task.
type attempt struct {
	task weir.ID
	n    int
}

// jobLines prints the events of a job as they come and, if log is set, what its
// tasks print.
type jobLines struct {
	o   *command.Output
	s   *app.Session
	job weir.ID
	log bool
	// printed is how far the log of each attempt was printed.
	printed map[attempt]joblog.Place
	names   *taskNames
	// refused is set once it was told that logs cannot be read.
	refused bool
}

// watch prints until the job has ended and the event that says so was printed.
// A transaction elsewhere may hold that event back, and retention may have
// dropped it: then we do not wait long.
func (w *jobLines) watch(ctx context.Context) (view.Job, error) {
	over := false
	for cursor, left := "0.0", endWithin; ; {
		job, err := ShowJob(ctx, w.s, w.job)
		if err != nil {
			return job, err
		}
		events, err := work.EventsAfter(ctx, w.s.Operations, cursor, w.job, weir.ID{}, 500)
		if err != nil {
			return job, err
		}
		if err := w.name(ctx, events); err != nil {
			return job, err
		}
		for _, event := range events {
			if err := w.print(ctx, event); err != nil {
				return job, err
			}
			cursor = event.Cursor
			over = event.Kind == "job" && weir.State(event.Type).Ended()
		}
		if job.Ended() {
			left -= command.LookEvery
		}
		switch {
		case len(events) > 0:
		case job.Ended() && (over || left < 0):
			return job, nil
		case !loop.Wait(ctx, command.LookEvery, nil):
			return job, context.Cause(ctx)
		}
	}
}

// name learns how the tasks are called. A job may get more of them as it runs.
func (w *jobLines) name(ctx context.Context, events []view.Event) error {
	known := w.names != nil
	for _, event := range events {
		known = known && (event.Task.IsZero() || w.names.byID[event.Task] != "")
	}
	if known {
		return nil
	}
	page, err := readJob(ctx, w.s, w.job)
	if err == nil {
		w.names = namesOf(page.Tasks)
		w.o.Names = w.names.of
	}
	return err
}

// print prints an event. One that says that a log has grown is for those who
// want the log, and for programs.
func (w *jobLines) print(ctx context.Context, event view.Event) error {
	if event.Type != "log" || event.Kind != "task" {
		return printEvent(w.o, event)
	}
	if !w.log {
		if w.o.Data() {
			return printEvent(w.o, event)
		}
		return nil
	}
	return w.printLog(ctx, event)
}

// jobLogLine is a line of a log among the events of a job, for programs.
type jobLogLine struct {
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
	Task    weir.ID   `json:"task"`
	Key     string    `json:"key,omitempty"`
	Attempt int       `json:"attempt"`
	Stream  string    `json:"stream"`
	Text    string    `json:"text"`
}

// printLog prints what an attempt has printed since we looked last. A log that
// cannot be read does not end the watch.
func (w *jobLines) printLog(ctx context.Context, event view.Event) error {
	which := attempt{event.Task, event.Attempt}
	key := w.names.byID[event.Task]
	for line, err := range w.s.Log(ctx, event.Task, event.Attempt, w.printed[which], false) {
		if err != nil {
			if !w.refused {
				w.refused = true
				p := problem.Explain(err)
				w.o.Say("What tasks print cannot be read: %s\n%s", command.Clean(p.What), command.Clean(p.Advice()))
			}
			return nil
		}
		w.printed[which] = line.Place
		if err := w.printLine(event, key, line); err != nil {
			return err
		}
	}
	return nil
}

func (w *jobLines) printLine(event view.Event, key string, line joblog.Line) error {
	if w.o.Format == "json" {
		return json.NewEncoder(w.o.Out).Encode(jobLogLine{"line", line.At, event.Task, key, event.Attempt, line.Stream, line.Text})
	}
	if !w.o.Table() {
		return nil
	}
	_, err := fmt.Fprintf(w.o.Out, "%s  %s %s\n", w.o.Paint(command.Dim, line.At.Local().Format("15:04:05.000")), w.o.Paint(command.Blue, command.Clean(key)+" |"), logText(w.o, line))
	return err
}
