package tending

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// GatesChannel carries {"lanes": […], "pools": […]} that may have room; an
	// empty note means any.
	GatesChannel = "weir_gates"

	sweepEvery = 15 * time.Second
	// lateness is how long a time that a pass left in the past is blamed on the
	// pass. After that it waits for something else, such as room in a pool.
	lateness = 50 * time.Millisecond
)

// Tender makes passes over the engine, and opens the gates it hears of.
type Tender struct {
	config Config
	// swept and tended are when the last passes began; more says that the last
	// one did not finish. Only the loop uses them.
	swept, tended time.Time
	more          bool

	mu sync.Mutex
	// next is when the next task is due, as far as known.
	next time.Time
}

// New prepares a tender.
func New(config Config) *Tender { return &Tender{config: config.withDefaults()} }

// Loop makes the passes.
func (t *Tender) Loop() loop.Loop {
	l := loop.Loop{Name: "tend", Tick: t.tick, Every: t.config.Every, Next: t.due, Gap: t.config.Gap, Timeout: 30 * time.Second}
	if t.config.Gates != nil {
		l.Wake = t.config.Gates.C()
	}
	return l
}

// Expect says that a task will be due at a time. It needs Gates.
func (t *Tender) Expect(at time.Time) {
	if t.expect(at) {
		t.config.Gates.Wake()
	}
}

// expect reports whether that is sooner than what was known.
func (t *Tender) expect(at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	sooner := t.next.IsZero() || at.Before(t.next)
	if sooner {
		t.next = at
	}
	return sooner
}

// due is when the next pass should be.
func (t *Tender) due() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.tended.Add(t.config.Every)
	if !t.next.IsZero() && t.next.Before(at) {
		at = t.next
	}
	return at
}

// take reports whether the time has come for which a pass was expected, and forgets it.
func (t *Tender) take(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	due := !t.next.IsZero() && !now.Before(t.next)
	if due {
		t.next = time.Time{}
	}
	return due
}

func (t *Tender) tick(ctx context.Context, now time.Time) (more bool, err error) {
	var hint listen.Hint
	if t.config.Gates != nil {
		hint = t.config.Gates.Take()
	}
	keys := parseGates(hint)
	if keys.all {
		t.swept = time.Time{} // a pass that fails is made up for
	}
	sweep := now.Sub(t.swept) >= sweepEvery
	if !sweep && !keys.empty() {
		if err := t.open(ctx, keys); err != nil {
			t.swept = time.Time{}
			return false, err
		}
	}
	due := t.take(now)
	// Under a storm of hints, passes over everything come no more often. The loop
	// calls up to a tenth early.
	if sweep || due || t.more || now.Sub(t.tended) >= t.config.Every-t.config.Every/10 {
		if err := t.pass(ctx, now, sweep, due); err != nil {
			return false, err
		}
	}
	return t.more, nil
}

// pass makes one pass. The database tells the workers what came of it.
func (t *Tender) pass(ctx context.Context, now time.Time, sweep, due bool) error {
	var changed int
	var more bool
	var wait *float64
	err := t.config.act(ctx, `select opened + expired, more, extract(epoch from next_at - clock_timestamp())::float8 from weir.tend($1)`, []any{sweep}, &changed, &more, &wait)
	if err != nil {
		return fmt.Errorf("tend: %w", err)
	}
	t.tended, t.more = now, more
	if sweep && !more { // else it may have stopped before the sweep
		t.swept = now
	}
	if wait != nil && *wait > -lateness.Seconds() && *wait < t.config.Every.Seconds() {
		t.expect(time.Now().Add(time.Duration(*wait * float64(time.Second))))
	}
	if changed > 0 || due {
		t.config.Ready()
	}
	return nil
}

// open opens the gates of keys. The database tells the workers if that let tasks
// through.
func (t *Tender) open(ctx context.Context, keys gateKeys) error {
	var opened int
	if err := t.config.act(ctx, `select weir.open_gates($1, $2)`, []any{keys.Lanes, keys.Pools}, &opened); err != nil {
		return fmt.Errorf("open gates: %w", err)
	}
	if opened > 0 {
		t.config.Ready()
	}
	return nil
}

// gateKeys are lanes and pools that may have room. Both are never nil, because
// null and null would ask for the sweep.
type gateKeys struct {
	Lanes, Pools []string
	all          bool
}

func (k gateKeys) empty() bool { return len(k.Lanes)+len(k.Pools) == 0 }

// parseGates reads hints. One that says nothing, or nothing we understand,
// means every key.
func parseGates(hint listen.Hint) gateKeys {
	keys := gateKeys{Lanes: []string{}, Pools: []string{}, all: hint.All}
	for _, note := range hint.Notes {
		var more gateKeys
		if err := json.Unmarshal([]byte(note.Payload), &more); err != nil || more.empty() {
			keys.all = true
			continue
		}
		keys.Lanes = append(keys.Lanes, more.Lanes...)
		keys.Pools = append(keys.Pools, more.Pools...)
	}
	return keys
}
