package weir

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// A machine that sleeps for longer than a lease wakes up with handlers whose tasks
// may be somebody else's: their contexts end, although no timer is due for long.
func TestSuspendEndsHandlers(t *testing.T) {
	w := NewWorker(&Client{log: slog.New(slog.DiscardHandler)}, WorkerConfig{Lease: time.Hour})
	var slept atomic.Int64
	begun := time.Now()
	w.clock = func() time.Duration { return time.Since(begun) + time.Duration(slept.Load()) }
	l := &lease{handler: &handler{service: "a"}, asked: w.clock()}
	l.ctx, l.cancel = context.WithCancelCause(t.Context())
	w.held.push(l)
	ctx, cancel := context.WithCancel(t.Context())
	rested := make(chan bool)
	go func() { rested <- w.restUntilDue(ctx, w.config.Lease/6) }()
	slept.Store(int64(w.config.Lease - w.margin()))
	select {
	case <-l.ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the handler goes on")
	}
	if cause := context.Cause(l.ctx); !errors.Is(cause, ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	cancel()
	if <-rested {
		t.Error("it rests although its context has ended")
	}
}
