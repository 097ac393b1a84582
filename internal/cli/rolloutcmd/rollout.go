package rolloutcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/rollout"
)

// Rollout is the command weir rollout.
func Rollout(e *command.Env) *cobra.Command {
	return e.Noun("rollout", "Change databases, stage by stage", []string{"rollouts"},
		rolloutInit(e), rolloutPlan(e), rolloutCreate(e), rolloutList(e), rolloutShow(e), rolloutRun(e), rolloutWatch(e),
		onRollout(e, rollout.Pause, "Rollout", "", "  weir rollout pause 8057b302099a --note 'the shop is busy'"),
		onRollout(e, rollout.Resume, "Rollout", "", ""),
		onRollout(e, rollout.Abort, "Rollout", "", "  weir rollout abort 8057b302099a --reason 'the release was called off'"),
		onRollout(e, rollout.Promote, "Rollout", "", ""), rolloutApprove(e), onRollout(e, rollout.Revoke, "Rollout", "", ""), rolloutRetry(e),
		onRollout(e, rollout.Skip, "Task", "", "  weir rollout skip orders-2026-11/prod/orders-eu/7 --reason 'done by hand'"),
		onRollout(e, rollout.Cancel, "Task", "", "  weir rollout cancel orders-2026-11/prod/orders-eu/7"),
		keyed(e, onRollout(e, rollout.Resolve, "Task", "",
			"  weir rollout resolve orders-2026-11/prod/orders-eu/7 --applied --reason 'the column is there'\n  weir rollout resolve 8057b302099a --not-applied --reason 'the index is missing'")),
		rolloutLog(e))
}

func rolloutList(e *command.Env) *cobra.Command {
	return command.Lists(e, rollout.List, &cobra.Command{Example: "  weir rollout list --state waiting\n  weir rollout list --database orders-eu --watch"}, rolloutListing)
}

var rolloutListing = command.Listing[rollout.Rollout]{
	Name:  func(r rollout.Rollout) string { return r.ID.String() },
	Empty: []string{"There are no rollouts yet.", "Begin with: weir rollout init, then weir rollout plan rollout.yaml"},
	Columns: []command.Column[rollout.Rollout]{
		{Title: "ID", Value: func(o *command.Output, r rollout.Rollout) string { return o.ID(r.ID) }},
		{Title: "STATE", Value: func(_ *command.Output, r rollout.Rollout) string { return r.State }, Paint: rolloutColor},
		{Title: "NAME", Value: func(_ *command.Output, r rollout.Rollout) string { return r.Name }},
		{Title: "RUNS", Value: func(_ *command.Output, r rollout.Rollout) string {
			return fmt.Sprintf("%d/%d", endedRuns(r.Counts), r.Counts.Total)
		}},
		{Title: "FAILED", Value: func(_ *command.Output, r rollout.Rollout) string { return fmt.Sprint(r.Counts.Failed) }},
		{Title: "UNKNOWN", Value: func(_ *command.Output, r rollout.Rollout) string { return fmt.Sprint(r.Counts.Unknown) }},
		{Title: "BY", Value: func(_ *command.Output, r rollout.Rollout) string { return r.By }},
		{Title: "HASH", Wide: true, Value: func(_ *command.Output, r rollout.Rollout) string { return r.Hash }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, r rollout.Rollout) string { return o.Ago(r.CreatedAt) }},
		{Title: "WHY", Value: func(_ *command.Output, r rollout.Rollout) string {
			if r.Counts.Unknown > 0 {
				return strings.TrimPrefix(r.Waits+"; see weir rollout show "+command.Short(r.ID)+" --status unknown", "; ")
			}
			return r.Waits
		}},
	},
}

// rolloutColor is the colour of a state of a rollout or a status of a task.
func rolloutColor(s string) string {
	switch s {
	case rollout.StateNotStarted, rollout.NotStarted, rollout.Canceled, rollout.Skipped:
		return command.Dim
	case rollout.StateWaiting, rollout.Pending, rollout.Unknown:
		return command.Yellow
	case rollout.Available:
		return cyan
	}
	return command.StateColor(strings.ToLower(s))
}

func endedRuns(c rollout.Counts) int { return c.Done + c.Failed + c.Canceled + c.Unknown + c.Skipped }

func runCounts(c rollout.Counts) string {
	return command.EndedWords(endedRuns(c), c.Total, command.Count{N: c.Running, Word: "running"}, command.Count{N: c.Available, Word: "available"}, command.Count{N: c.Pending, Word: "pending"}, command.Count{N: c.Done, Word: "done"}, command.Count{N: c.Failed, Word: "failed"},
		command.Count{N: c.Unknown, Word: "unknown"}, command.Count{N: c.Canceled, Word: "canceled"}, command.Count{N: c.Skipped, Word: "skipped"})
}

// findRollout reads which rollout is meant.
func findRollout(ctx context.Context, s *app.Session, text string) (weir.ID, error) {
	r, err := rollout.Show.Call(ctx, s.Operations, &rollout.Named{Rollout: text})
	return r.ID, err
}

// RolloutIDs are those of rollouts.
var RolloutIDs = command.Listed(rollout.List, func(r rollout.Rollout) (string, string) { return command.Short(r.ID), r.State + ": " + r.Name })

// cyan is the colour of what may start and waits for nothing.
const cyan = "36"
