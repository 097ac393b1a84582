package rolloutcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/rollout"
)

// rolloutPage is everything about a rollout.
type rolloutPage struct {
	rollout.Rollout
	Tasks []rollout.Task `json:"tasks"`
}

func readRollout(ctx context.Context, s *app.Session, id weir.ID) (page rolloutPage, err error) {
	if page.Rollout, err = rollout.Show.Call(ctx, s.Operations, &rollout.Named{Rollout: id.String()}); err != nil {
		return page, err
	}
	page.Tasks, err = op.Each(ctx, s.Operations, rollout.ListTasks, rollout.ListingTasks{Named: rollout.Named{Rollout: id.String()}})
	return page, err
}

func rolloutShow(e *command.Env) *cobra.Command {
	var status, stage string
	var watch bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a rollout: stages, what they wait for, warnings, tasks", Args: e.Args("ID"),
		Example: "  weir rollout show 8057b302099a\n  weir rollout show orders-2026-11 --status failed",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := command.OneOf("status", strings.ToUpper(status), rollout.Statuses); err != nil {
				return err
			}
			id, err := findRollout(ctx, s, args[0])
			if err != nil {
				return err
			}
			o := e.Output()
			if watch {
				return watchRollout(ctx, o, s, id)
			}
			page, err := readRollout(ctx, s, id)
			if err != nil {
				return err
			}
			page.narrow(strings.ToUpper(status), stage)
			return o.Show(id.String(), page, func() error { return printRollout(o, page) })
		}),
	}
	c.Flags().StringVar(&status, "status", "", "only tasks of this status: "+strings.ToLower(strings.Join(rollout.Statuses, ", ")))
	c.Flags().StringVar(&stage, "stage", "", "only tasks of this stage")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "watch it until it has ended, as weir rollout watch does")
	return c
}

func (p *rolloutPage) narrow(status, stage string) {
	found := []rollout.Task{}
	for _, t := range p.Tasks {
		if (status == "" || t.Status == status) && (stage == "" || t.Stage == stage) {
			found = append(found, t)
		}
	}
	p.Tasks = found
}

func printRollout(o *command.Output, p rolloutPage) error {
	parallel := ""
	if p.Parallel > 0 {
		parallel = command.Plural(p.Parallel, "run", "runs") + " at once"
	}
	by := func(name, note string) string {
		return strings.TrimSuffix(strings.TrimSpace("by "+name+": "+note), ":")
	}
	if err := o.Details([]command.Field{
		{"Rollout", p.ID.String()},
		{"State", p.State},
		{"Why", p.Waits},
		{"Name", p.Name},
		{"Note", p.Note},
		{"Runs", runCounts(p.Counts)},
		{"Limit", parallel},
		{"Plan", p.Hash},
		{"Replaces", command.IDText(p.Replaces)},
		{"Replaced by", command.IDText(p.ReplacedBy)},
		{"Created", o.BothOf(&p.CreatedAt, by(p.By, ""))},
		{"Not before", o.BothOf(p.RunAt, "")},
		{"Started", o.BothOf(p.StartedAt, by(p.StartedBy, ""))},
		{"Paused", o.BothOf(p.PausedAt, by(p.PausedBy, p.PauseNote))},
		{"Aborted", o.BothOf(p.AbortedAt, by(p.AbortedBy, p.AbortNote))},
		{"Finished", o.BothOf(p.FinishedAt, "")},
	}); err != nil {
		return err
	}
	if err := stageListing.Below(o, "", p.Stages); err != nil {
		return err
	}
	if len(p.Warnings) > 0 {
		o.Title("Warnings")
		printWarnings(o, o.Out, plainWarnings(p.Warnings), "  ", map[string]bool{})
	}
	if err := runListing.Below(o, "", p.Tasks); err != nil {
		return err
	}
	sayUnknown(o, p)
	return nil
}

