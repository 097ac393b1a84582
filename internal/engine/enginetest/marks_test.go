package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testwait"
)

// mark marks every class and every pool anew, as claims and openings do once
// there is much to read.
const mark = `select pg_advisory_xact_lock(86, 1), weir._hold_keys('{p}', false),
	weir._mark_classes(array(select id from weir.classes)), weir._mark_pools(array(select name from weir.pools))`

// healthy fails the test if an invariant is broken.
func (e *engine) healthy() {
	e.Helper()
	for _, detail := range all[string](e, `select name || ': ' || coalesce(detail, '') from weir.doctor() where level = 'invariant' and not ok`) {
		e.Error(detail)
	}
}

// held is a snapshot that somebody holds: no dead row can be removed.
func (e *engine) held() {
	e.Helper()
	tx, err := e.connect().BeginTx(context.Background(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		e.Fatal(err)
	}
	in[int](e, tx, `select count(*)::int from weir.tasks`)
	e.Cleanup(func() { _ = tx.Rollback(context.Background()) })
}

// TestR2MarksUnderOpenTransactions sends some hundred tasks through a pool, in
// transactions that end in any order or roll back, while their leases end in
// every way and marks move: the pool never holds more than its size, knows what
// it holds, and every task that was committed is claimed.
func TestR2MarksUnderOpenTransactions(t *testing.T) {
	t.Parallel()
	e := start(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	e.exec(`select weir.set_pool('p', 3)`)
	submitted, ended := map[string]bool{one[string](e, `select weir.submit('s', pool => 'p')::text`): true}, map[string]bool{}
	submitted[one[string](e, `select weir.submit('s', pool => 'p', priority => 1)::text`)] = true // both classes are there
	writers := e.writers(4)
	work := func(done bool) int {
		leases := all[lease](e, `select task, attempt, token from weir.claim('w', '{s}', $1)`, 1+r.IntN(3))
		for _, l := range leases {
			switch p := r.IntN(10); {
			case done || p < 5:
				ended[l.Task] = true
				e.exec(`select weir.finish($1, $2, $3)`, l.Task, l.Attempt, l.Token)
			case p < 8:
				e.exec(`select weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid])`, l.Task, l.Attempt, l.Token)
			default:
				e.exec(`select weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], clock_timestamp() + interval '1 ms')`, l.Task, l.Attempt, l.Token)
			}
		}
		return len(leases)
	}
	for range 500 {
		w := writers[r.IntN(len(writers))]
		var err error
		switch p := r.IntN(12); {
		case p < 6 && w.tx == nil:
			if w.tx, err = w.conn.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		case p < 4:
			w.tasks = append(w.tasks, in[string](e, w.tx, `select weir.submit('s', pool => 'p', priority => $1)::text`, r.IntN(2)))
		case p < 6:
			w.end(e, r, submitted)
		case p < 10:
			work(false)
		case p < 11:
			e.exec(`select weir.tend(true)`)
		default:
			e.exec(mark)
		}
	}
	for _, w := range writers {
		if w.tx != nil {
			w.end(e, r, submitted)
		}
	}
	for range 3 {
		for {
			e.exec(`select weir.tend(true)`)
			if work(true) == 0 {
				break
			}
		}
		e.exec(`select pg_sleep(0.002)`)
	}
	for id := range submitted {
		if !ended[id] {
			t.Errorf("%s was never done: %v", id, all[string](e, `select reason from weir.why($1)`, id))
		}
	}
	e.healthy()
	if len(submitted) < 50 || one[int](e, `select mark::int from weir.pools`) == 0 {
		t.Errorf("%d tasks, mark %d: nothing was at stake", len(submitted), one[int](e, `select mark::int from weir.pools`))
	}
}

// TestR2AMarkWaitsForOpenTransactions: what a transaction brings that was open
// when a class and a pool were marked is found once it commits.
func TestR2AMarkWaitsForOpenTransactions(t *testing.T) {
	// Not parallel: transactions of others would keep the mark low.
	e := start(t)
	e.exec(`select weir.set_pool('p', 2)`)
	e.exec(`select weir.submit('s', pool => 'p')`)
	e.exec(`select weir.open_gates('{}', '{p}')`)
	e.exec(`select weir.claim('w', '{s}')`)
	open := e.transaction()
	in[int](e, open, `select count(x)::int from (select weir.give_back_many(array[task], array[attempt], array[token]) from weir.running) x`)
	in[string](e, open, `select weir.submit('s', pool => 'p')::text`)
	e.exec(`select weir.submit('t')`) // the newest id is another one
	e.exec(mark)
	e.commit(open)
	e.exec(`select weir.open_gates('{}', '{p}')`)
	if n := one[int](e, `select count(*)::int from weir.claim('w', '{s}', 5)`); n != 2 {
		t.Errorf("claimed %d, want the one that came back and the new one", n)
	}
}

// TestOneMarksAtATime: a claim that has much to read leaves the mark to whoever
// is just setting one, and does not wait.
func TestOneMarksAtATime(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	e.giveBack(1, e.run(1, id))
	e.exec(`insert into weir.class_moves select id, 0, 0 from weir.classes, generate_series(1, 200)`)
	other := e.transaction()
	in[string](e, other, `select pg_advisory_xact_lock(86, 1)::text`)
	l := e.run(200, id)
	if one[bool](e, `select opened_mark > 0 from weir.classes`) {
		t.Error("the class was marked beside somebody who marks")
	}
	e.commit(other)
	e.giveBack(201, l)
	e.run(202, id)
	if !one[bool](e, `select opened_mark > 0 from weir.classes`) {
		t.Error("the class was not marked although there is much to read")
	}
	for _, lock := range []string{`select pg_advisory_xact_lock(86, 1)`, `select weir._hold_keys('{p}', false)`} {
		if !e.waits(lock, `select weir.repair_floors()`) {
			t.Errorf("the repair does not wait for %s", lock)
		}
	}
}

// TestWhatIsSaidIsSaidAgainAfterAMark: a transaction that brings a task to its
// class and to its pool, marks both, and brings it there again says so twice.
func TestWhatIsSaidIsSaidAgainAfterAMark(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1)`)
	id := one[string](e, `select weir.submit('s', pool => 'p')::text`)
	tx := e.transaction()
	do := func(sql string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	// Each turn takes the only task there is from where it waits, marks, and puts it back.
	for range 3 {
		do(`select weir.open_gates('{}', '{p}')`)
		if got := in[int](e, tx, `select count(*)::int from weir.claim('w', '{s}')`); got != 1 {
			t.Fatalf("claimed %d, want 1: %v", got, all[string](e, `select reason from weir.why($1)`, id))
		}
		do(mark)
		do(`select weir.give_back_many(array[task], array[attempt], array[token]) from weir.running`)
		if got := in[int](e, tx, `select count(*)::int from weir.claim('w', '{s}')`); got != 1 {
			t.Fatalf("claimed %d again, want 1", got)
		}
		do(mark)
		do(`select weir.give_back_many(array[task], array[attempt], array[token]) from weir.running`)
		do(`select weir.hold($1, 'me')`, id)
		do(mark)
		do(`select weir.release($1, 'me')`, id)
	}
	e.commit(tx)
	e.exec(`select weir.open_gates('{}', '{p}')`)
	e.healthy()
	if got := one[int](e, `select count(*)::int from weir.claim('w', '{s}')`); got != 1 {
		t.Errorf("claimed %d, want 1: %v", got, all[string](e, `select reason from weir.why($1)`, id))
	}
}

// TestAMarkOfAnotherClusterHidesNothing: a database that was loaded from a dump
// has marks that are ahead of its transactions.
func TestAMarkOfAnotherClusterHidesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1)`)
	first, second := e.submit(0, spec{"service": "s", "pool": "p"}), e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	l := e.run(1, first)
	e.exec(mark)
	ahead := func() {
		e.exec(`update weir.classes set opened_mark = 1e15::bigint`)
		e.exec(`update weir.pools set mark = 1e15::bigint`)
	}
	ahead()
	e.giveBack(2, l)
	e.finish(3, e.run(3, first))
	e.want(map[string]string{second: "available"}) // the place is known to be free
	ahead()
	e.exec(mark)
	e.finish(4, e.run(4, second))
	ahead()
	e.exec(mark)
	e.healthy()
	ahead()
	e.exec(`select weir.adopt_restore(true)`)
	if n := one[int](e, `select count(*)::int from weir.classes where opened_mark > 0`) + one[int](e, `select count(*)::int from weir.pools where mark > 0`); n > 0 {
		t.Errorf("%d marks of the other cluster are left", n)
	}
	e.healthy()
}

