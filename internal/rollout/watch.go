package rollout

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout/target"
)

// The events of a run beside those of the engine.
const (
	eventStatement = "statement"
	eventWaiting   = "waiting"
	eventRetry     = "retry"
)

const (
	// sayFor bounds a line of the log: the transaction in the target waits for it.
	sayFor = 5 * time.Second
	// noticesMost bounds what a statement may add to the log.
	noticesMost, noticeMost = 20, 500
)

var tries = regexp.MustCompile(`\btry \d+ of \d+`)

// watch writes down what a run does, under its lease.
type watch struct {
	*executor
	lease
	sql string
}

// Phase is written before the act. Whoever finds the lease gone does not act.
func (w *watch) Phase(ctx context.Context, p target.Phase) error {
	ours, err := w.phase(ctx, w.lease, string(p))
	if err != nil {
		return fmt.Errorf("write down that the run is %s: %w", p, err)
	}
	if !ours {
		return fmt.Errorf("phase %s: %w", p, weir.ErrLeaseLost)
	}
	return nil
}

func (w *watch) Statement(ctx context.Context, s target.StatementDone) {
	if len(s.Notices) > noticesMost {
		s.Notices = append(s.Notices[:noticesMost:noticesMost], fmt.Sprintf("and %d more", len(s.Notices)-noticesMost))
	}
	for i, n := range s.Notices {
		s.Notices[i] = n[:min(len(n), noticeMost)]
	}
	lines := fmt.Sprintf("line %d", s.Line)
	if s.EndLine > s.Line {
		lines = fmt.Sprintf("lines %d–%d", s.Line, s.EndLine)
	}
	w.say(ctx, eventStatement, fmt.Sprintf("%s: %s", lines, cmp.Or(s.Tag, "statement")), s)
}

func (w *watch) Waiting(ctx context.Context, what string) {
	kind := eventWaiting
	if tries.MatchString(what) {
		kind = eventRetry
	}
	w.say(ctx, kind, what, nil)
}

// say adds a line to the log. The run goes on without it: its phases are what counts.
func (w *watch) say(ctx context.Context, kind, message string, data any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sayFor)
	defer cancel()
	if _, err := w.record(ctx, w.lease, kind, "", message, data); err != nil {
		w.log.Warn("a line of a run's log is missing", "task", w.task, "type", kind, "error", err)
	}
}
