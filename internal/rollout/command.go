package rollout

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// Answer is what a command did. A refused command is a *problem.Problem instead.
type Answer struct {
	// Changed: something is other than before. False: it was so already, as Text says.
	Changed bool   `json:"changed"`
	Text    string `json:"text"`
}

// Start lets the first stage begin.
func (s *Store) Start(ctx context.Context, by string, id weir.ID) (Answer, error) {
	return command(ctx, s.pool, "start rollout", startSQL, id, by)
}

// Pause lets nothing new start. What runs goes on.
func (s *Store) Pause(ctx context.Context, by string, id weir.ID, note string) (Answer, error) {
	return command(ctx, s.pool, "pause rollout", pauseSQL, id, by, note)
}

// Resume ends a pause.
func (s *Store) Resume(ctx context.Context, by string, id weir.ID) (Answer, error) {
	return command(ctx, s.pool, "resume rollout", resumeSQL, id, by)
}

// Abort cancels what waits and asks what runs to stop. It cannot be taken back.
func (s *Store) Abort(ctx context.Context, by string, id weir.ID, reason string) (Answer, error) {
	return command(ctx, s.pool, "abort rollout", abortSQL, id, by, reason)
}

// Promote lets a stage begin that waits for a person to look at the one before.
func (s *Store) Promote(ctx context.Context, by string, id weir.ID, stage string) (Answer, error) {
	return command(ctx, s.pool, "promote stage", promoteSQL, id, by, stage)
}

// Approve says yes to a stage of the plan as it is.
func (s *Store) Approve(ctx context.Context, by string, id weir.ID, stage, note string) (Answer, error) {
	return command(ctx, s.pool, "approve stage", approveSQL, id, by, stage, note)
}

// Revoke takes an approval of one's own back, as long as the stage has not begun.
func (s *Store) Revoke(ctx context.Context, by string, id weir.ID, stage string) (Answer, error) {
	return command(ctx, s.pool, "revoke approval", revokeSQL, id, by, stage)
}

// Retry runs a task again that failed or was canceled. Clicked twice it is one run.
func (s *Store) Retry(ctx context.Context, by string, task weir.ID) (Answer, error) {
	return command(ctx, s.pool, "retry run", retrySQL, task, by)
}

// Skip decides that a task need not run. It needs a reason, and cannot be taken back.
func (s *Store) Skip(ctx context.Context, by string, task weir.ID, reason string) (Answer, error) {
	return command(ctx, s.pool, "skip task", skipSQL, task, by, reason)
}

// Cancel cancels the run of a task: what waits ends at once, what runs is asked to
// stop.
func (s *Store) Cancel(ctx context.Context, by string, task weir.ID, reason string) (Answer, error) {
	return command(ctx, s.pool, "cancel run", cancelSQL, task, by, reason)
}

// Resolve says what became of an UNKNOWN run: it was applied (the database's history
// gets its row, and the task ends DONE without running it), or it was not (the task is
// FAILED, and may be retried).
func (s *Store) Resolve(ctx context.Context, by string, task weir.ID, applied bool, reason string) (Answer, error) {
	if reason == "" {
		return Answer{}, problem.Refuse("reason", "say how you know", "it is empty")
	}
	unmarked, err := s.mark(ctx, by, task, applied, reason)
	if err != nil {
		return Answer{}, err
	}
	a, err := command(ctx, s.pool, "resolve run", resolveSQL, task, by, applied, reason)
	if err == nil && unmarked != nil {
		a.Text += "; the database could not be told: " + said(unmarked)
	}
	return a, err
}

// mark tells the database what a person found out about an unknown run: its history
// gets the row, so that the next attempt finds it, or the mark of a step that began is
// taken back. Of any other run nothing is written: the command that follows refuses it.
// A database that is gone keeps nobody from saying that nothing was applied (unmarked).
func (s *Store) mark(ctx context.Context, by string, task weir.ID, applied bool, reason string) (unmarked, err error) {
	list, err := s.mysteries(ctx, ofTask, task)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	m := list[0]
	run, err := m.run()
	if err != nil {
		return nil, err
	}
	t, err := s.connect(ctx, m.engine, m.secret)
	if err == nil {
		defer t.Close()
		err = isOne(ctx, t, m.database, m.identity)
	}
	if err == nil {
		if applied {
			err = t.MarkApplied(ctx, run, by, reason)
		} else {
			err = t.Forget(ctx, run)
		}
	}
	if err == nil {
		s.renewBaseline(ctx, t, m)
	}
	if err != nil && applied {
		return nil, connectProblem(err)
	}
	return connectProblem(err), nil
}
