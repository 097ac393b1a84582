package timeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func feed(t *testing.T, pool *pgxpool.Pool, after weir.Cursor, filter Filter, wake <-chan struct{}) *Feed {
	t.Helper()
	f, err := NewFeed(pool, after, filter, wake)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func next(t *testing.T, f *Feed) []*Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events, err := f.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestR8ALateCommitIsNeverMissed(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	ctx := t.Context()
	submit := func(q interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	},
	) (id weir.ID) {
		t.Helper()
		if err := q.QueryRow(ctx, `select weir.submit('s')`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	submit(db.Pool) // the first task of a service makes its class, and other submissions wait for that
	slow, err := db.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback(ctx) //nolint:errcheck // committed long before, if all goes well
	early := submit(slow)    // the lower number
	late := submit(db.Pool)  // a higher one that commits first

	all, only := feed(t, db.Pool, "", Filter{}, nil), feed(t, db.Pool, "", Filter{Task: early}, nil)
	for _, f := range []*Feed{all, only} {
		found, err := f.read(ctx)
		if err != nil || found.full {
			t.Fatal(found.full, err)
		}
		for _, e := range found.events {
			if e.Task == late || e.Task == early {
				t.Errorf("%s is read while an older transaction runs", e.Task)
			}
		}
	}
	if err := slow.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	// The first task may arrive now, too, because other transactions of this server hold
	// the horizon back.
	var got []weir.ID
	for !slices.Contains(got, late) {
		for _, e := range next(t, all) {
			if e.Task == early || e.Task == late {
				got = append(got, e.Task)
			}
		}
	}
	if !slices.Equal(got, []weir.ID{early, late}) {
		t.Errorf("got %v, want %v", got, []weir.ID{early, late})
	}
	// The cursor of the narrow feed has moved over the events that the filter left out,
	// not further.
	if events := next(t, only); len(events) != 1 || events[0].Task != early {
		t.Errorf("got %+v", events)
	}
}

// key identifies an event.
func key(e *Event) string { return fmt.Sprint(e.Seq, " ", e.Task) }

func TestR8NoGapAndNoDuplicateOverTwentyReconnects(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	reader, err := pg.Open(t.Context(), db.URL, pg.Options{Name: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				submitSome(t, db)
			}
		})
	}
	var seen []string
	var cursor weir.Cursor
	for round := range 20 {
		feed := feed(t, reader, cursor, Filter{}, nil)
		for want := len(seen) + 50; len(seen) < want; {
			if _, err := db.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reader' and datname = current_database()`); err != nil {
				t.Fatal(err)
			}
			events := next(t, feed)
			if round%2 == 0 {
				events = events[:1+rand.N(len(events))] // break off in the middle, also of a batch
				want = 0
			}
			for _, e := range events {
				seen, cursor = append(seen, key(e)), e.Cursor
			}
		}
	}
	stop()
	writers.Wait()

	rows, err := db.Pool.Query(t.Context(), `select e.seq || ' ' || coalesce(u.task, '00000000-0000-0000-0000-000000000000')
		from weir.events e left join lateral unnest(coalesce(e.tasks, array[e.task])) u (task) on true order by e.xid, e.seq`)
	if err != nil {
		t.Fatal(err)
	}
	want, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	// The last events may have to wait for a transaction of another database.
	rest := feed(t, db.Pool, cursor, Filter{}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	for len(seen) < len(want) {
		events, err := rest.Next(ctx)
		if err != nil {
			t.Errorf("after %d of %d events: %v", len(seen), len(want), err)
			break
		}
		for _, e := range events {
			seen = append(seen, key(e))
		}
	}
	if !slices.Equal(seen, want) {
		slices.Sort(seen)
		t.Errorf("saw %d events, %d of them once; there are %d", len(seen), len(slices.Compact(seen)), len(want))
	}
	t.Logf("%d events", len(want))
}

// submitSome submits some tasks in a transaction that stays open for a while, or is
// rolled back.
func submitSome(t *testing.T, db *testdb.DB) {
	ctx := t.Context()
	undone := errors.New("undone")
	err := pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select count(*) from weir.submit_many((select jsonb_agg('{"service": "s"}'::jsonb) from generate_series(1, $1)), hint => false)`, 1+rand.N(3))
		if err != nil {
			return err
		}
		loop.Wait(ctx, rand.N(20*time.Millisecond), nil)
		if rand.N(5) == 0 {
			return undone
		}
		return nil
	})
	if err != nil && !errors.Is(err, undone) {
		t.Error(err)
	}
}

func TestFeedFilters(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	job := one[weir.ID](t, db, `select weir.submit_job('[{"service": "s", "key": "a"}, {"service": "s", "key": "b"}]', 'j')`)
	other := one[weir.ID](t, db, `select weir.submit('s')`)
	exec(t, db, `select weir.cancel($1)`, other)
	db.Settle(t)
	for _, c := range []struct {
		name   string
		filter Filter
		want   func(*Event) bool
	}{
		{"job", Filter{Job: job}, func(e *Event) bool { return e.Job == job }},
		{"task", Filter{Task: other}, func(e *Event) bool { return e.Task == other }},
		{"type", Filter{Types: []string{"canceled"}}, func(e *Event) bool { return e.Type == "canceled" && e.Task == other }},
		{"kind", Filter{Kinds: []string{"job"}}, func(e *Event) bool { return e.Kind == "job" && e.Subject == job.String() }},
		{"match", Filter{Match: func(e *Event) bool { return e.Task == other }}, func(e *Event) bool { return e.Task == other }},
	} {
		feed := feed(t, db.Pool, "", c.filter, nil)
		for _, e := range next(t, feed) {
			if !c.want(e) {
				t.Errorf("%s: got %+v", c.name, e)
			}
		}
		if found, err := feed.read(t.Context()); err != nil || len(found.events) > 0 {
			t.Errorf("%s: then %v, %v", c.name, found.events, err)
		}
	}
}

func TestFeedFromTheTailSeesWhatComesNext(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	exec(t, db, `select weir.submit('s')`)
	db.Settle(t)
	tail, err := Tail(t.Context(), db.Pool)
	if err != nil {
		t.Fatal(err)
	}
	wake := make(chan struct{}, 1)
	feed := feed(t, db.Pool, tail, Filter{}, wake)
	id := one[weir.ID](t, db, `select weir.submit('s')`)
	wake <- struct{}{}
	if events := next(t, feed); len(events) != 1 || events[0].Task != id || events[0].Type != "submitted" || events[0].At.IsZero() {
		t.Errorf("got %+v", events)
	}
}

func TestAFeedEndsWithItsContextAndRefusesABadCursor(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := feed(t, db.Pool, "", Filter{Types: []string{"none"}}, nil).Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	var refused *problem.Problem
	if _, err := NewFeed(db.Pool, "yesterday", Filter{}, nil); !errors.As(err, &refused) || refused.Kind != problem.Invalid || refused.Field != "after" {
		t.Errorf("got %v", err)
	}
}
