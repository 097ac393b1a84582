package timeline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// startHub runs a hub until the test ends, or until stop is called.
func startHub(t testing.TB, pool *pgxpool.Pool, wake <-chan struct{}, options Options) (h *Hub, stop func()) {
	t.Helper()
	h = NewHub(pool, wake, options)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { h.Run(ctx) })
	stop = func() { cancel(); run.Wait() }
	t.Cleanup(stop)
	return h, stop
}

func follow(t testing.TB, h *Hub, after weir.Cursor, filter Filter) *Follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	f, err := h.Follow(ctx, after, filter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// gather reads until there are n events.
func gather(t testing.TB, f *Follower, n int) (events []*Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	for len(events) < n {
		more, err := f.Next(ctx)
		if err != nil {
			t.Fatalf("after %d of %d events: %v", len(events), n, err)
		}
		events = append(events, more...)
	}
	return events
}

// nothingMore fails if the follower has something to return at once.
func nothingMore(t testing.TB, f *Follower) {
	t.Helper()
	if events, err := f.Within(t.Context(), time.Nanosecond); err != nil || len(events) > 0 {
		t.Errorf("then %v, %v", events, err)
	}
}

// lines returns all events behind a cursor as the table holds them, in order.
func lines(t testing.TB, db *testdb.DB, after weir.Cursor) []string {
	t.Helper()
	p, err := parsePlace(after)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Pool.Query(t.Context(), `select e.seq || ' ' || coalesce(u.task, '00000000-0000-0000-0000-000000000000')
		from weir.events e, unnest(coalesce(e.tasks, array[e.task])) with ordinality u (task, n) where (e.xid, e.seq) > ($1, $2) order by e.xid, e.seq, u.n`, p.xid, p.seq)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func keys(events []*Event) []string {
	list := make([]string, len(events))
	for i, e := range events {
		list[i] = key(e)
	}
	return list
}

// script describes a writer whose transactions overlap: it begins some, and ends them in
// any order.
type script struct {
	// batches are the numbers of tasks that each transaction submits.
	batches []int
	// order is the order in which they end; undone are those that roll back.
	order  []int
	undone []bool
}

func drawScript(t *rapid.T, name string) script {
	n := rapid.IntRange(1, 5).Draw(t, name+" transactions")
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return script{
		batches: rapid.SliceOfN(rapid.IntRange(1, 6), n, n).Draw(t, name+" batches"),
		order:   rapid.Permutation(numbers).Draw(t, name+" order"),
		undone:  rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, name+" undone"),
	}
}

func (s script) run(ctx context.Context, pool *pgxpool.Pool, hint func()) error {
	open := make([]pgx.Tx, len(s.batches))
	for i, n := range s.batches {
		tx, err := pool.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx) //nolint:errcheck // it has ended, if all went well
		open[i] = tx
		_, err = tx.Exec(ctx, `select count(*) from weir.submit_many((select jsonb_agg('{"service": "s"}'::jsonb) from generate_series(1, $1)), hint => false)`, n)
		if err != nil {
			return err
		}
	}
	for _, i := range s.order {
		end := open[i].Commit
		if s.undone[i] {
			end = open[i].Rollback
		}
		if err := end(ctx); err != nil {
			return err
		}
		hint()
	}
	return nil
}

// reader follows from a cursor, and reconnects from its last event after the numbers of
// events in the list, over and over.
type reader struct {
	after  weir.Cursor
	breaks []int
	seen   []string
}

func (r *reader) run(ctx context.Context, h *Hub, until func() int) error {
	cursor := r.after
	for round := 0; ; round++ {
		f, err := h.Follow(ctx, cursor, Filter{})
		if err != nil {
			return err
		}
		for left := r.breaks[round%len(r.breaks)]; left > 0; {
			if n := until(); n >= 0 && len(r.seen) >= n {
				f.Close()
				return nil
			}
			events, err := f.Within(ctx, 10*time.Millisecond)
			if err != nil {
				return fmt.Errorf("after %d events: %w", len(r.seen), err)
			}
			for _, e := range events[:min(left, len(events))] {
				r.seen, cursor = append(r.seen, key(e)), e.Cursor
			}
			left -= len(events)
		}
		f.Close()
	}
}

