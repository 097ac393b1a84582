package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// minute is a row of weir.minutes.
type minute struct {
	Submitted, Started, Done, Failed, Canceled, Expired, Refused int64
	WaitP50, RunP50                                              *float64
}

const readMinutes = `select submitted, started, done, failed, canceled, expired, refused, wait_p50::float8, run_p50::float8 from weir.minutes order by at`

func minutes(t *testing.T, db *testdb.DB) []minute {
	t.Helper()
	rows, err := db.Pool.Query(t.Context(), readMinutes)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[minute])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// drain ticks until there is nothing left to count.
func drain(t *testing.T, db *testdb.DB, term pg.Term) *tallier {
	t.Helper()
	tally := &tallier{config: Config{Pool: db.Pool}.withDefaults(), term: term}
	for more := true; more; {
		var err error
		if more, err = tally.tick(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return tally
}

// busy is two minutes of work: in the first, four tasks are submitted, two of
// them after a gate; in the second, one is done after 10 s of waiting and 4 of
// running, one fails, one is canceled, one expires, and a stale call is refused.
func busy(t *testing.T, db *testdb.DB) {
	t.Helper()
	at := func(seconds int) time.Time {
		return time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
	}
	exec(t, db, `select weir.submit_many('[{"service": "a"}, {"service": "b", "max_attempts": 1}, {"service": "c", "hold": "me"}, {"service": "d", "hold": "me"}]', at => $1)`, at(20))
	exec(t, db, `select weir.finish(task, attempt, token, at => $2) from weir.claim('w', '{a}', at => $1)`, at(30), at(34))
	exec(t, db, `select weir.fail(task, attempt, token, 'no', at => $2) from weir.claim('w', '{b}', at => $1)`, at(40), at(44))
	exec(t, db, `select weir.cancel(id, at => $1) from weir.task where service = 'c'`, at(45))
	exec(t, db, `select weir.release(id, at => $1) from weir.task where service = 'd'`, at(45))
	exec(t, db, `create temp table lost as select * from weir.claim('w', '{d}', lease => '1 s', at => $1)`, at(46))
	exec(t, db, `select weir.expire(at => $1)`, at(50))
	exec(t, db, `select weir.finish(task, attempt, token, at => $1) from lost`, at(51))
}

func TestTheTallyCountsEveryEventOnce(t *testing.T) {
	db := testdb.New(t)
	term := leadOnly(t, db.Pool)
	one, err := pgxpool.New(t.Context(), db.URL+"&pool_max_conns=1") // for the temporary table
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(one.Close)
	busy(t, &testdb.DB{Pool: one, URL: db.URL})
	db.Settle(t)
	if tally := drain(t, db, term); tally.due().IsZero() {
		t.Error("it does not look again soon, though something happened")
	}
	got := minutes(t, db)
	if len(got) != 2 {
		t.Fatalf("%d minutes", len(got))
	}
	wait, run := got[1].WaitP50, got[1].RunP50
	got[1].WaitP50, got[1].RunP50 = nil, nil
	if want := (minute{Submitted: 4}); got[0] != want {
		t.Errorf("the first minute is %+v", got[0])
	}
	if want := (minute{Started: 3, Done: 1, Failed: 1, Canceled: 1, Expired: 1, Refused: 1}); got[1] != want {
		t.Errorf("the second minute is %+v", got[1])
	}
	// Of the waits, 10, 20 and 1 s, only the first two can still be known: the third
	// task went back. Both that ended ran for 4 s.
	if wait == nil || *wait != 15 || run == nil || *run != 4 {
		t.Errorf("waited %v, ran %v", wait, run)
	}
	again := minutes(t, db)
	db.Settle(t)
	if tally := drain(t, db, term); !tally.due().IsZero() {
		t.Error("it looks again soon, though nothing happened")
	}
	for i, m := range minutes(t, db) {
		if m.Submitted != again[i].Submitted || m.Done != again[i].Done {
			t.Errorf("counted again: %+v", m)
		}
	}
}

func TestTheTallyWritesNothingWhenNothingHappened(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.submit('s')`)
	leads := leadOnly(t, db.Pool) // it tells the timeline, so it comes first
	db.Settle(t)
	drain(t, db, leads)
	tx, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	var counted int
	var xid *string
	if err := tx.QueryRow(t.Context(), `select counted from weir.tally()`).Scan(&counted); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `select pg_current_xact_id_if_assigned()::text`).Scan(&xid); err != nil {
		t.Fatal(err)
	}
	if counted != 0 || xid != nil {
		t.Errorf("%d counted, transaction id %v", counted, xid)
	}
}

func TestTheTallyWaitsForTransactionsUnderWay(t *testing.T) {
	db := testdb.New(t)
	late, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(t.Context(), `select weir.submit('late')`); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `select weir.submit('early')`)
	sum := func() int64 {
		t.Helper()
		exec(t, db, `select weir.tally()`)
		return scan[int64](t, db, `select coalesce(sum(submitted), 0)::bigint from weir.minutes`)
	}
	if n := sum(); n != 0 {
		t.Errorf("%d counted before the older transaction ended", n)
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "both are counted", func() bool { return sum() == 2 })
}

func TestTheTallyIsBoundedAndForgets(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `insert into weir.minutes (at, done) values (clock_timestamp() - interval '9 days', 1), (clock_timestamp() - interval '7 days', 1)`)
	exec(t, db, `select weir.submit('s') from generate_series(1, 7)`)
	db.Settle(t)
	var counted int
	more := true
	for calls := 0; more; calls++ {
		if err := db.Pool.QueryRow(t.Context(), `select counted, more from weir.tally(3)`).Scan(&counted, &more); err != nil {
			t.Fatal(err)
		}
		if counted > 3 || calls > 10 {
			t.Fatalf("call %d counted %d", calls, counted)
		}
	}
	if n := scan[int](t, db, `select count(*) from weir.minutes where at < clock_timestamp() - interval '1 day'`); n != 1 {
		t.Errorf("%d old minutes are left", n)
	}
	if n := scan[int](t, db, `select sum(submitted)::int from weir.minutes`); n != 7 {
		t.Errorf("%d of 7 counted", n)
	}
}

// What happened before there was a tally is not counted.
func TestTheTallyBeginsWhereItWasMade(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.submit('s')`)
	exec(t, db, `update weir.events set xid = 3`) // a transaction from long before
	exec(t, db, `select weir.tally()`)
	if n := scan[int](t, db, `select count(*) from weir.minutes`); n != 0 {
		t.Errorf("%d minutes of the time before were counted", n)
	}
}

// After a restore the transaction ids begin anew; the tally must go on.
func TestTheTallyGoesOnAfterARestore(t *testing.T) {
	db := testdb.New(t)
	exec(t, db, `select weir.submit('s')`)
	exec(t, db, `update weir.tallied set xid = 1e15`)
	exec(t, db, `update weir.cluster set identity = 1`) // that of a cluster elsewhere
	exec(t, db, `select weir.adopt_restore()`)
	exec(t, db, `select weir.submit('s')`)
	testwait.Until(t, "the new task is counted, the old one not", func() bool {
		exec(t, db, `select weir.tally()`)
		return scan[int](t, db, `select coalesce(sum(submitted), 0)::int from weir.minutes`) == 1
	})
}

// An event whose transaction was under way is counted later, even if no other
// follows.
func TestTheTallyComesBackForLateEvents(t *testing.T) {
	db := testdb.New(t)
	late, err := db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(t.Context(), `select weir.submit('late')`); err != nil {
		t.Fatal(err)
	}
	tally := drain(t, db, leadOnly(t, db.Pool))
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	testwait.Until(t, "it is counted", func() bool {
		now = now.Add(tallyAnyway)
		if _, err := tally.tick(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		return scan[int](t, db, `select coalesce(sum(submitted), 0)::int from weir.minutes`) == 1
	})
}

func TestAnOldLeaderTalliesNothing(t *testing.T) {
	db := testdb.New(t)
	term := leadOnly(t, db.Pool)
	exec(t, db, `select weir.submit('s')`)
	exec(t, db, `update weir.system_locks set epoch = epoch + 1, holder_id = 'other', expires_at = clock_timestamp() + interval '1 min'`)
	tally := &tallier{config: Config{Pool: db.Pool}.withDefaults(), term: term}
	if _, err := tally.tick(t.Context(), time.Now()); !errors.Is(err, coordinator.ErrTermOver) {
		t.Errorf("got %v", err)
	}
	if n := scan[int](t, db, `select count(*) from weir.minutes`); n != 0 {
		t.Errorf("%d minutes were written", n)
	}
}