// TestAPoolIsCountedOnceOldTransactionsHaveEnded: a transaction that began before
// a migration may end tasks without a word, so what holds a pool is counted after.
func TestAPoolIsCountedOnceOldTransactionsHaveEnded(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 2)`)
	id := e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	older := e.transaction()
	in[string](e, older, `select pg_current_xact_id()::text`)
	e.exec(`update weir.pools set held = null, mark = pg_current_xact_id()::text::bigint`)
	e.exec(mark)
	if !one[bool](e, `select held is null from weir.pools`) {
		t.Error("the pool was counted beside an older transaction")
	}
	if _, err := older.Exec(t.Context(), `delete from weir.available where task = $1`, id); err != nil {
		t.Fatal(err)
	}
	e.commit(older)
	// Transactions of other databases are older, too.
	testwait.Every(t, glance, "the pool is counted", func() bool {
		e.exec(mark)
		return one[bool](e, `select held is not null from weir.pools`)
	})
	if got := one[int](e, `select held from weir.pools`); got != 0 {
		t.Errorf("counted %d, want 0", got)
	}
	e.SkipDoctor("the test took a task out by hand")
}

// TestAPoolThatIsNotCountedYetHolds: until a pool has its first count, who may start
// and who runs is looked up.
func TestAPoolThatIsNotCountedYetHolds(t *testing.T) {
	t.Parallel()
	e := start(t)
	older := e.transaction()
	in[string](e, older, `select pg_current_xact_id()::text`)
	e.exec(`select weir.set_pool('p', 1)`)
	first, second := e.submit(0, spec{"service": "s", "pool": "p"}), e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	for _, holds := range []string{"available", "running"} {
		e.exec(`update weir.pools set held = null, mark = pg_current_xact_id()::text::bigint`)
		e.tend(2)
		e.want(map[string]string{first: holds, second: "pending"})
		if holds == "available" {
			e.run(3, first)
		}
	}
	e.commit(older)
}

// TestWhatMarksHideIsToldAndRepaired: as for the floor of a class.
func TestWhatMarksHideIsToldAndRepaired(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1)`)
	first, second := e.submit(0, spec{"service": "s", "pool": "p"}), e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	e.exec(mark)
	e.exec(`update weir.classes set opened_floor = 9223372036854775807`)
	e.exec(`update weir.pools set head = null, held = 5`)
	for _, id := range []string{first, second} {
		if why := all[string](e, `select gate from weir.why($1, $2) where not open`, id, at(1)); len(why) != 1 || why[0] != "floor" {
			t.Errorf("why: %v, want the gate floor", why)
		}
	}
	for name, words := range map[string]string{"a floor hides no task": second, "a pool knows who holds it": "counted 5, held by 1"} {
		if detail := one[string](e, `select detail from weir.doctor() where name = $1 and not ok`, name); !strings.Contains(detail, words) || !strings.Contains(detail, "weir.repair_floors()") {
			t.Errorf("the doctor says: %s", detail)
		}
	}
	if n := one[int](e, `select weir.repair_floors()`); n != 2 {
		t.Errorf("%d were brought back, want 2", n)
	}
	if n := one[int](e, `select weir.repair_floors()`); n != 0 {
		t.Errorf("%d were brought back again", n)
	}
	e.healthy()
	e.tend(2)
	e.finish(2, e.run(2, first))
	e.finish(3, e.run(3, second))
}

