package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/pgtext"
)

// progressEvery is the least time between two reports of progress of a run.
const progressEvery = time.Second

// Run is one attempt at a task, as its handler sees it.
type Run[Args any] struct {
	// ID is the task's; JobID that of its job, or zero; Key its name there.
	ID, JobID ID
	Key       string
	// Attempt counts from 1 and never repeats for a task. Hand-backs and lost
	// workers use up numbers, but none of the MaxAttempts.
	Attempt, MaxAttempts int
	// Token is the fence of the lease: give it to what the handler writes to,
	// so that a stale attempt can be told from the live one.
	Token ID
	// Args are the decoded params.
	Args Args
	// Deadline is when the attempt's time is over, on this machine's clock;
	// zero if it has no bound.
	Deadline time.Time
	// Trace is what was kept with the task for telemetry: the submitter's W3C
	// traceparent.
	Trace string

	lease  *lease
	worker *Worker
}

// Progress reports how far the run is. At most one report a second is written,
// the others are dropped, so call it as often as you like.
func (r *Run[Args]) Progress(percent float64, message string) {
	now := time.Now()
	last := r.lease.reported.Load()
	if percent < 100 && now.UnixNano()-last < int64(progressEvery) || !r.lease.reported.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	if err := r.worker.record(r.lease, "progress", "", message, map[string]float64{"percent": percent}); err != nil {
		r.worker.log.Warn("progress was not recorded", "task", r.ID, "error", err)
	}
}

// Event adds a note to the task's timeline. Level is debug, info, warn or error.
// Data becomes JSON; nil is none.
func (r *Run[Args]) Event(level, message string, data any) error {
	return r.worker.record(r.lease, "note", level, message, data)
}

// record writes an event under the fence of the lease.
func (w *Worker) record(l *lease, kind, level, message string, data any) error {
	var encoded []byte
	if data != nil {
		plain, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("weir: record: %w", err)
		}
		encoded = pgtext.JSON(plain)
	}
	ctx, cancel := context.WithTimeout(l.ctx, w.config.Lease/3)
	defer cancel()
	var answer string
	err := w.client.pool.QueryRow(ctx, `select weir.record($1, $2, $3, $4, $5, $6, nullif($7, ''))`,
		l.task, l.attempt, l.token, kind, cleanText(message), encoded, level).Scan(&answer)
	if cause := context.Cause(l.ctx); err != nil && cause != nil {
		return wrap("record", cause) // that the lease is lost says more than that the call was
	}
	if err != nil {
		return wrap("record", err)
	}
	if err = answered("record", answer); err != nil {
		w.lose(l)
	}
	return err
}