func TestR8EveryFollowerSeesEveryEventOnceInOrder(t *testing.T) {
	t.Parallel()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	db := testdb.New(t)
	exec(t, db, `select weir.submit('s')`) // the first task of a service makes its class, and other submissions wait for that
	pool, err := pgxpool.New(t.Context(), db.URL+"&pool_max_conns=24")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	rapid.Check(t, func(rt *rapid.T) {
		writers := []script{drawScript(rt, "a"), drawScript(rt, "b"), drawScript(rt, "c")}
		start, err := Tail(t.Context(), db.Pool)
		if err != nil {
			rt.Fatal(err)
		}
		readers := make([]*reader, 4)
		for i := range readers {
			readers[i] = &reader{after: start, breaks: rapid.SliceOfN(rapid.IntRange(1, 12), 1, 5).Draw(rt, "breaks")}
		}
		wake := make(chan struct{}, 1)
		hub, stop := startHub(t, pool, wake, Options{
			Events: rapid.IntRange(1, 30).Draw(rt, "ring"), Gap: time.Duration(rapid.IntRange(1, 5).Draw(rt, "gap")) * time.Millisecond,
		})
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
		defer cancel()
		var total sync.Map // "n" → the number of events, once all have been written
		until := func() int {
			n, ok := total.Load("n")
			if !ok {
				return -1
			}
			return n.(int)
		}
		var reading, writing sync.WaitGroup
		failed := make(chan error, 16)
		for _, r := range readers {
			reading.Go(func() { failed <- r.run(ctx, hub, until) })
		}
		for _, w := range writers {
			writing.Go(func() {
				failed <- w.run(ctx, pool, func() {
					select {
					case wake <- struct{}{}:
					default:
					}
				})
			})
		}
		writing.Wait()
		want := lines(t, db, start)
		total.Store("n", len(want))
		reading.Wait()
		close(failed)
		for err := range failed {
			if err != nil {
				rt.Fatal(err)
			}
		}
		for i, r := range readers {
			if !slices.Equal(r.seen, want) {
				rt.Fatalf("reader %d saw %d events, there are %d:\n%v\n%v", i, len(r.seen), len(want), r.seen, want)
			}
		}
	})
}

func TestWhoFallsBehindReadsTheDatabaseUntilItIsInTheRingAgain(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	hub, _ := startHub(t, db.Pool, nil, Options{Events: 10, Gap: time.Millisecond})
	slow, fast := follow(t, hub, "", Filter{}), follow(t, hub, "", Filter{})
	start := slow.Cursor()
	exec(t, db, `select weir.submit('s') from generate_series(1, 500)`)
	exec(t, db, `select count(*) from weir.submit_many((select jsonb_agg('{"service": "s"}'::jsonb) from generate_series(1, 6000)))`)
	want := lines(t, db, start)
	if got := keys(gather(t, fast, len(want))); !slices.Equal(got, want) {
		t.Errorf("the fast one saw %d events, there are %d", len(got), len(want))
	}
	if hub.ring.Load().holds(slow.at) {
		t.Fatal("the slow one is not behind")
	}
	got := gather(t, slow, len(want))
	for range 3 {
		exec(t, db, `select weir.submit('s')`)
		got = append(got, gather(t, slow, 1)...)
	}
	if want := lines(t, db, start); !slices.Equal(keys(got), want) {
		t.Errorf("the slow one saw %d events, there are %d", len(got), len(want))
	}
	if !hub.ring.Load().holds(slow.at) {
		t.Error("the slow one is still behind")
	}
	nothingMore(t, slow)
}

func TestEveryLineOfABatchIsAPlaceToGoOnFrom(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	hub, _ := startHub(t, db.Pool, nil, Options{Gap: time.Millisecond})
	keep := follow(t, hub, "", Filter{}) // so that the hub keeps reading
	start := keep.Cursor()
	exec(t, db, `select count(*) from weir.submit_many((select jsonb_agg('{"service": "s"}'::jsonb) from generate_series(1, 7)))`)
	exec(t, db, `select weir.submit('s')`)
	all := gather(t, keep, 8)
	small, _ := startHub(t, db.Pool, nil, Options{Events: 1, Gap: time.Millisecond})
	for name, h := range map[string]*Hub{"ring": hub, "database": small} {
		for i, e := range all[:7] {
			f := follow(t, h, e.Cursor, Filter{})
			if got := keys(gather(t, f, 7-i)); !slices.Equal(got, keys(all[i+1:])) {
				t.Errorf("%s: after %s: %v", name, e.Cursor, got)
			}
			nothingMore(t, f)
		}
		for i, e := range all {
			after := start
			if i > 0 {
				after = all[i-1].Cursor
			}
			f := follow(t, h, after, Filter{Task: e.Task})
			if got := gather(t, f, 1); len(got) != 1 || got[0].Cursor != e.Cursor || got[0].Task != e.Task {
				t.Errorf("%s: of task %s: %v", name, e.Task, keys(got))
			}
			nothingMore(t, f)
		}
	}
}

