package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

// taskPage is everything about a task.
type taskPage struct {
	view.Task
	Why    []work.Reason `json:"why"`
	Events []view.Event  `json:"events"`
}

func (e *env) taskShow() *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show a task: what it is, why it is there, what happened"}
	read := func(ctx context.Context, s *app.Session, text string) (page taskPage, err error) {
		id, err := findTask(ctx, s, text)
		if err != nil {
			return page, err
		}
		return readTask(ctx, s, id)
	}
	return shows(e, c, read, func(p taskPage) string { return p.ID.String() }, printTask)
}

func printTask(o *output, p taskPage) error {
	if err := o.details(taskFields(o, p.Task)); err != nil {
		return err
	}
	if len(p.Why) > 0 && !weir.State(p.State).Ended() {
		o.title("Why")
		printWhy(o, p.Why)
	}
	o.title("Timeline")
	for _, event := range p.Events {
		fmt.Fprintf(o.Out, "  %s\n", eventLine(o, event, false))
	}
	return nil
}

func taskFields(o *output, t view.Task) []field {
	fields := []field{
		{"Task", t.ID.String()},
		{"State", string(t.State)},
		{"Service", t.Service},
		{"Note", taskNote(t)},
		{"Key", t.Key},
		{"Job", idText(t.Job)},
		{"Priority", fmt.Sprint(t.Priority)},
		{"Attempt", fmt.Sprintf("%d of %d", t.Attempt, max(t.MaxAttempts, t.Attempt))},
		{"Labels", labels(t.Labels)},
		{"Lane", t.Lane},
		{"Rank", number(t.Rank)},
		{"Pool", t.Pool},
		{"Held by", t.Hold},
		{"Unique key", t.UniqueKey},
		{"Timeout", interval(t.Timeout)},
		{"Worker", t.Worker},
		{"Created", o.both(t.CreatedAt)},
		{"Not before", o.both(t.RunAt)},
		{"Started", o.both(t.StartedAt)},
		{"Leased until", o.both(t.Until)},
		{"Deadline", o.both(t.Deadline)},
		{"Finished", o.both(t.FinishedAt)},
		{"Params", pretty(t.Params)},
		{"Result", pretty(t.Result)},
	}
	return slices.DeleteFunc(fields, func(f field) bool { return f[0] == "Note" && f[1] == t.Hold })
}