// sayUnknown says what can be done about runs of which nobody knows the outcome.
func sayUnknown(o *command.Output, p rolloutPage) {
	for _, t := range p.Tasks {
		if t.Status != rollout.Unknown {
			continue
		}
		o.Say("%s of UNKNOWN outcome. Weir goes on asking the database, and settles what it can prove. If you know it, say so:\n"+
			"  weir rollout resolve %s --applied --reason TEXT, or --not-applied", command.Plural(p.Counts.Unknown, "run is", "runs are"), command.Short(t.ID))
		return
	}
}

var stageListing = command.Listing[rollout.StageState]{
	Name: func(s rollout.StageState) string { return s.Name },
	Columns: []command.Column[rollout.StageState]{
		{Title: "STAGE", Value: func(_ *command.Output, s rollout.StageState) string { return s.Name }},
		{Title: "STATE", Value: func(_ *command.Output, s rollout.StageState) string { return s.State }, Paint: rolloutColor},
		{Title: "DATABASES", Value: func(_ *command.Output, s rollout.StageState) string { return fmt.Sprint(s.Databases) }},
		{Title: "RUNS", Value: func(_ *command.Output, s rollout.StageState) string {
			return fmt.Sprintf("%d/%d", endedRuns(s.Counts), s.Counts.Total)
		}},
		{Title: "APPROVALS", Value: func(_ *command.Output, s rollout.StageState) string {
			if s.Approvals == 0 {
				return ""
			}
			var names []string
			for _, a := range s.Approved {
				names = append(names, a.By)
			}
			return strings.TrimSpace(fmt.Sprintf("%d/%d %s", len(names), s.Approvals, strings.Join(names, ", ")))
		}},
		{Title: "BEGINS", Value: func(_ *command.Output, s rollout.StageState) string { return s.Promote }},
		{Title: "ON FAILURE", Value: func(_ *command.Output, s rollout.StageState) string { return onFailure(s.OnFailure, s.MaxFailures) }},
		{Title: "WHY", Value: func(_ *command.Output, s rollout.StageState) string { return s.Waits }},
	},
}

func onFailure(policy string, most int) string {
	if policy == rollout.OnFailureAtMost {
		return fmt.Sprintf("at most %d", most)
	}
	return policy
}

var runListing = command.Listing[rollout.Task]{
	Name: func(t rollout.Task) string { return t.ID.String() },
	Columns: []command.Column[rollout.Task]{
		{Title: "TASK", Value: func(_ *command.Output, t rollout.Task) string { return t.Key }},
		{Title: "ID", Value: func(o *command.Output, t rollout.Task) string { return o.ID(t.ID) }},
		{Title: "STATUS", Value: func(_ *command.Output, t rollout.Task) string { return t.Status }, Paint: rolloutColor},
		{Title: "CHANGE", Value: func(_ *command.Output, t rollout.Task) string { return t.Change }},
		{Title: "KIND", Wide: true, Value: func(_ *command.Output, t rollout.Task) string { return t.Kind }},
		{Title: "ATTEMPT", Value: func(_ *command.Output, t rollout.Task) string {
			if t.Attempt == 0 {
				return ""
			}
			return fmt.Sprint(t.Attempt)
		}},
		{Title: "WORKER", Wide: true, Value: func(_ *command.Output, t rollout.Task) string { return t.Worker }},
		{Title: "SINCE", Ages: true, Value: func(o *command.Output, t rollout.Task) string { return o.Ago(t.Since) }},
		{Title: "CODE", Value: func(_ *command.Output, t rollout.Task) string { return t.Code }},
		{Title: "CAUSE", Value: runCause},
	},
}

// runCause is the one thing to know about a task where it stands.
func runCause(_ *command.Output, t rollout.Task) string {
	switch {
	case t.Stopping:
		return "asked to stop"
	case t.Cause != "":
		return t.Cause
	case t.Error != "":
		return t.Error
	}
	return ""
}
