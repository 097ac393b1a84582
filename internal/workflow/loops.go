package workflow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

const (
	// lookEvery is the longest interval, because hints get lost.
	lookEvery = time.Second
	// lookGap merges a storm of hints into few looks. A step that must be planned waits
	// no longer than this for the one before it.
	lookGap = 2 * time.Millisecond
	// patienceEvery is the precision with which the patience of tasks is enforced.
	patienceEvery = time.Second
	// asksEvery is the precision with which approvals and waits for events expire.
	asksEvery = time.Second
	// tidyEvery is how often unused pools are looked for.
	tidyEvery = 15 * time.Second
	// brokenFor is how long a step that can be neither planned nor failed is left alone.
	brokenFor = time.Minute
)

// Config says on which database the loops work. Pool is required; all other fields may be
// zero.
type Config struct {
	Pool *pgxpool.Pool
	// Hints receives notifications of [engine.PlanChannel]. If it is nil, work waits for
	// the next look.
	Hints <-chan struct{}
	// Store shares its parsed definitions with the loops. If it is nil, they have their
	// own.
	Store *Store
	Log   *slog.Logger
}

// Loops returns what the leader does for workflows during one term. It is one loop:
// building, planning and patience share a wake-up, and an idle server runs one query a
// second for all of them.
func Loops(config Config, term pg.Term) []loop.Loop {
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	if config.Store == nil {
		config.Store = New(config.Pool, Options{Log: config.Log})
	}
	l := newLeader(config, term)
	return []loop.Loop{{Name: "workflows", Tick: l.tick, Every: lookEvery, Next: l.due, Wake: config.Hints, Gap: lookGap}}
}

// leader is the one server that builds jobs and plans steps. It keeps nothing that
// another server could not read, and the SQL functions check what it writes, so two
// leaders at once are harmless.
type leader struct {
	*Store
	term pg.Term
	// next is when the next queued job is due, as far as known.
	next time.Time
	// bore, asked and tidied are when patience, what is asked of people, and pools were
	// last checked.
	bore, asked, tidied time.Time
	// broken are tasks whose plan could not be written, and until when they are left
	// alone.
	broken map[weir.ID]time.Time
}

func newLeader(config Config, term pg.Term) *leader {
	return &leader{Store: config.Store, term: term, broken: map[weir.ID]time.Time{}}
}

func (l *leader) due() time.Time { return l.next }

// tick looks and does a bounded part of the work. A part that fails does not keep the
// others from their turn.
func (l *leader) tick(ctx context.Context, now time.Time) (more bool, err error) {
	seen, err := l.signs(ctx)
	if err != nil {
		return false, err
	}
	l.mend(now)
	l.next = time.Time{}
	var faults []error
	try := func(part func(context.Context, time.Time) (bool, error)) bool {
		again, err := part(ctx, now)
		more = more || again
		if err != nil {
			faults = append(faults, err)
		}
		return again
	}
	opened := seen.plan && try(l.plan)
	opened = seen.firings && try(l.fire) || opened
	switch {
	case opened || seen.due != nil && !seen.due.After(seen.now):
		try(l.build)
	case seen.due != nil:
		l.next = now.Add(seen.due.Sub(seen.now))
	}
	if seen.children {
		try(l.cancelOrphans)
	}
	if seen.patience && now.Sub(l.bore) >= patienceEvery {
		l.bore = now
		try(l.bear)
	}
	if seen.asks && now.Sub(l.asked) >= asksEvery {
		l.asked = now
		try(l.settle)
	}
	if seen.pools && now.Sub(l.tidied) >= tidyEvery {
		l.tidied = now
		try(l.tidy)
	}
	return more && len(faults) == 0, errors.Join(faults...)
}

// mend forgets entries of broken that are old enough.
func (l *leader) mend(now time.Time) {
	for id, until := range l.broken {
		if !until.After(now) {
			delete(l.broken, id)
		}
	}
}

// write runs one statement of the term that returns a number.
func (l *leader) write(ctx context.Context, sql string, args ...any) (n int, err error) {
	err = l.term.QueryRow(ctx, l.pool, sql, args, &n)
	return n, err
}

// did runs one statement of the term and ignores its result. A refusal is not an error,
// because another process was faster.
func (l *leader) did(ctx context.Context, sql string, args ...any) error {
	var any bool
	if err := l.term.QueryRow(ctx, l.pool, sql, args, &any); err != nil && !refused(err) {
		return err
	}
	return nil
}
