package rollout

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout/target"
)

// The events of a run beside those of the engine.
const (
	eventStatement = "statement"
	eventWaiting   = "waiting"
	eventRetry     = "retry"
	eventNote      = "note"     // what the run does beside the change
	eventPartial   = "partial"  // what of a run that failed stays
	eventReplayed  = "replayed" // it was applied before
)

const (
	// sayFor bounds a line of the log: the transaction in the target waits for it.
	sayFor = 5 * time.Second
	// noticesMost bounds what a statement may add to the log.
	noticesMost, noticeMost = 20, 500
	// soon is a lock timeout after which a wait is over before anybody reads of it:
	// the line of the try that failed tells who was in the way.
	soon = 2 * time.Second
)

var tries = regexp.MustCompile(`\btry \d+ of \d+`)

// watch writes down what a run does, under its lease. Its last word while it waits is
// what people see as the cause.
type watch struct {
	*executor
	lease
	// soon: a wait for a lock ends soon, one way or the other. sent: the change is
	// under way, so what it waits for is a lock.
	soon, sent bool
	// last is its last word; empty: it waits for nothing.
	last string
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
	w.sent, w.last = p == target.PhaseSent, ""
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
	w.say(ctx, w.lease, eventStatement, fmt.Sprintf("%s: %s", lines, cmp.Or(s.Tag, "statement")), logged(s), false)
	w.last = ""
}

// Waiting makes one line of each try: who is in the way is seen at once, but a line of
// its own only if no other will name them.
func (w *watch) Waiting(ctx context.Context, what string) {
	by, waits := strings.CutPrefix(what, "waits for ")
	kind, quiet := eventWaiting, false
	switch {
	case tries.MatchString(what):
		kind = eventRetry
	case !waits:
		kind = eventNote
	case w.sent && strings.Contains(w.last, by):
		return // the try before has named them
	default:
		quiet = w.sent && w.soon
	}
	w.say(ctx, w.lease, kind, what, nil, quiet)
	w.last = what
}

// say adds a line to the log. The run goes on without it: its phases are what counts.
func (e *executor) say(ctx context.Context, l lease, kind, message string, data any, quiet bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sayFor)
	defer cancel()
	if _, err := e.says(ctx, l, kind, message, data, quiet); err != nil {
		e.log.Warn("a line of a run's log is missing", "task", l.task, "type", kind, "error", err)
	}
}
