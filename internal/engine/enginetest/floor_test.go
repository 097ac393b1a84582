package enginetest

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/schema"
)

// transaction is an open transaction on a connection of its own.
func (e *engine) transaction() pgx.Tx {
	e.Helper()
	tx, err := e.connect().Begin(context.Background())
	if err != nil {
		e.Fatal(err)
	}
	return tx
}

// in runs a query in an open transaction and returns its value.
func in[T any](e *engine, tx pgx.Tx, sql string, args ...any) T {
	e.Helper()
	found, err := ask[T](tx, sql, args...)
	if err != nil || len(found) != 1 {
		e.Fatalf("%s: %d rows, %v", sql, len(found), err)
	}
	return found[0]
}

func (e *engine) commit(tx pgx.Tx) {
	e.Helper()
	if err := tx.Commit(context.Background()); err != nil {
		e.Fatal(err)
	}
}

// burn draws numbers that no task has, so that a floor has somewhere to rise to.
func (e *engine) burn(n int) {
	e.Helper()
	e.exec(`select count(nextval('weir.order_seq')) from generate_series(1, $1)`, n)
}

// TestR2AFloorWaitsForOpenSubmitters: a task that is submitted in a transaction
// that stays open, while horizons are taken and floors rise, can be claimed once
// that transaction commits. The cases differ in who else is open at that time.
func TestR2AFloorWaitsForOpenSubmitters(t *testing.T) {
	// Not parallel: transactions of others would hide what is at stake here.
	for name, meanwhile := range map[string]func(e *engine, submit func() pgx.Tx) pgx.Tx{
		"an older transaction ends between two looks": func(e *engine, submit func() pgx.Tx) pgx.Tx {
			older := e.transaction()
			in[string](e, older, `select pg_current_xact_id()::text`)
			a := submit()
			e.exec(`select weir.tend()`)
			e.commit(older)
			e.exec(`select weir.tend()`)
			return a
		},
		"the one who tends has its transaction id from before": func(e *engine, submit func() pgx.Tx) pgx.Tx {
			tender := e.transaction()
			in[string](e, tender, `select pg_current_xact_id()::text`)
			a := submit()
			in[int](e, tender, `select opened from weir.tend()`)
			e.commit(tender)
			return a
		},
		"the submitter works in a savepoint": func(e *engine, _ func() pgx.Tx) pgx.Tx {
			older := e.transaction()
			in[string](e, older, `select pg_current_xact_id()::text`)
			a := e.transaction()
			inner, err := a.Begin(context.Background())
			if err != nil {
				e.Fatal(err)
			}
			in[string](e, inner, `select weir.submit('s')::text`)
			e.commit(inner)
			e.exec(`select weir.tend()`)
			e.commit(older)
			return a
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			e.exec(`select weir.submit('s')`)
			if n := len(all[string](e, `select task::text from weir.claim('w', '{s}')`)); n != 1 {
				t.Fatalf("claimed %d, want 1", n)
			}
			e.burn(2000)
			a := meanwhile(e, func() pgx.Tx {
				a := e.transaction()
				in[string](e, a, `select weir.submit('s')::text`)
				return a
			})
			for range 3 {
				e.exec(`select weir.tend()`)
			}
			e.commit(a)
			for range 3 {
				e.exec(`select weir.tend()`)
			}
			if n := len(all[string](e, `select task::text from weir.claim('w', '{s}')`)); n != 1 {
				t.Errorf("claimed %d, want 1: it is hidden below floor %d", n, one[int](e, `select max(floor)::int from weir.classes`))
			}
			// And floors rise: otherwise nothing was at stake.
			testwait.Every(e, glance, "the floor rises", func() bool {
				e.burn(1000)
				e.exec(`select weir.tend()`)
				return one[int](e, `select max(floor)::int from weir.classes`) > 2000
			})
		})
	}
}

// writer submits tasks in a transaction that stays open for a while.
type writer struct {
	conn  *pgx.Conn
	tx    pgx.Tx // nil: none is open
	tasks []string
}

func (e *engine) writers(n int) []*writer {
	e.Helper()
	list := make([]*writer, n)
	for i := range list {
		list[i] = &writer{conn: e.connect()}
	}
	return list
}

// end commits, and then its tasks are submitted, or rolls back, now and then.
func (w *writer) end(e *engine, r *rand.Rand, submitted map[string]bool) {
	e.Helper()
	var err error
	if r.IntN(5) == 0 {
		err = w.tx.Rollback(context.Background())
	} else if err = w.tx.Commit(context.Background()); err == nil {
		for _, id := range w.tasks {
			submitted[id] = true
		}
	}
	if err != nil {
		e.Fatal(err)
	}
	w.tx, w.tasks = nil, nil
}