func TestAHubReadsOnlyWhileSomebodyFollows(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	hub, _ := startHub(t, db.Pool, nil, Options{Gap: time.Millisecond})
	for range 3 {
		one, two := follow(t, hub, "", Filter{}), follow(t, hub, "", Filter{})
		exec(t, db, `select weir.submit('s')`)
		gather(t, one, 1)
		one.Close()
		one.Close() // a second Close does nothing
		exec(t, db, `select weir.submit('s')`)
		gather(t, two, 2)
		if n := hub.Followers(); n != 1 {
			t.Errorf("%d follow", n)
		}
		two.Close()
		if r := hub.ring.Load(); r.open || len(r.events) > 0 || hub.Followers() != 0 {
			t.Error("the hub reads on, or keeps events, with nobody there")
		}
	}
	// A statement that is canceled when the last follower leaves ends a moment later.
	testwait.Until(t, "no statement runs", func() bool {
		return one[int](t, db, `select count(*) from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`) == 0
	})
}

func TestAHubThatEndsTellsItsFollowers(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	hub, stop := startHub(t, db.Pool, nil, Options{})
	f := follow(t, hub, "", Filter{})
	got := make(chan error, 1)
	go func() { _, err := f.Next(context.Background()); got <- err }()
	stop()
	var p *problem.Problem
	if err := <-got; !errors.As(err, &p) || p.Kind != problem.Unreachable {
		t.Errorf("got %v", err)
	}
	if _, err := hub.Follow(t.Context(), "", Filter{}); !errors.As(err, &p) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	idle, _ := startHub(t, db.Pool, nil, Options{})
	g := follow(t, idle, "", Filter{})
	if _, err := g.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCursorsThatLeadNowhereAreRefused(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	hub, _ := startHub(t, db.Pool, nil, Options{Events: 2})
	keep := follow(t, hub, "", Filter{})
	first := keep.Cursor()
	old(t, db)
	gather(t, keep, len(lines(t, db, first))) // then it has left the ring
	for _, good := range []weir.Cursor{first, "0.0", "1.1"} {
		f := follow(t, hub, good, Filter{})
		f.Close()
	}
	exec(t, db, `update weir.schema_version set applied_at = applied_at - interval '1 year'`) // the history is longer than the test
	exec(t, db, `select weir.drop_partitions('30 days')`)
	var p *problem.Problem
	for _, stale := range []weir.Cursor{first, "1.1", "1.1+3"} {
		if _, err := hub.Follow(t.Context(), stale, Filter{}); !errors.As(err, &p) || p.Kind != problem.Stale || p.Next == "" {
			t.Errorf("%s: %v", stale, err)
		}
	}
	ahead := weir.Cursor(fmt.Sprint(one[int64](t, db, `select pg_snapshot_xmax(pg_current_snapshot())::text::bigint`)+1000000, ".1"))
	if _, err := hub.Follow(t.Context(), ahead, Filter{}); !errors.As(err, &p) || p.Kind != problem.Conflict || p.Next == "" {
		t.Errorf("%s: %v", ahead, err)
	}
	for _, bad := range []weir.Cursor{"x", "1"} {
		if _, err := hub.Follow(t.Context(), bad, Filter{}); !errors.As(err, &p) || p.Kind != problem.Invalid || p.Field != "after" {
			t.Errorf("%s: %v", bad, err)
		}
	}
	f := follow(t, hub, "0.0", Filter{})
	if want := lines(t, db, "0.0"); !slices.Equal(keys(gather(t, f, len(want))), want) {
		t.Error("0.0 is not all that is kept")
	}
}
