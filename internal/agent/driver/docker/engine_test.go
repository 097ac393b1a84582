package docker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/problem"
)

// An engine that restarts ends its containers too.
func TestEngineRestarts(t *testing.T) {
	tests := map[string]struct {
		down   func(*dockertest.Engine, testing.TB)
		reason string
	}{
		"in order": {(*dockertest.Engine).Down, ""},
		"killed":   {(*dockertest.Engine).Kill, "Docker was stopped or restarted"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := dockertest.Start(t)
			b := newBench(t, e.Host, func(c *docker.Config) { c.Patience = 10 * time.Minute })
			r, out := b.start(b.work("stubborn"))
			out.waitFor(t, "ready")
			test.down(e, t)
			e.Up(t)
			exit := b.wait(r)
			if exit.Code != 137 || exit.Signal != "killed" {
				t.Errorf("exit %+v, want killed with the engine", exit)
			}
			// An engine that stops in an orderly way may have reported the exit before it
			// left.
			if test.reason != "" && exit.Reason != test.reason {
				t.Errorf("reason %q, want %q", exit.Reason, test.reason)
			}
			if want := "ready\nasked to stop, and going on\n"; out.out() != want {
				t.Errorf("output %q, want each line once: %q", out.out(), want)
			}
			if test.reason == "" {
				b.nextLife() // an engine that reported the exit and then left has not removed the container
			}
			b.wantNone()
		})
	}
}

func TestEngineThatStaysAway(t *testing.T) {
	t.Parallel()
	e := dockertest.Start(t)
	b := newBench(t, e.Host, func(c *docker.Config) { c.Patience = 2 * time.Second })
	r, out := b.start(b.work("stubborn"))
	out.waitFor(t, "ready")
	e.Kill(t)
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	_, err := r.Wait(ctx)
	p := wantKind(t, err, problem.Unreachable)
	if !strings.Contains(p.What, "nobody knows how") {
		t.Errorf("it says %q", p.What)
	}
	wantKind(t, b.driver.Check(ctx), problem.Unreachable)
	_, err = b.driver.Start(ctx, b.work("exit", "0"), &output{})
	wantKind(t, err, problem.Unreachable)
}

func TestEngineThatHangs(t *testing.T) {
	t.Parallel()
	e := dockertest.Start(t)
	b := newBench(t, e.Host, func(c *docker.Config) { c.Call, c.Patience = time.Second, 2*time.Second })
	r, out := b.start(b.work("stubborn"))
	out.waitFor(t, "ready")
	e.Freeze(t)
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	for name, call := range map[string]func() error{
		"check": func() error { return b.driver.Check(ctx) },
		"stop":  func() error { return r.Stop(ctx, time.Second) },
		"adopt": func() error { _, err := b.driver.Adopt(ctx); return err },
		"start": func() error { _, err := b.driver.Start(ctx, b.work("exit", "0"), &output{}); return err },
		"wait":  func() error { _, err := r.Wait(ctx); return err },
	} {
		p := wantKind(t, call(), problem.Unreachable)
		if !strings.Contains(p.What, "answer") || p.Next == "" {
			t.Errorf("%s says %q and advises %q", name, p.What, p.Next)
		}
	}
	e.Thaw(t)
	if err := b.driver.Check(ctx); err != nil {
		t.Errorf("after the hang: %v", err)
	}
}