// TestR2FloorsUnderOpenTransactions submits some hundred tasks in transactions
// that end in any order, or roll back, beside others that only hold an id, while
// floors rise past thousands of numbers: every task that was committed is claimed.
func TestR2FloorsUnderOpenTransactions(t *testing.T) {
	t.Parallel()
	e := start(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	writers := e.writers(6)
	// The class is there: who makes one waits for whoever makes it at the same time.
	submitted, claimed := map[string]bool{one[string](e, `select weir.submit('s')::text`): true}, map[string]bool{}
	claim := func() int {
		ids := all[string](e, `select task::text from weir.claim('w', '{s}', 20)`)
		for _, id := range ids {
			claimed[id] = true
		}
		return len(ids)
	}
	rises, floor := 0, 0
	for range 600 {
		w := writers[r.IntN(len(writers))]
		var err error
		switch p := r.IntN(10); {
		case p < 6 && w.tx == nil:
			if w.tx, err = w.conn.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				in[string](e, w.tx, `select pg_current_xact_id()::text`)
			}
		case p < 4:
			w.tasks = append(w.tasks, in[string](e, w.tx, `select weir.submit('s')::text`))
		case p < 6:
			w.end(e, r, submitted)
		case p < 7:
			claim()
		case p < 8:
			// Apart from tend: a transaction that has just ended would make the horizon look safe.
			e.burn(1500)
		default:
			e.exec(`select weir.tend()`)
			if now := one[int](e, `select coalesce(max(floor), 0)::int from weir.classes`); now > floor {
				rises, floor = rises+1, now
			}
		}
	}
	for _, w := range writers {
		if w.tx != nil {
			w.end(e, r, submitted)
		}
	}
	for claim() > 0 {
	}
	for id := range submitted {
		if !claimed[id] {
			t.Errorf("%s was never claimed: %v", id, all[string](e, `select reason from weir.why($1)`, id))
		}
	}
	t.Logf("%d tasks, the floor rose %d times, to %d", len(submitted), rises, floor)
	if len(submitted) < 50 {
		t.Errorf("only %d tasks: the test did nothing", len(submitted))
	}
}

// TestHorizonsNeedReadCommitted: a transaction whose snapshot is older than the
// locks neither takes a horizon nor raises floors by one.
func TestHorizonsNeedReadCommitted(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.submit('s')`)
	e.burn(2000)
	look := func(tx pgx.Tx) string {
		return in[string](e, tx, `select (h.xid = 0) || ' ' || (select max(c.floor) from weir.classes c) from weir.horizon h`)
	}
	tend := func(want string) {
		t.Helper()
		tx, err := e.connect().BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		in[int](e, tx, `select count(*)::int from (select weir._take_horizon(), weir._raise_floors()) x`)
		if got := look(tx); got != want {
			t.Errorf("after repeatable read: no horizon, floor: %s; want %s", got, want)
		}
		e.commit(tx)
	}
	tend("true 0")
	e.exec(`select weir.tend()`)
	before := one[string](e, `select xid::text from weir.horizon`)
	testwait.Until(t, "the horizon is past", func() bool {
		return one[bool](e, `select $1::bigint < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`, before)
	})
	tend("false 0")
}

// TestAHiddenTaskIsToldAndRepaired: why says that a floor hides a task, the
// doctor says how it is brought back, and that does it.
func TestAHiddenTaskIsToldAndRepaired(t *testing.T) {
	t.Parallel()
	e := start(t)
	hidden := e.submit(0, spec{"service": "s"})
	e.exec(`update weir.classes set floor = 1000000`)
	if n := len(e.claim(1, "w", "s", 5)); n != 0 {
		t.Fatalf("claimed %d: nothing is hidden", n)
	}
	type reason struct {
		Gate, Reason string
		Open         bool
	}
	if why := all[reason](e, `select gate, reason, open from weir.why($1, $2)`, hidden, at(1)); len(why) != 1 || why[0].Gate != "floor" || why[0].Open {
		t.Errorf("why: %+v, want the gate floor, closed", why)
	}
	if detail := one[string](e, `select detail from weir.doctor() where name = 'a floor hides no task' and not ok`); !strings.Contains(detail, hidden) || !strings.Contains(detail, "weir.repair_floors()") {
		t.Errorf("the doctor says: %s", detail)
	}
	if n := one[int](e, `select weir.repair_floors()`); n != 1 {
		t.Errorf("%d were brought back, want 1", n)
	}
	if n := one[int](e, `select weir.repair_floors()`); n != 0 {
		t.Errorf("%d were brought back again", n)
	}
	if l := e.claimOne(2, "w", "s"); l.Task != hidden {
		t.Errorf("claimed %s, want %s", l.Task, hidden)
	}
}

// TestTheDoctorWantsNumbersInOrder: a sequence with a cache hands out numbers
// whose age nobody can tell.
func TestTheDoctorWantsNumbersInOrder(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`alter sequence weir.order_seq cache 20`)
	if n := one[int](e, `select count(*)::int from weir.doctor() where name = 'a floor hides no task' and not ok and detail like '%cache 1'`); n != 1 {
		t.Error("the doctor does not mind the cache")
	}
	e.exec(`alter sequence weir.order_seq cache 1`)
}

// TestNumbersAreDrawnWithATransactionID reads every function: one that draws a
// number has its transaction id before, and only weir._submit puts a task under
// the class that has a floor.
func TestNumbersAreDrawnWithATransactionID(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(schema.FS, "functions/*/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	enters := regexp.MustCompile(`(?s)insert into (?:weir\.)?available\b.*?(select|values)\s*\(?(.*?)(?:from|\n)`)
	ordered := map[string]bool{}
	for _, file := range files {
		text, err := fs.ReadFile(schema.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		body := regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(string(text), "")
		name := strings.TrimSuffix(path.Base(file), ".sql")
		if draws := strings.Index(body, `nextval('weir.order_seq')`); draws >= 0 {
			if has := strings.Index(body, `pg_current_xact_id()`); has < 0 || has > draws {
				t.Errorf("%s draws a number before its transaction has an id", name)
			}
		}
		for _, m := range enters.FindAllStringSubmatch(body, -1) {
			if !regexp.MustCompile(`-[a-z]\.class`).MatchString(m[2]) {
				ordered[name] = true
			}
		}
	}
	if fmt.Sprint(ordered) != "map[_submit:true]" {
		t.Errorf("tasks are put under an ordered class by %v, want _submit alone", ordered)
	}
}
