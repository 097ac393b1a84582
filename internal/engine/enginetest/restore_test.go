package enginetest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// elsewhere plays what a restore does: the rows carry transaction ids that this
// cluster has not reached, and the identity of the one they come from.
func (e *engine) elsewhere() {
	e.Helper()
	e.exec(`update weir.events set xid = xid + 1000000000000`)
	e.exec(`update weir.horizon set xid = 1000000000000`)
	e.exec(`update weir.cluster set identity = 1`)
}

// TestADatabaseFromADumpGoesOn: readers of the timeline would wait for what this
// cluster has not reached, and so would the floors. It is moved once, keeps its
// order, and a cursor of the other cluster is refused, also when this one has come
// as far.
func TestADatabaseFromADumpGoesOn(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.adopt_restore()`)
	task := e.submit(0, spec{"service": "s"})
	e.finish(1, e.claimOne(1, "w", "s"))
	e.exec(`select weir.submit('before', at => $1) from generate_series(1, 3)`, at(1))
	e.elsewhere()
	old := one[string](e, `select max(xid) || '.' || max(seq) from weir.events`)
	health := func() int {
		return one[int](e, `select count(*)::int from weir.doctor() where not ok and name = 'the timeline belongs to this cluster' and detail like '%weir.adopt_restore()'`)
	}
	if n := one[int](e, `select count(*)::int from weir.events_after('0.0')`); n != 0 {
		t.Fatalf("%d events can be read before the restore is adopted: the test does not play it", n)
	}
	if health() != 1 {
		t.Error("the doctor does not see it")
	}
	if n := one[int](e, `select weir.adopt_restore()::int`); n != 6 {
		t.Errorf("%d events were moved, want 6", n)
	}
	if n := one[int](e, `select weir.adopt_restore()::int`); n != 0 {
		t.Errorf("a second call moved %d events", n)
	}
	if health() != 0 {
		t.Error("the doctor still sees it")
	}
	// Writers elsewhere in the cluster may hold them back for a moment.
	testwait.Until(t, "the old events can be read", func() bool { return one[int](e, `select count(*)::int from weir.events_after('0.0')`) == 6 })
	if types := one[string](e, `select string_agg(type, ' ') from weir.events_after('0.0', only_task => $1)`, task); types != "submitted claimed done" {
		t.Errorf("readers see %s", types)
	}
	behind := one[string](e, `select max(cursor collate "C") from weir.events_after('0.0')`)
	e.exec(`select weir.submit('after', at => $1)`, at(2))
	testwait.Until(t, "the new event follows", func() bool {
		return one[int](e, `select count(*)::int from weir.events_after($1) where type = 'submitted'`, behind) == 1
	})
	e.refused("WR409", `select * from weir.events_after($1)`, old)
	// One of a cluster that has come further in every way.
	e.refused("WR409", `select * from weir.events_after('900000000000000000.9000000000000000000')`)
	// As if this cluster had come as far as the other one.
	xid := one[string](e, `select split_part(weir.events_tail(), '.', 1)`)
	refusal := e.refused("WR409", `select * from weir.events_after($1 || '.' || split_part($2, '.', 2))`, xid, old)
	if !strings.Contains(refusal.Hint, "weir.events_tail()") {
		t.Errorf("the hint is %q", refusal.Hint)
	}
	e.exec(`select * from weir.events_after(weir.events_tail())`)
}

// TestAnUpgradeMovesNothing: a database that has not noted its cluster yet notes
// it, whatever its transaction ids look like; an operator may say that it came
// from elsewhere.
func TestAnUpgradeMovesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.submit(0, spec{"service": "s"})
	e.exec(`update weir.cluster set identity = null`)
	e.exec(`update weir.events set xid = xid + 1000000000000`)
	if n := one[int](e, `select weir.adopt_restore()::int`); n != 0 {
		t.Errorf("%d events were moved", n)
	}
	if !one[bool](e, `select identity = weir._cluster_identity() and since_xid = 0 from weir.cluster`) {
		t.Error("the cluster is not noted")
	}
	if n := one[int](e, `select count(*)::int from weir.doctor() where not ok and name = 'the timeline belongs to this cluster' and detail like '%weir.adopt_restore(true)'`); n != 1 {
		t.Error("the doctor does not say what to do")
	}
	if n := one[int](e, `select weir.adopt_restore(true)::int`); n != 1 {
		t.Errorf("%d events were moved, want 1", n)
	}
}

// TestR8StartsBesideWriters: what every start of a server calls, beside writers,
// moves no event; and where the database comes from elsewhere, two servers that
// start at once move the old ones once and no new one. A follower sees each new
// event once.
func TestR8StartsBesideWriters(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(e *engine){"the same cluster": func(*engine) {}, "another cluster": (*engine).elsewhere} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.exec(`select weir.adopt_restore()`)
			e.exec(`select weir.submit('before') from generate_series(1, 20)`)
			from(e)
			const writers, each = 4, 60
			pool := e.widePool(writers + 2)
			var all, starts sync.WaitGroup
			for range writers {
				all.Go(func() {
					for range each {
						if _, err := pool.Exec(context.Background(), `select weir.submit('s')`); err != nil {
							t.Error(err)
						}
					}
				})
			}
			var moved atomic.Int64
			over := make(chan struct{})
			for range 2 {
				starts.Go(func() {
					for calls := 0; ; calls++ {
						var n int64
						if err := pool.QueryRow(context.Background(), `select weir.adopt_restore()`).Scan(&n); err != nil {
							t.Error(err)
						}
						moved.Add(n)
						select {
						case <-over:
							return
						default:
						}
					}
				})
			}
			all.Wait()
			close(over)
			starts.Wait()
			// Only what came with the dump was moved, and what was written before somebody looked. A writer that
			// waited for the move has the same id and a number behind the gap.
			if n := one[int](e, `select count(*)::int from weir.events e, weir.cluster c where e.type = 'submitted' and e.xid = c.since_xid and e.seq < c.since_seq`); int64(n) != moved.Load() || name == "the same cluster" && n != 0 || name != "the same cluster" && n < 20 {
				t.Errorf("%d events were moved, %d have the id of the move", moved.Load(), n)
			}
			if n := one[int](e, `select (since_seq / 1000000)::int from weir.cluster`); n > 1 {
				t.Errorf("the database was taken over %d times", n)
			}
			// A transaction that had its id when the move began is read before it, whenever it writes: all others are in order.
			if n := one[int](e, `select count(*)::int from weir.cluster c, weir.events a, weir.events b where a.seq < b.seq and b.seq < c.since_seq and (a.xid > b.xid or b.xid > c.since_xid)`); n != 0 {
				t.Errorf("%d pairs are out of order", n)
			}
		})
	}
}

// TestAdoptionNeedsItsOwnTransaction: one that has its id already could take
// what others wrote meanwhile for old.
func TestAdoptionNeedsItsOwnTransaction(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`update weir.cluster set identity = 1`)
	tx := e.transaction()
	in[string](e, tx, `select pg_current_xact_id()::text`)
	if _, err := tx.Exec(t.Context(), `select weir.adopt_restore()`); sqlstate(err) != "WR409" {
		t.Errorf("answered %v, want WR409", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	e.exec(`select weir.adopt_restore()`)
}

// A transaction that writes sees its own events, whose id may be ahead of its
// snapshot: that is no dump.
func TestTheDoctorOfAWriterSeesNoDump(t *testing.T) {
	db, ctx := testdb.New(t), t.Context()
	begin := func() pgx.Tx {
		t.Helper()
		tx, err := db.Pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		return tx
	}
	older, writer := begin(), begin()
	if _, err := older.Exec(ctx, `select pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Exec(ctx, `select weir.submit('mine')`); err != nil {
		t.Fatal(err)
	}
	var red []string
	if err := writer.QueryRow(ctx, `select coalesce(array_agg(name), '{}') from weir.doctor() where not ok`).Scan(&red); err != nil {
		t.Fatal(err)
	}
	if len(red) > 0 {
		t.Errorf("red: %v", red)
	}
}

// TestOneAdoptsARestore: a second one who adopts a restore waits for the first, and
// then finds nothing to do.
func TestOneAdoptsARestore(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`update weir.cluster set identity = 1`)
	if !e.waits(`select pg_advisory_xact_lock(86, 2)`, `select weir.adopt_restore()`) {
		t.Error("it does not wait for who adopts")
	}
}
