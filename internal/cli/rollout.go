package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/rollout"
)

func (e *env) rollout() *cobra.Command {
	return e.noun("rollout", "Change databases, stage by stage", []string{"rollouts"},
		e.rolloutInit(), e.rolloutPlan(), e.rolloutCreate(), e.rolloutList(), e.rolloutShow(), e.rolloutRun(), e.rolloutWatch(),
		onRollout(e, rollout.Pause, "Rollout", "", "  weir rollout pause 8057b302099a --note 'the shop is busy'"),
		onRollout(e, rollout.Resume, "Rollout", "", ""),
		onRollout(e, rollout.Abort, "Rollout", "", "  weir rollout abort 8057b302099a --reason 'the release was called off'"),
		onRollout(e, rollout.Promote, "Rollout", "", ""), e.rolloutApprove(), onRollout(e, rollout.Revoke, "Rollout", "", ""), e.rolloutRetry(),
		onRollout(e, rollout.Skip, "Task", "", "  weir rollout skip orders-2026-11/prod/orders-eu/7 --reason 'done by hand'"),
		onRollout(e, rollout.Cancel, "Task", "", "  weir rollout cancel orders-2026-11/prod/orders-eu/7"),
		e.keyed(onRollout(e, rollout.Resolve, "Task", "",
			"  weir rollout resolve orders-2026-11/prod/orders-eu/7 --applied --reason 'the column is there'\n  weir rollout resolve 8057b302099a --not-applied --reason 'the index is missing'")),
		e.rolloutLog())
}

func (e *env) rolloutList() *cobra.Command {
	return lists(e, rollout.List, &cobra.Command{Example: "  weir rollout list --state waiting\n  weir rollout list --database orders-eu --watch"}, rolloutListing)
}

var rolloutListing = listing[rollout.Rollout]{
	name:  func(r rollout.Rollout) string { return r.ID.String() },
	empty: []string{"There are no rollouts yet.", "Begin with: weir rollout init, then weir rollout plan rollout.yaml"},
	columns: []column[rollout.Rollout]{
		{title: "ID", narrow: true, value: func(_ *output, r rollout.Rollout) string { return short(r.ID) }},
		{title: "ID", wide: true, value: func(_ *output, r rollout.Rollout) string { return r.ID.String() }},
		{title: "STATE", value: func(_ *output, r rollout.Rollout) string { return r.State }, paint: rolloutColor},
		{title: "NAME", value: func(_ *output, r rollout.Rollout) string { return r.Name }},
		{title: "RUNS", value: func(_ *output, r rollout.Rollout) string {
			return fmt.Sprintf("%d/%d", endedRuns(r.Counts), r.Counts.Total)
		}},
		{title: "FAILED", value: func(_ *output, r rollout.Rollout) string { return fmt.Sprint(r.Counts.Failed) }},
		{title: "UNKNOWN", value: func(_ *output, r rollout.Rollout) string { return fmt.Sprint(r.Counts.Unknown) }},
		{title: "BY", value: func(_ *output, r rollout.Rollout) string { return r.By }},
		{title: "HASH", wide: true, value: func(_ *output, r rollout.Rollout) string { return r.Hash }},
		{title: "CREATED", ages: true, value: func(o *output, r rollout.Rollout) string { return o.ago(r.CreatedAt) }},
		{title: "WHY", value: func(_ *output, r rollout.Rollout) string {
			if r.Counts.Unknown > 0 {
				return strings.TrimPrefix(r.Waits+"; see weir rollout show "+short(r.ID)+" --status unknown", "; ")
			}
			return r.Waits
		}},
	},
}

// rolloutColor is the colour of a state of a rollout or a status of a task.
func rolloutColor(s string) string {
	switch s {
	case rollout.StateNotStarted, rollout.NotStarted, rollout.Canceled, rollout.Skipped:
		return dim
	case rollout.StateWaiting, rollout.Pending, rollout.Unknown:
		return yellow
	case rollout.Available:
		return cyan
	}
	return stateColor(strings.ToLower(s))
}

func endedRuns(c rollout.Counts) int { return c.Done + c.Failed + c.Canceled + c.Unknown + c.Skipped }

func runCounts(c rollout.Counts) string {
	return endedWords(endedRuns(c), c.Total, count{c.Running, "running"}, count{c.Available, "available"}, count{c.Pending, "pending"}, count{c.Done, "done"}, count{c.Failed, "failed"},
		count{c.Unknown, "unknown"}, count{c.Canceled, "canceled"}, count{c.Skipped, "skipped"})
}

// findRollout reads which rollout is meant.
func findRollout(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	r, err := rollout.Show.Call(ctx, s.Operations, &rollout.Named{Rollout: text})
	return r.ID, err
}

var rolloutIDs = listed(rollout.List, func(r rollout.Rollout) (string, string) { return short(r.ID), r.State + ": " + r.Name })
