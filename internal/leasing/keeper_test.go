package leasing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/leasing"
	"github.com/weirhq/weir/internal/uptime"
)

// run keeps leases until the test ends.
func run(t *testing.T, k *leasing.Keeper) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// The leases last a minute, at some time of day.
func TestTimesOfALease(t *testing.T) {
	k := &leasing.Keeper{Length: time.Minute}
	const asked = 7 * time.Hour
	for after, want := range map[time.Duration][3]bool{
		9 * time.Second:  {false, false, false},
		10 * time.Second: {true, false, false},
		20 * time.Second: {true, true, false},
		49 * time.Second: {true, true, false},
		50 * time.Second: {true, true, true},
	} {
		now := asked + after
		if got := [3]bool{k.Ripe(asked, now), k.Due(asked, now), k.Unsure(asked, now)}; got != want {
			t.Errorf("after %s it is ripe, due, unsure: %v, want %v", after, got, want)
		}
	}
	if w := k.Within(asked, asked+20*time.Second); w != 10*time.Second {
		t.Errorf("a renewal in time may take %s", w)
	}
	if w := k.Within(asked, asked+47*time.Second); w != 3*time.Second {
		t.Errorf("a renewal that is late may take %s", w)
	}
}

// A hanging renewal does not keep work running whose lease is over.
func TestGuardLooksWhileARenewalHangs(t *testing.T) {
	hangs, guarded := make(chan struct{}), make(chan struct{}, 1)
	k := &leasing.Keeper{Length: 60 * time.Millisecond, Clock: uptime.Now, Look: make(chan struct{}, 1)}
	k.Renew = func(ctx context.Context) error {
		close(hangs)
		<-ctx.Done()
		return ctx.Err()
	}
	k.Guard = func(time.Duration) {
		select {
		case <-hangs:
			select {
			case guarded <- struct{}{}:
			default:
			}
		default:
		}
	}
	run(t, k)
	select {
	case <-guarded:
	case <-time.After(time.Minute):
		t.Fatal("nobody looks at the clock")
	}
}

// A renewal comes early if one is requested, also after one that failed.
func TestLookAsksForARenewal(t *testing.T) {
	k := &leasing.Keeper{
		Length: 1000 * time.Hour, Clock: uptime.Now, Look: make(chan struct{}, 1), Guard: func(time.Duration) {},
	}
	asked := make(chan struct{})
	k.Renew = func(context.Context) error {
		asked <- struct{}{}
		return errors.New("the database is away")
	}
	run(t, k)
	for range 3 {
		k.Look <- struct{}{}
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatal("nobody renews")
		}
	}
}
