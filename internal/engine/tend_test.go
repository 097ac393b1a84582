package engine

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/tending"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

const stateOf = `select state::text from weir.task where id = $1`

func TestTendStartsTasksWhenTheyAreDue(t *testing.T) {
	db := testdb.New(t)
	available := hear(t, db, "weir_available")
	_, c := lead(t, db.Pool, func(term *coordinator.Term) []loop.Loop { return Loops(Config{Pool: db.Pool}, term) })
	testwait.Until(t, "the first pass", func() bool { return ticks(c, "tend") > 0 })
	available.Take()
	id := scan[string](t, db, `select weir.submit('s', run_at => clock_timestamp() + interval '1700 ms', hint => false)`)
	testwait.Until(t, "the task is available", func() bool { return scan[string](t, db, stateOf, id) == "available" })
	late := scan[float64](t, db, `select extract(epoch from t.since - t.run_at)::float8 from weir.task t where id = $1`, id)
	t.Logf("opened %.1f ms after it was due", 1000*late)
	if late < 0 || late > 20 {
		t.Errorf("opened %v s after it was due", late)
	}
	testwait.Until(t, "the workers are told", func() bool {
		hint := available.Take()
		return hint.All || len(hint.Notes) > 0
	})
}

func ticks(c *coordinator.Coordinator, name string) int64 {
	for _, s := range c.Status().Loops {
		if s.Name == name {
			return s.Ticks
		}
	}
	return 0
}

func TestATaskIsDueBetweenTwoRareLooks(t *testing.T) {
	db := testdb.New(t)
	id := scan[string](t, db, `select weir.submit('s', run_at => clock_timestamp() + interval '2 s')`)
	lead(t, db.Pool, func(term *coordinator.Term) []loop.Loop {
		return Loops(Config{Pool: db.Pool, TendEvery: time.Hour}, term)
	})
	testwait.Until(t, "the task is available", func() bool { return scan[string](t, db, stateOf, id) == "available" })
}

func TestTendEndsLeasesThatRanOut(t *testing.T) {
	db := testdb.New(t)
	id := scan[string](t, db, `select weir.submit('s')`)
	exec(t, db, `select weir.claim('w', '{s}', lease => '1 ms')`)
	lead(t, db.Pool, func(term *coordinator.Term) []loop.Loop { return Loops(Config{Pool: db.Pool}, term) })
	testwait.Until(t, "the task is available again", func() bool { return scan[string](t, db, stateOf, id) == "available" })
}

