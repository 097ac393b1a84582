package rollout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/rollout/target"
)

// Channel carries hints that a run may have become UNKNOWN.
const Channel = "weir_rollout"

const (
	// lookEvery is the floor under the hints.
	lookEvery = time.Second
	// sweepEvery is how often the holds of live rollouts are checked. The engine's
	// own transactions keep them right; this is for what nobody has thought of.
	sweepEvery = 15 * time.Second
	// tidyEvery is how often limits that nobody uses are looked for, and rollouts
	// that the engine has forgotten.
	tidyEvery = time.Minute
	// resolveMost is how many unknown runs are asked about in one tick, together.
	resolveMost = 16
)

// Config says on which database the loops work. Pool and Store are needed; the zero
// value of all else works.
type Config struct {
	Pool  *pgxpool.Pool
	Store *Store
	// Hints hears of [Channel]. Nil: work waits for the next look.
	Hints <-chan struct{}
	Log   *slog.Logger
}

// Loops are what the leader does for rollouts during one term.
func Loops(config Config, term pg.Term) []loop.Loop {
	l := newLeader(config, term)
	return []loop.Loop{{Name: "rollouts", Tick: l.tick, Every: lookEvery, Wake: config.Hints, Gap: 10 * time.Millisecond}}
}

// leader is the one server that resolves unknown runs. What it writes is decided
// again by the SQL functions, so two of them at once are harmless.
type leader struct {
	*Store
	term          pg.Term
	log           *slog.Logger
	swept, tidied time.Time
}

func newLeader(config Config, term pg.Term) *leader {
	return &leader{Store: config.Store, term: term, log: cmp.Or(config.Log, config.Store.log)}
}

// tick looks and does a bounded part of what there is. A part that fails does not
// keep the others from their turn.
func (l *leader) tick(ctx context.Context, now time.Time) (more bool, err error) {
	seen, err := l.signs(ctx)
	if err != nil {
		return false, err
	}
	var faults []error
	if seen.unknown {
		again, err := l.resolve(ctx)
		more = more || again
		faults = append(faults, err)
	}
	if seen.live && now.Sub(l.swept) >= sweepEvery {
		again, err := l.sweep(ctx)
		if !again {
			l.swept = now
		}
		more = more || again
		faults = append(faults, err)
	}
	if seen.any && now.Sub(l.tidied) >= tidyEvery {
		l.tidied = now
		faults = append(faults, l.tidy(ctx))
	}
	err = errors.Join(faults...)
	return more && err == nil, err
}

// sweep settles a rollout that needs it. More: there may be another.
func (l *leader) sweep(ctx context.Context) (more bool, err error) {
	n := 0
	if err := l.term.QueryRow(ctx, l.pool, sweepSQL, nil, &n); err != nil {
		return false, err
	}
	if n > 0 {
		l.log.Warn("holds of a rollout were not what they should be, and are now", "tasks", n)
	}
	return n > 0, nil
}

func (l *leader) tidy(ctx context.Context) error {
	forgotten := 0
	if err := l.term.QueryRow(ctx, l.pool, tidySQL, nil, &forgotten); err != nil {
		return err
	}
	names, err := l.emptyPools(ctx)
	for _, name := range names {
		var dropped bool
		if failed := l.term.QueryRow(ctx, l.pool, dropPoolSQL, []any{name}, &dropped); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// resolve asks databases what became of runs that nobody knows of.
func (l *leader) resolve(ctx context.Context) (more bool, err error) {
	list, err := l.mysteries(ctx, due, resolveMost)
	if err != nil {
		return false, err
	}
	faults := make([]error, len(list))
	var wait sync.WaitGroup
	for i, m := range list {
		wait.Go(func() { faults[i] = l.judge(ctx, m) })
	}
	wait.Wait()
	return len(list) == resolveMost, errors.Join(faults...)
}

// judge asks one database about one run, and writes the verdict.
func (l *leader) judge(ctx context.Context, m mystery) error {
	verdict, sentence := l.ask(ctx, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	word := string(verdict)
	if verdict == target.CannotTell {
		word = "later"
	}
	var changed bool
	return l.term.QueryRow(ctx, l.pool, verdictSQL, []any{m.task, m.attempt, word, sentence}, &changed)
}

// ask is CannotTell for a database that does not answer: it may, later.
func (l *leader) ask(ctx context.Context, m mystery) (target.Verdict, string) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	t, err := l.connect(ctx, m.engine, m.secret)
	if err != nil {
		return target.CannotTell, said(err)
	}
	defer t.Close()
	if err := isOne(ctx, t, m.database, m.identity); err != nil {
		l.noteReachable(ctx, m.database, err)
		return target.CannotTell, said(connectProblem(err))
	}
	run, err := m.run()
	if err != nil {
		return target.CannotTell, said(err)
	}
	verdict, sentence, err := t.Resolve(ctx, run)
	l.noteReachable(ctx, m.database, err)
	if err != nil {
		return target.CannotTell, said(connectProblem(err))
	}
	if verdict == target.Applied || verdict == target.Partial {
		l.renewBaseline(ctx, t, m)
	}
	return verdict, sentence
}
