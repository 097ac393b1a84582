package workspace_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// The loops of a term bring a workspace up, hear of what is wanted, and end with the term.
func TestTheLoopsOfATerm(t *testing.T) {
	t.Parallel()
	wake := make(chan struct{}, 1)
	r := newRig(t, func(_ *rig, c *workspace.Config) { c.Wake = wake })
	ctx, stop := context.WithCancel(t.Context())
	r.term.Context = ctx
	done := make(chan struct{})
	var runner loop.Runner
	go func() {
		defer close(done)
		runner.Run(ctx, workspace.Loops(r.config, r.term)...)
	}()
	defer func() { stop(); <-done }()
	id := r.create("one", ladder.Running)
	wake <- struct{}{}
	testwait.Until(t, "it runs", func() bool { return r.get(id).Phase == ladder.Running && r.get(id).Operation == ladder.None })
	testwait.Until(t, "it rests", func() bool {
		_, err := r.store.Want(t.Context(), id, ladder.Standby, "ann", "")
		return err == nil
	})
	wake <- struct{}{}
	testwait.Until(t, "it stands by", func() bool { return r.get(id).Phase == ladder.Standby })
	testwait.Until(t, "the wish was heard", func() bool { return len(wake) == 0 })
	names := []string{}
	for _, s := range runner.Stats() {
		if names = append(names, s.Name); s.Errors > 0 {
			t.Errorf("%s: %s", s.Name, s.Error)
		}
	}
	if !slices.Equal(names, []string{"workspace archives", "workspace ttl", "workspaces"}) {
		t.Errorf("%v", names)
	}
}

// Before anything is stopped for want of use, those are asked who see it used.
func TestTheClockAsksWhoIsInside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one, two := d.running("one"), d.running("two")
	d.wait(time.Hour)
	var flushed int
	var fault error
	config := workspace.Config{
		Pool: d.db.Pool, Now: func() time.Time { return d.now },
		Flush: func(context.Context, time.Time) error { flushed++; return fault },
		Alive: func(context.Context) ([]weir.ID, error) { return []weir.ID{one}, nil },
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	tick := loopOf(t, "workspace ttl", config, &term{Context: ctx, end: end}).Tick
	fault = errors.New("nobody answers")
	if _, err := tick(t.Context(), d.now); err != nil || flushed != 1 || d.get(one).Desired != ladder.Running || d.get(two).Desired != ladder.Running {
		t.Errorf("%v: %+v", err, d.get(two))
	}
	fault = nil
	if _, err := tick(t.Context(), d.now); err != nil || flushed != 2 || d.get(one).Desired != ladder.Running || d.get(two).Desired != ladder.Standby {
		t.Errorf("%v: %+v", err, d.get(two))
	}
}

// Whoever is woken looks often for a while, also if there was nothing to do at once.
func TestAWakeMakesItLookOften(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	wake := make(chan struct{}, 1)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	l := loopOf(t, "workspaces", workspace.Config{Pool: d.db.Pool, Bucket: blobtest.Folder(t), Wake: wake}, &term{Context: ctx, end: end})
	look := func() time.Time {
		t.Helper()
		_, err := l.Tick(t.Context(), time.Now())
		d.ok(err)
		return l.Next()
	}
	if next := look(); !next.IsZero() || l.Every != 15*time.Second {
		t.Errorf("nothing is to be done, and the next look is at %s, or after %s", next, l.Every)
	}
	wake <- struct{}{}
	testwait.Until(t, "the wake was heard", func() bool { return len(l.Wake) == 1 })
	if next := look(); next.IsZero() || time.Until(next) > time.Second {
		t.Errorf("it was woken, and the next look is at %s", next)
	}
}
