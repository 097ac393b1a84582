package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/work"
)

// printRolloutWhy says what a rollout waits for, and what each of its stages does.
func (e *env) printRolloutWhy(r rollout.Rollout) error {
	o, reasons := e.output(), rolloutReasons(r)
	if !o.table() {
		return printReasons(o, reasons)
	}
	fmt.Fprintf(o.Out, "Rollout %s (%s) is %s: %s.\n", short(r.ID), clean(r.Name), o.paint(rolloutColor(r.State), r.State), runCounts(r.Counts))
	if len(reasons) == 0 {
		fmt.Fprintln(o.Out, "  It waits for nothing.")
	}
	printWhy(o, reasons)
	if r.FinishedAt == nil && r.Counts.Pending+r.Counts.Failed+r.Counts.Unknown > 0 {
		o.say("Each task says what it waits for in: weir rollout show %s", short(r.ID))
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
