package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/loop"
)

// ErrTermOver says that another leads, or may. What was to be written was not.
var ErrTermOver = errors.New("the leader's term is over")

// Term is the time in which one process leads.
type Term struct {
	config Config
	epoch  int64
	ctx    context.Context
	end    context.CancelCauseFunc
	// deadline is when the term ends unless it is renewed. Its monotonic part
	// counts, so that a clock that is set does not matter.
	deadline atomic.Pointer[time.Time]
	// beside counts what runs beside the loops.
	beside sync.WaitGroup
}

func newTerm(ctx context.Context, config Config, epoch int64, start time.Time) *Term {
	t := &Term{config: config, epoch: epoch}
	t.ctx, t.end = context.WithCancelCause(ctx)
	t.extend(start)
	return t
}

// Epoch is the number of the term. A later one is higher. 0: nobody leads, see
// [Config.Unled].
func (t *Term) Epoch() int64 { return t.epoch }

// Go runs f beside the loops, for what takes longer than a tick may. Its context ends with
// the term, and nobody is handed the lead before f has returned. Only whoever
// makes the loops of the term may call it, and they.
func (t *Term) Go(f func(ctx context.Context)) {
	t.beside.Go(func() { f(t.ctx) })
}

// Tx runs fn in a transaction that changes nothing unless the term lasts: if it
// is over, the error is ErrTermOver. Until the transaction ends no other term
// can begin, and this one cannot be renewed: keep it short. The server ends it
// if we fall silent in the middle, else a paused leader would keep its place.
func (t *Term) Tx(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		silence := fmt.Sprint((t.config.TTL / 5).Milliseconds())
		_, err := tx.Exec(ctx, `select set_config('idle_in_transaction_session_timeout', $1, true), weir.fenced($2, $3)`, silence, t.config.lock(), t.epoch)
		if err != nil {
			return t.judge(err)
		}
		return fn(tx)
	})
}

// QueryRow is Tx for one statement that returns one row: a single round trip,
// with no moment in which the server waits for us. It says its isolation, because
// gates open in no other, and a pooler takes no default from us. After an error the
// connection is in a transaction that failed, and the pool closes it.
func (t *Term) QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error {
	var all pgx.Batch
	all.Queue(`begin isolation level read committed`)
	if t.epoch > 0 {
		all.Queue(`select weir.fenced($1, $2)`, t.config.lock(), t.epoch)
	}
	all.Queue(sql, args...)
	all.Queue(`commit`)
	results := pool.SendBatch(ctx, &all)
	for range all.Len() - 2 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // says the same
			return t.judge(err)
		}
	}
	err := results.QueryRow().Scan(into...)
	return errors.Join(err, results.Close())
}

// judge tells a refused fence from other errors. It ends the term.
func (t *Term) judge(err error) error {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.Code == "WR410" {
		t.end(ErrTermOver)
		return fmt.Errorf("%w: %s", ErrTermOver, refusal.Message)
	}
	return err
}

// renew renews the term at a third of its ttl, and sooner after an error.
func (t *Term) renew() {
	wait, told := t.config.TTL/3, ""
	for loop.Wait(t.ctx, wait, nil) {
		start := time.Now()
		attempt, cancel := context.WithTimeout(t.ctx, t.config.TTL/5)
		epoch, _, err := lead(attempt, t.config)
		cancel()
		switch {
		case err != nil:
			wait = t.config.TTL / 15
			if t.ctx.Err() == nil && err.Error() != told {
				told = err.Error()
				t.config.Log.Warn("cannot renew the lead; trying again", "epoch", t.epoch, "error", err)
			}
		case epoch != t.epoch:
			t.end(ErrTermOver)
		default:
			wait, told = t.config.TTL/3, ""
			t.extend(start)
		}
	}
}

// extend moves the deadline after a renewal that began at start. The margin is
// for clocks that run at different speeds.
func (t *Term) extend(start time.Time) {
	deadline := start.Add(t.config.TTL - t.config.TTL/10)
	t.deadline.Store(&deadline)
}

// watch ends the term at its deadline, whatever a renewal is doing.
func (t *Term) watch() {
	for {
		left := time.Until(*t.deadline.Load())
		if left <= 0 {
			t.end(ErrTermOver)
			return
		}
		if !loop.Wait(t.ctx, left, nil) {
			return
		}
	}
}

// resign hands over at once. If it fails, the term ends by itself.
func (t *Term) resign() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), t.config.TTL/5)
	defer cancel()
	_, err := t.config.Pool.Exec(ctx, `select weir.resign($1, $2, $3), pg_notify($4, '')`, t.config.lock(), t.config.Holder, t.epoch, Channel)
	if err != nil {
		t.config.Log.Warn("cannot resign; the term ends by itself", "epoch", t.epoch, "error", err)
	}
}

// lead asks for the lead or renews it. Epoch 0 means that another leads; left is
// how long its term still lasts.
func lead(ctx context.Context, c Config) (epoch int64, left time.Duration, err error) {
	var seconds float64
	err = c.Pool.QueryRow(ctx, `select coalesce(weir.lead($1, $2, $3), 0),
		coalesce((select extract(epoch from greatest(l.expires_at, clock_timestamp()) - clock_timestamp()) from weir.system_locks l where l.lock_name = $1), 0)::float8`,
		c.lock(), c.Holder, c.TTL).Scan(&epoch, &seconds)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for the lead: %w", err)
	}
	return epoch, time.Duration(seconds * float64(time.Second)), nil
}
