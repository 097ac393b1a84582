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
	w.keeper.Clock = func() time.Duration { return time.Since(begun) + time.Duration(slept.Load()) }
	l := &lease{handler: &handler{service: "a"}, asked: w.keeper.Clock()}
	l.ctx, l.cancel = context.WithCancelCause(t.Context())
	w.held.push(l)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.keeper.Run(ctx)
	}()
	slept.Store(int64(w.config.Lease - w.keeper.Margin()))
	select {
	case <-l.ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the handler goes on")
	}
	if cause := context.Cause(l.ctx); !errors.Is(cause, ErrLeaseLost) {
		t.Errorf("the cause is %v", cause)
	}
	cancel()
	<-ended
}