// TestAHeldSnapshotCostsPoolsNoMore: what one task costs does not grow with those
// that went before it while somebody holds a snapshot, through a pool as little as
// without one.
func TestAHeldSnapshotCostsPoolsNoMore(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]string{"plain": `{"service": "s"}`, "pool": `{"service": "s", "pool": "p"}`, "pool, on a node": `{"service": "s", "pool": "p"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.exec(`select weir.set_pool('p', 1000)`)
			if strings.HasSuffix(name, "node") {
				e.exec(`select weir.register_node('n', capacity => '{"s": 1000}'), weir.register_worker('w', '{s}', 'n')`)
			}
			e.held()
			through := func(n int) {
				e.exec(`select weir.submit_many((select jsonb_agg($1::jsonb) from generate_series(1, $2::int)))`, task, n)
				e.exec(`select weir.open_gates('{}', '{p}')`)
				if got := one[int](e, `select count(*)::int from weir.available`); got != n {
					t.Fatalf("%d of %d can be claimed", got, n)
				}
				e.exec(`select weir.finish_many(array_agg(c.task), array_agg(c.attempt), array_agg(c.token)) from weir.claim('w', '{s}', $1) c`, n)
			}
			const turns = 5
			cost := func() int {
				var statements []string
				for range turns {
					statements = append(statements, `select weir.submit_many('[`+task+`]')`, `select weir.open_gates('{}', '{p}')`,
						`select weir.finish(c.task, c.attempt, c.token) from weir.claim('w', '{s}') c`)
				}
				return e.entries(statements...) / turns
			}
			through(50)
			cost()
			before := cost()
			// 4,000 dead rows would be read in every index that is walked.
			most, others := before+3000, 0
			more := func() {
				through(100)
				e.exec(`select weir.tend(true)`)
				others += 100
				if strings.HasSuffix(name, "node") {
					most += 100 // what a node runs is counted by every claim, plain or not
				}
			}
			for range 40 {
				more()
			}
			// While transactions of other databases run, floors and marks stay behind.
			after := cost()
			testwait.Until(t, fmt.Sprintf("a task reads little more than the %d entries of indexes before", before), func() bool {
				if after > most {
					more()
					after = cost()
				}
				return after <= most
			})
			t.Logf("a task read %d entries, after %d others %d", before, others, after)
			e.healthy()
		})
	}
}
