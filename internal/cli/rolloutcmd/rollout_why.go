package rolloutcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/cli/workcmd"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/work"
)

// PrintRolloutWhy says what a rollout waits for, and what each of its stages does.
func PrintRolloutWhy(o *command.Output, r rollout.Rollout) error {
	reasons := rolloutReasons(r)
	if !o.Table() {
		return workcmd.PrintReasons(o, reasons)
	}
	fmt.Fprintf(o.Out, "Rollout %s (%s) is %s: %s.\n", command.Short(r.ID), command.Clean(r.Name), o.Paint(rolloutColor(r.State), r.State), runCounts(r.Counts))
	if len(reasons) == 0 {
		fmt.Fprintln(o.Out, "  It waits for nothing.")
	}
	workcmd.PrintWhy(o, reasons)
	if r.FinishedAt == nil && r.Counts.Pending+r.Counts.Failed+r.Counts.Unknown > 0 {
		o.Say("Each task says what it waits for in: weir rollout show %s", command.Short(r.ID))
	}
	return nil
}

// rolloutReasons are the gates of a rollout: its own, then those of its stages.
func rolloutReasons(r rollout.Rollout) []work.Reason {
	reasons := []work.Reason{}
	var since time.Time
	switch {
	case r.PausedAt != nil:
		since = *r.PausedAt
	case r.StartedAt == nil:
		since = r.CreatedAt
	}
	if r.Waits != "" {
		one := work.Reason{Gate: "rollout", Open: r.State == rollout.StateRunning || r.FinishedAt != nil, Text: r.Waits, Since: since}
		if r.Reason != nil {
			one.Code, one.Args = r.Reason.Code, r.Reason.Args
		}
		reasons = append(reasons, one)
	}
	if r.FinishedAt != nil {
		return reasons
	}
	for _, s := range r.Stages {
		open := s.State == rollout.StateRunning || s.State == rollout.StateDone
		said := strings.TrimSuffix(fmt.Sprintf("stage %s is %s, %s: %s", s.Name, strings.ReplaceAll(s.State, "_", " "), runCounts(s.Counts), s.Waits), ": ")
		reasons = append(reasons, work.Reason{Gate: "stage", Open: open, Text: said})
	}
	return reasons
}
