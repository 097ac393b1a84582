package workcmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

// taskPage is everything about a task.
type taskPage struct {
	view.Task
	Why    []work.Reason `json:"why"`
	Events []view.Event  `json:"events"`
}

func taskShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show a task: what it is, why it is there, what happened"}
	read := func(ctx context.Context, s *app.Session, text string) (page taskPage, err error) {
		id, err := FindTask(ctx, s, text)
		if err != nil {
			return page, err
		}
		return readTask(ctx, s, id)
	}
	return command.Shows(e, c, read, func(p taskPage) string { return p.ID.String() }, printTask)
}

func printTask(o *command.Output, p taskPage) error {
	if err := o.Details(taskFields(o, p.Task)); err != nil {
		return err
	}
	if len(p.Why) > 0 && !weir.State(p.State).Ended() {
		o.Title("Why")
		PrintWhy(o, p.Why)
	}
	o.Title("Timeline")
	for _, event := range p.Events {
		fmt.Fprintf(o.Out, "  %s\n", eventLine(o, event, false))
	}
	return nil
}

func taskFields(o *command.Output, t view.Task) []command.Field {
	fields := []command.Field{
		{"Task", t.ID.String()},
		{"State", string(t.State)},
		{"Service", t.Service},
		{"Note", taskNote(t)},
		{"Key", t.Key},
		{"Job", command.IDText(t.Job)},
		{"Priority", fmt.Sprint(t.Priority)},
		{"Attempt", fmt.Sprintf("%d of %d", t.Attempt, max(t.MaxAttempts, t.Attempt))},
		{"Labels", command.Labels(t.Labels)},
		{"Lane", t.Lane},
		{"Rank", number(t.Rank)},
		{"Pool", t.Pool},
		{"Held by", t.Hold},
		{"Unique key", t.UniqueKey},
		{"Timeout", command.Interval(t.Timeout)},
		{"Worker", t.Worker},
		{"Created", o.Both(t.CreatedAt)},
		{"Not before", o.Both(t.RunAt)},
		{"Started", o.Both(t.StartedAt)},
		{"Leased until", o.Both(t.Until)},
		{"Deadline", o.Both(t.Deadline)},
		{"Finished", o.Both(t.FinishedAt)},
		{"Params", command.Pretty(t.Params)},
		{"Result", command.Pretty(t.Result)},
	}
	return slices.DeleteFunc(fields, func(f command.Field) bool { return f[0] == "Note" && f[1] == t.Hold })
}

// number is a number that may not be there.
func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}