func TestAHintOpensItsKeysBeforeTheSweep(t *testing.T) {
	db := testdb.New(t)
	gates := hear(t, db, tending.GatesChannel)
	exec(t, db, `select weir.set_pool('p', 10)`)
	tend := tending.New(tending.Config{Pool: db.Pool, Gates: gates, Term: leadOnly(t, db.Pool)}).Loop()
	now := time.Now()
	tick := func(after time.Duration) {
		t.Helper()
		if _, err := tend.Tick(t.Context(), now.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	tick(0) // sweeps, because listening has begun
	<-gates.C()

	in := func(pool, lane string, hint bool) string {
		return scan[string](t, db, `select weir.submit('s', pool => nullif($1, ''), lane => nullif($2, ''), hint => $3)`, pool, lane, hint)
	}
	quiet, pool, lane := in("p", "", false), in("", "l", true), in("p", "m", true)
	<-gates.C()
	testwait.Until(t, "both hints have come", func() bool {
		tick(time.Millisecond)
		return scan[string](t, db, stateOf, pool) == "available" && scan[string](t, db, stateOf, lane) == "available"
	})
	// The pool that the hint named was opened whole; another lane was not.
	if got := scan[string](t, db, stateOf, quiet); got != "available" {
		t.Errorf("the task of the same pool is %s", got)
	}
	other := in("", "n", false)
	tick(2 * time.Second)
	if got := scan[string](t, db, stateOf, other); got != "pending" {
		t.Errorf("before the sweep, the task without a hint is %s", got)
	}
	tick(16 * time.Second)
	if got := scan[string](t, db, stateOf, other); got != "available" {
		t.Errorf("after the sweep, the task without a hint is %s", got)
	}
}

func TestATaskThatIsExpectedCallsThePass(t *testing.T) {
	db := testdb.New(t)
	var ready int
	tender := tending.New(tending.Config{Pool: db.Pool, Gates: hear(t, db, tending.GatesChannel), Term: leadOnly(t, db.Pool), Ready: func() { ready++ }})
	l, now := tender.Loop(), time.Now()
	tick := func(after time.Duration) {
		t.Helper()
		if more, err := l.Tick(t.Context(), now.Add(after)); more || err != nil {
			t.Fatal(more, err)
		}
	}
	called := func() bool {
		select {
		case <-l.Wake:
			return true
		default:
			return false
		}
	}
	called() // listening has begun
	tick(0)
	if at := l.Next(); !at.Equal(now.Add(l.Every)) || called() {
		t.Errorf("nothing is expected, and the next pass is at %s", at.Sub(now))
	}
	tender.Expect(now.Add(300 * time.Millisecond))
	if !called() {
		t.Error("a task that is due soon does not call the loop")
	}
	tender.Expect(now.Add(400 * time.Millisecond))
	if called() {
		t.Error("a task that is due later calls the loop")
	}
	tick(10 * time.Millisecond) // called before the time, it waits
	if at := l.Next(); !at.Equal(now.Add(300*time.Millisecond)) || ready != 0 {
		t.Errorf("the next pass is at %s, and workers were called %d times", at.Sub(now), ready)
	}
	tick(300 * time.Millisecond)
	if at := l.Next(); !at.Equal(now.Add(300*time.Millisecond+l.Every)) || ready != 1 {
		t.Errorf("when it is due the next pass is at %s, and workers were called %d times", at.Sub(now), ready)
	}
}

func TestALimitThatIsFullDoesNotSpin(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.set_pool('p', 1, 1000, '1 s')`)
	exec(t, db, `select weir.submit('s', pool => 'p') from generate_series(1, 3)`)
	tend := tending.New(tending.Config{Pool: db.Pool, Term: leadOnly(t, db.Pool)}).Loop()
	if _, err := tend.Tick(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `select weir.claim('w', '{s}')`)
	start := time.Now()
	testwait.Until(t, "the start in the full pool is old", func() bool {
		start = start.Add(time.Hour)
		if _, err := tend.Tick(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		return scan[bool](t, db, `select max(at) < clock_timestamp() - interval '1 s' from weir.starts`) && tend.Next().Equal(start.Add(tend.Every))
	})
}

// counter counts statements, but for the begin and commit that travel with them.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (c *counter) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if !strings.HasPrefix(data.SQL, "begin ") && data.SQL != "commit" {
		c.n.Add(1)
	}
}
func (c *counter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func TestAnIdleCoordinatorAsksLessThanThreeQueriesASecond(t *testing.T) {
	db := testdb.New(t)
	var queries counter
	pool, err := pg.Open(t.Context(), db.URL, pg.Options{Configure: func(c *pgxpool.Config) { c.ConnConfig.Tracer = &queries }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	gates := hear(t, db, tending.GatesChannel)
	exec(t, db, `select weir.set_schedule('rare', '@yearly', '{"service": "s"}', clock_timestamp() + interval '100 days')`)
	_, c := lead(t, pool, func(term *coordinator.Term) []loop.Loop { return Loops(Config{Pool: pool, Gates: gates}, term) })
	testwait.Until(t, "all have begun", func() bool { return ticks(c, "analyze") > 0 && ticks(c, "partitions") > 0 && ticks(c, "tend") > 2 })
	start, before, passes := time.Now(), queries.n.Load(), ticks(c, "tend")
	testwait.Until(t, "five passes", func() bool { return ticks(c, "tend") >= passes+5 })
	rate := float64(queries.n.Load()-before) / time.Since(start).Seconds()
	t.Logf("idle: %.2f queries/s", rate)
	if rate > 3 {
		t.Errorf("an idle coordinator asks %.2f queries/s", rate)
	}
}
