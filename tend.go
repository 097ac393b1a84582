package weir

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	tendEvery  = time.Second
	sweepEvery = 15 * time.Second
	// tendLeast and tendMost bound how long one client has the duty before
	// another may take it; see term.
	tendLeast, tendMost = 2 * time.Second, 15 * time.Second
	// tendLock is the name of that duty in weir.system_locks.
	tendLock = "library"
	// untendedFor is how long the word of a heartbeat counts: longer than the
	// time to the next.
	untendedFor = 25 * time.Second
)

// tender does what time alone brings about, as long as no coordinator does:
// tasks that are due, leases that ran out, gates that opened unheard. So a
// program that only uses this package needs no server. Of all such programs on
// a database one has the duty.
type tender struct {
	client *Client
	kick   chan struct{}

	mu     sync.Mutex
	active bool
	// wanted is until when we know of no coordinator.
	wanted time.Time
	// next is when a task is due that we know of; zero: none.
	next time.Time
	// fireAt is when to look at schedules again, isolate that a pass must say its
	// isolation. Only run uses them.
	fireAt  time.Time
	isolate bool
}

// want says that nobody tends the engine.
func (t *tender) want() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = time.Now().Add(untendedFor)
	if !t.active {
		t.active = t.client.background(t.run)
	}
}

// due says that a task will be due in d. Only who tends need know.
func (t *tender) due(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now().Add(d)
	if !t.active || !t.next.IsZero() && t.next.Before(at) {
		return
	}
	t.next = at
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

func (t *tender) run(ctx context.Context) {
	name := newToken().String()
	gates := t.client.subscribe(channelGates)
	defer gates.Close()
	var epoch int64
	var led, swept time.Time
	for t.stillWanted() {
		// The term is renewed well before it ends; who has it not asks as rarely.
		length := term(t.client.shortestLease())
		if time.Since(led) > length/2 {
			led = time.Now()
			epoch = t.lead(ctx, name, length)
		}
		wait := length / 2
		if epoch > 0 {
			sweep := time.Since(swept) >= sweepEvery
			if sweep {
				swept = time.Now()
			}
			wait = t.tend(ctx, sweep)
		}
		if !t.wait(ctx, wait, gates.C(), epoch > 0) {
			break
		}
		if hint := gates.Take(); epoch > 0 {
			for _, note := range hint.Notes {
				t.open(ctx, note.Payload)
			}
		}
	}
	if epoch > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = t.client.pool.Exec(ctx, `select weir.resign($1, $2, $3)`, tendLock, name, epoch) // else the term ends by itself
	}
}

func (t *tender) stillWanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active = t.client.life.Err() == nil && time.Now().Before(t.wanted)
	return t.active
}

// term is how long a client keeps the duty that is not heard of any more: half
// a lease of its workers, so that what it leaves behind runs again within two.
func term(lease time.Duration) time.Duration { return min(max(lease/2, tendLeast), tendMost) }

// lead asks for the duty and returns its epoch, or 0 while another has it.
func (t *tender) lead(ctx context.Context, name string, length time.Duration) (epoch int64) {
	err := t.client.pool.QueryRow(ctx, `select coalesce(weir.lead($1, $2, $3), 0)`, tendLock, name, length).Scan(&epoch)
	switch {
	case denied(err):
		return 1 // role weir_worker may tend but not lead: a second one at it does no harm
	case err != nil && ctx.Err() == nil:
		t.client.log.Warn("nobody tends the engine, and we cannot either", "error", wrap("tend", err))
	}
	return epoch
}

// tend makes one pass and returns how long to wait before the next.
func (t *tender) tend(ctx context.Context, sweep bool) time.Duration {
	t.mu.Lock()
	wasDue := !t.next.IsZero() && !time.Now().Before(t.next)
	t.next = time.Time{}
	t.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var opened, expired int
	var more bool
	var next *float64
	err := t.pass(ctx, sweep, &opened, &expired, &more, &next)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			t.client.log.Warn("a pass over the engine failed; the next one does its work", "error", wrap("tend", err))
		}
		return tendEvery
	case opened > 0 || expired > 0 || wasDue:
		t.client.say()
	}
	t.fire(ctx)
	if more {
		return 0
	}
	if next != nil {
		t.due(time.Duration(*next * float64(time.Second)))
	}
	return tendEvery
}

// pass makes one pass. Where transactions are not READ COMMITTED by default, the
// database refuses it, and from then on the pass says what it needs.
func (t *tender) pass(ctx context.Context, sweep bool, into ...any) error {
	const sql = `select opened, expired, more, extract(epoch from next_at - clock_timestamp())::float8 from weir.tend($1)`
	if !t.isolate {
		err := t.client.pool.QueryRow(ctx, sql, sweep).Scan(into...)
		if !errors.Is(wrap("tend", err), ErrConflict) {
			return err
		}
		t.isolate = true
	}
	return pgx.BeginTxFunc(ctx, t.client.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sql, sweep).Scan(into...)
	})
}

// fire looks after schedules, as long as the database user may: role weir_worker
// may not, and then a coordinator must.
func (t *tender) fire(ctx context.Context) {
	if time.Now().Before(t.fireAt) {
		return
	}
	next, err := t.client.fireSchedules(ctx)
	switch {
	case denied(err):
		next = untendedFor
	case err != nil && ctx.Err() == nil:
		t.client.log.Warn("schedules were not fired; it is tried again", "error", err)
	}
	t.fireAt = time.Now().Add(next)
}

// wait waits for d, a hint, or for a task that is due before; but not so short
// that passes follow one another without a break.
func (t *tender) wait(ctx context.Context, d time.Duration, hint <-chan struct{}, leads bool) bool {
	if !leads {
		return pause(ctx, d)
	}
	for start := time.Now(); ; {
		t.mu.Lock()
		left := d - time.Since(start)
		if !t.next.IsZero() {
			left = min(left, max(time.Until(t.next), 5*time.Millisecond-time.Since(start)))
		}
		t.mu.Unlock()
		timer := time.NewTimer(left)
		select {
		case <-t.kick:
			timer.Stop()
			continue
		case <-timer.C:
		case <-hint:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
		}
		return ctx.Err() == nil
	}
}

// open opens the keys that a transaction of somebody else named when it
// submitted. The empty note means any.
func (t *tender) open(ctx context.Context, note string) {
	var keys struct{ Lanes, Pools []string }
	if note == "" || json.Unmarshal([]byte(note), &keys) != nil {
		keys.Lanes, keys.Pools = nil, nil // null and null: sweep
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	t.client.openGates(ctx, keys.Lanes, keys.Pools)
}
