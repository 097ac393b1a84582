package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/listen"
)

const (
	// GatesChannel carries {"lanes": […], "pools": […]} that may have room; an
	// empty note means any.
	GatesChannel = "weir_gates"
	// availableChannel tells workers to look; an empty note means all of them.
	availableChannel = "weir_available"

	sweepEvery = 15 * time.Second
	// lateness is how long a time that a pass left in the past is blamed on the
	// pass. After that it waits for something else, such as room in a pool.
	lateness = 50 * time.Millisecond
)

// tender does what time alone brings about, and opens the gates it hears of.
type tender struct {
	config Config
	term   Term
	// swept and tended are when the last passes began; more says that the last
	// one did not finish; next is when the next task is due, as far as known.
	swept, tended time.Time
	more          bool
	next          time.Time
}

func (t *tender) due() time.Time { return t.next }

func (t *tender) tick(ctx context.Context, now time.Time) (more bool, err error) {
	var hint listen.Hint
	if t.config.Gates != nil {
		hint = t.config.Gates.Take()
	}
	keys := parseGates(hint)
	if keys.all {
		t.swept = time.Time{} // a pass that fails is made up for
	}
	sweep := now.Sub(t.swept) >= sweepEvery
	var changed int
	if !sweep && !keys.empty() {
		if changed, err = t.open(ctx, keys); err != nil {
			t.swept = time.Time{}
			return false, err
		}
	}
	due := !t.next.IsZero() && !now.Before(t.next)
	// Under a storm of hints, passes over everything come no more often.
	if sweep || due || t.more || keys.empty() || now.Sub(t.tended) >= t.config.TendEvery {
		n, err := t.tend(ctx, now, sweep)
		if err != nil {
			return false, err
		}
		if changed += n; due {
			changed++ // tasks that were only waiting for their time are not counted
		}
	}
	if changed > 0 {
		// A hint, and outside of the transaction: who misses it polls.
		if _, err := t.config.Pool.Exec(ctx, `select pg_notify($1, '')`, availableChannel); err != nil {
			return false, fmt.Errorf("tell the workers: %w", err)
		}
	}
	return t.more, nil
}

// tend makes one pass and returns how many tasks it moved.
func (t *tender) tend(ctx context.Context, now time.Time, sweep bool) (int, error) {
	var opened, expired int
	var more bool
	var wait *float64
	err := t.term.QueryRow(ctx, t.config.Pool, `select opened, expired, more, extract(epoch from next_at - clock_timestamp())::float8 from weir.tend($1)`, []any{sweep}, &opened, &expired, &more, &wait)
	if err != nil {
		return 0, fmt.Errorf("tend: %w", err)
	}
	t.tended, t.more, t.next = now, more, time.Time{}
	if sweep && !more { // else it may have stopped before the sweep
		t.swept = now
	}
	if wait != nil && *wait > -lateness.Seconds() && *wait < t.config.TendEvery.Seconds() {
		t.next = time.Now().Add(time.Duration(*wait * float64(time.Second)))
	}
	return opened + expired, nil
}

func (t *tender) open(ctx context.Context, keys gateKeys) (opened int, err error) {
	err = t.term.QueryRow(ctx, t.config.Pool, `select weir.open_gates($1, $2)`, []any{keys.Lanes, keys.Pools}, &opened)
	if err != nil {
		return 0, fmt.Errorf("open gates: %w", err)
	}
	return opened, nil
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
