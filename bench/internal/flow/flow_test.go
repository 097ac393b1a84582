package flow

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, Submitters, 3*Submitters + 1} {
		var sum atomic.Int64
		if err := Each(t.Context(), n, func(_ context.Context, i int) error { sum.Add(int64(i + 1)); return nil }); err != nil {
			t.Fatal(err)
		}
		if want := int64(n * (n + 1) / 2); sum.Load() != want {
			t.Errorf("%d calls sum up to %d, want %d", n, sum.Load(), want)
		}
	}
	broken := errors.New("broken")
	if err := Each(t.Context(), 1000, func(_ context.Context, i int) error {
		if i == 3 {
			return broken
		}
		return nil
	}); !errors.Is(err, broken) {
		t.Errorf("error = %v, want %v", err, broken)
	}
}

func TestGather(t *testing.T) {
	var g Gather
	for range 2 {
		g.Expect(3)
		for range 3 {
			go g.Began("")
		}
		times, err := g.Await(t.Context())
		if err != nil || len(times) != 3 {
			t.Fatalf("%d times, %v", len(times), err)
		}
	}
	g.Expect(2)
	g.Began("a")
	g.Began("a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Await(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestPoll(t *testing.T) {
	asked := 0
	if err := Poll(t.Context(), time.Millisecond, func(context.Context) (bool, error) { asked++; return asked == 3, nil }); err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	broken := errors.New("broken")
	if err := Poll(t.Context(), time.Millisecond, func(context.Context) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("error = %v", err)
	}
}

func TestProcess(t *testing.T) {
	says := func(word string) func(string) bool {
		return func(said string) bool { return strings.Contains(said, word) }
	}
	if _, err := StartProcess(t.Context(), "failure", exec.Command("/bin/sh", "-c", "echo no such thing; exit 3"), says("ready")); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("a process that ends before it is ready: %v", err)
	}
	p, err := StartProcess(t.Context(), "sleeper", exec.Command("/bin/sh", "-c", "echo ready; exec sleep 1000"), says("ready"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "ended early") {
		t.Errorf("the second stop says %v", err)
	}
}
