package loop

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// record runs a loop for a while of made-up time and returns when it ticked,
// counted from the start.
func record(t *testing.T, l Loop, life time.Duration) (at []time.Duration, stats Stats) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	inner, start, r := l.Tick, time.Now(), Runner{}
	l.Name = "l"
	l.Tick = func(ctx context.Context, now time.Time) (bool, error) {
		at = append(at, now.Sub(start))
		return inner(ctx, now)
	}
	r.Run(ctx, l)
	return at, r.Stats()[0]
}

func nothing(context.Context, time.Time) (bool, error) { return false, nil }

func TestTicksAtOnceAndThenEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, stats := record(t, Loop{Every: time.Second, Tick: nothing}, 10*time.Second)
		if at[0] != 0 || len(at) < 10 || len(at) > 13 {
			t.Errorf("ticked at %v", at)
		}
		for i := 1; i < len(at); i++ {
			if d := at[i] - at[i-1]; d < 900*time.Millisecond || d > time.Second {
				t.Errorf("waited %v", d)
			}
		}
		if stats.Ticks != int64(len(at)) || stats.Errors != 0 || stats.Last.IsZero() || !stats.Running.IsZero() {
			t.Errorf("stats %+v", stats)
		}
	})
}

func TestMoreTicksAgainAtOnceButYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := 2*burst + 5
		at, _ := record(t, Loop{Every: time.Hour, Tick: func(context.Context, time.Time) (bool, error) {
			left--
			return left > 0, nil
		}}, time.Minute)
		slices.Sort(at)
		if want := 2*burst + 5; len(at) != want {
			t.Fatalf("ticked %d times, want %d", len(at), want)
		}
		if got := slices.Compact(at); !slices.Equal(got, []time.Duration{0, breath, 2 * breath}) {
			t.Errorf("bursts at %v", got)
		}
	})
}

func TestWakeTicksBeforeEveryButKeepsTheGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		// Somebody calls a hundred times a second, from the third second on, for one second.
		go func() {
			Wait(t.Context(), 3*time.Second, nil)
			for range 100 {
				select {
				case wake <- struct{}{}:
				default:
				}
				Wait(t.Context(), 10*time.Millisecond, nil)
			}
		}()
		at, _ := record(t, Loop{Every: time.Minute, Wake: wake, Gap: 50 * time.Millisecond, Tick: nothing}, 10*time.Second)
		if len(at) < 15 || len(at) > 24 {
			t.Fatalf("%d ticks, want about 20 a second: %v", len(at), at)
		}
		if at[1] != 3*time.Second {
			t.Errorf("the first hint was heard at %v", at[1])
		}
		for i := 2; i < len(at); i++ {
			if at[i]-at[i-1] < 50*time.Millisecond {
				t.Errorf("ticks at %v and %v", at[i-1], at[i])
			}
		}
	})
}

func TestNextTicksWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		due := []time.Time{start.Add(300 * time.Millisecond), start.Add(-time.Hour), {}, start.Add(time.Hour)}
		i := -1
		at, _ := record(t, Loop{Every: 2 * time.Second, Tick: nothing, Next: func() time.Time {
			i = min(i+1, len(due)-1)
			return due[i]
		}}, 2*time.Second)
		want := []time.Duration{0, 301 * time.Millisecond, 301*time.Millisecond + breath}
		if len(at) < 3 || !slices.Equal(at[:3], want) {
			t.Errorf("ticked at %v, want %v first", at, want)
		}
		if len(at) > 4 {
			t.Errorf("a due time beyond Every called for %d ticks", len(at))
		}
	})
}

func TestErrorsBackOffWithJitterAndIgnoreHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		go func() {
			for Wait(t.Context(), time.Millisecond, nil) {
				select {
				case wake <- struct{}{}:
				default:
				}
			}
		}()
		at, stats := record(t, Loop{Every: time.Second, Wake: wake, Tick: func(context.Context, time.Time) (bool, error) {
			return true, errors.New("no")
		}}, time.Minute)
		for i := 1; i < len(at); i++ {
			most := min(backoffFirst<<(i-1), backoffLeast)
			if d := at[i] - at[i-1]; d < most/2 || d > most {
				t.Errorf("wait %d was %v, want up to %v", i, d, most)
			}
		}
		if stats.Errors != stats.Ticks || stats.Failing != int(stats.Ticks) || stats.Error != "no" {
			t.Errorf("stats %+v", stats)
		}
	})
}

func TestOneFailingLoopLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := Runner{Log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		n := 0
		r.Run(ctx,
			Loop{Name: "good", Every: time.Second, Tick: nothing},
			Loop{Name: "panics", Every: time.Second, Tick: func(context.Context, time.Time) (bool, error) {
				if n++; n <= 3 {
					panic("ouch")
				}
				return false, nil
			}},
		)
		stats := r.Stats()
		if stats[0].Name != "good" || stats[0].Errors != 0 || stats[0].Ticks < 20 {
			t.Errorf("good: %+v", stats[0])
		}
		if s := stats[1]; s.Errors != 3 || s.Failing != 0 || !strings.Contains(s.Error, "panic: ouch") || !strings.Contains(s.Error, "loop_test.go") {
			t.Errorf("panics: %+v", s)
		}
		if got := strings.Count(log.String(), "works again"); got != 1 {
			t.Errorf("log: %s", &log)
		}
	})
}

func TestRunEndsWhenTheLastTickHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var ended bool
		go func() { Wait(t.Context(), time.Second, nil); cancel() }()
		var r Runner
		r.Run(ctx, Loop{Name: "slow", Every: time.Second, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
			<-ctx.Done()
			Wait(context.Background(), time.Second, nil) // it tidies up
			ended = true
			return true, ctx.Err()
		}})
		if !ended {
			t.Error("Run returned before the tick")
		}
		if s := r.Stats()[0]; s.Errors != 0 || s.Ticks != 1 {
			t.Errorf("the end of a loop counts as an error: %+v", s)
		}
	})
}

func TestATickThatHangsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, stats := record(t, Loop{Every: time.Second, Timeout: 3 * time.Second, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		}}, 5*time.Second)
		if len(at) != 2 || stats.Errors != 1 || stats.LastTook < time.Second {
			t.Errorf("ticked at %v: %+v", at, stats)
		}
	})
}

func TestStatsGoOnOverRunsAndShowWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			var once sync.Once
			r.Run(ctx, Loop{Name: "l", Every: time.Hour, Tick: func(context.Context, time.Time) (bool, error) {
				once.Do(func() {
					if r.Stats()[0].Running.IsZero() {
						t.Error("a tick runs, and Stats does not say so")
					}
				})
				return false, nil
			}})
			cancel()
		}
		if s := r.Stats(); len(s) != 1 || s[0].Ticks != 2 {
			t.Errorf("stats %+v", s)
		}
	})
}

func TestALoopWithoutAFloorIsRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	new(Runner).Run(t.Context(), Loop{Name: "l", Tick: nothing})
}
