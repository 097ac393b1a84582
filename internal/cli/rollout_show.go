package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
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

func (e *env) rolloutShow() *cobra.Command {
	var status, stage string
	var watch bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a rollout: stages, what they wait for, warnings, tasks", Args: e.args("ID"),
		Example: "  weir rollout show 8057b302099a\n  weir rollout show orders-2026-11 --status failed",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			if err := oneOf("status", strings.ToUpper(status), rollout.Statuses); err != nil {
				return err
			}
			id, err := findRollout(ctx, s, args[0])
			if err != nil {
				return err
			}
			o := e.output()
			if watch {
				return watchRollout(ctx, o, s, id)
			}
			page, err := readRollout(ctx, s, id)
			if err != nil {
				return err
			}
			page.narrow(strings.ToUpper(status), stage)
			return o.show(id.String(), page, func() error { return printRollout(o, page) })
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

func printRollout(o *output, p rolloutPage) error {
	parallel := ""
	if p.Parallel > 0 {
		parallel = plural(p.Parallel, "run", "runs") + " at once"
	}
	by := func(name, note string) string {
		return strings.TrimSuffix(strings.TrimSpace("by "+name+": "+note), ":")
	}
	if err := o.details([]field{
		{"Rollout", p.ID.String()},
		{"State", p.State},
		{"Why", p.Waits},
		{"Name", p.Name},
		{"Note", p.Note},
		{"Runs", runCounts(p.Counts)},
		{"Limit", parallel},
		{"Plan", p.Hash},
		{"Replaces", idText(p.Replaces)},
		{"Replaced by", idText(p.ReplacedBy)},
		{"Created", o.bothOf(&p.CreatedAt, by(p.By, ""))},
		{"Not before", o.bothOf(p.RunAt, "")},
		{"Started", o.bothOf(p.StartedAt, by(p.StartedBy, ""))},
		{"Paused", o.bothOf(p.PausedAt, by(p.PausedBy, p.PauseNote))},
		{"Aborted", o.bothOf(p.AbortedAt, by(p.AbortedBy, p.AbortNote))},
		{"Finished", o.bothOf(p.FinishedAt, "")},
	}); err != nil {
		return err
	}
	if err := stageListing.below(o, "", p.Stages); err != nil {
		return err
	}
	if len(p.Warnings) > 0 {
		o.title("Warnings")
		printWarnings(o, o.Out, plainWarnings(p.Warnings), "  ", map[string]bool{})
	}
	if err := runListing.below(o, "", p.Tasks); err != nil {
		return err
	}
	sayUnknown(o, p)
	return nil
}

// sayUnknown says what can be done about runs of which nobody knows the outcome.
func sayUnknown(o *output, p rolloutPage) {
	for _, t := range p.Tasks {
		if t.Status != rollout.Unknown {
			continue
		}
		o.say("%s of UNKNOWN outcome. Weir goes on asking the database, and settles what it can prove. If you know it, say so:\n"+
			"  weir rollout resolve %s --applied --reason TEXT, or --not-applied", plural(p.Counts.Unknown, "run is", "runs are"), short(t.ID))
		return
	}
}

var stageListing = listing[rollout.StageState]{
	name: func(s rollout.StageState) string { return s.Name },
	columns: []column[rollout.StageState]{
		{title: "STAGE", value: func(_ *output, s rollout.StageState) string { return s.Name }},
		{title: "STATE", value: func(_ *output, s rollout.StageState) string { return s.State }, paint: rolloutColor},
		{title: "DATABASES", value: func(_ *output, s rollout.StageState) string { return fmt.Sprint(s.Databases) }},
		{title: "RUNS", value: func(_ *output, s rollout.StageState) string {
			return fmt.Sprintf("%d/%d", endedRuns(s.Counts), s.Counts.Total)
		}},
		{title: "APPROVALS", value: func(_ *output, s rollout.StageState) string {
			if s.Approvals == 0 {
				return ""
			}
			var names []string
			for _, a := range s.Approved {
				names = append(names, a.By)
			}
			return strings.TrimSpace(fmt.Sprintf("%d/%d %s", len(names), s.Approvals, strings.Join(names, ", ")))
		}},
		{title: "BEGINS", value: func(_ *output, s rollout.StageState) string { return s.Promote }},
		{title: "ON FAILURE", value: func(_ *output, s rollout.StageState) string { return onFailure(s.OnFailure, s.MaxFailures) }},
		{title: "WHY", value: func(_ *output, s rollout.StageState) string { return s.Waits }},
	},
}

func onFailure(policy string, most int) string {
	if policy == rollout.OnFailureAtMost {
		return fmt.Sprintf("at most %d", most)
	}
	return policy
}

var runListing = listing[rollout.Task]{
	name: func(t rollout.Task) string { return t.ID.String() },
	columns: []column[rollout.Task]{
		{title: "TASK", value: func(_ *output, t rollout.Task) string { return t.Key }},
		{title: "ID", narrow: true, value: func(_ *output, t rollout.Task) string { return short(t.ID) }},
		{title: "ID", wide: true, value: func(_ *output, t rollout.Task) string { return t.ID.String() }},
		{title: "STATUS", value: func(_ *output, t rollout.Task) string { return t.Status }, paint: rolloutColor},
		{title: "CHANGE", value: func(_ *output, t rollout.Task) string { return t.Change }},
		{title: "KIND", wide: true, value: func(_ *output, t rollout.Task) string { return t.Kind }},
		{title: "ATTEMPT", value: func(_ *output, t rollout.Task) string {
			if t.Attempt == 0 {
				return ""
			}
			return fmt.Sprint(t.Attempt)
		}},
		{title: "WORKER", wide: true, value: func(_ *output, t rollout.Task) string { return t.Worker }},
		{title: "SINCE", ages: true, value: func(o *output, t rollout.Task) string { return o.ago(t.Since) }},
		{title: "CODE", value: func(_ *output, t rollout.Task) string { return t.Code }},
		{title: "CAUSE", value: runCause},
	},
}

// runCause is the one thing to know about a task where it stands.
func runCause(_ *output, t rollout.Task) string {
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
