package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/pg"
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
	term   pg.Term
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
	if !sweep && !keys.empty() {
		if err := t.open(ctx, keys); err != nil {
			t.swept = time.Time{}
			return false, err
		}
	}
	due := !t.next.IsZero() && !now.Before(t.next)
	// Under a storm of hints, passes over everything come no more often.
	if sweep || due || t.more || keys.empty() || now.Sub(t.tended) >= t.config.TendEvery {
		if err := t.tend(ctx, now, sweep); err != nil {
			return false, err
		}
	}
	return t.more, nil
}

// tend makes one pass. The database tells the workers what came of it.
func (t *tender) tend(ctx context.Context, now time.Time, sweep bool) error {
	var more bool
	var wait *float64
	err := t.term.QueryRow(ctx, t.config.Pool, `select more, extract(epoch from next_at - clock_timestamp())::float8 from weir.tend($1)`, []any{sweep}, &more, &wait)
	if err != nil {
		return fmt.Errorf("tend: %w", err)
	}
	t.tended, t.more, t.next = now, more, time.Time{}
	if sweep && !more { // else it may have stopped before the sweep
		t.swept = now
	}
	if wait != nil && *wait > -lateness.Seconds() && *wait < t.config.TendEvery.Seconds() {
		t.next = time.Now().Add(time.Duration(*wait * float64(time.Second)))
	}
	return nil
}

// open opens the gates of keys and tells the workers if that let tasks through:
// outside of the transaction, for it is a hint, and who misses it polls.
func (t *tender) open(ctx context.Context, keys gateKeys) error {
	var opened int
	if err := t.term.QueryRow(ctx, t.config.Pool, `select weir.open_gates($1, $2)`, []any{keys.Lanes, keys.Pools}, &opened); err != nil {
		return fmt.Errorf("open gates: %w", err)
	}
	if opened == 0 {
		return nil
	}
	if _, err := t.config.Pool.Exec(ctx, `select pg_notify($1, '')`, availableChannel); err != nil {
		return fmt.Errorf("tell the workers: %w", err)
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
