package target_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testwait"
)

// applying runs a change beside the test.
func applying(ctx context.Context, db target.Target, run target.Run, w *watch) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := db.Apply(ctx, run, w)
		done <- err
	}()
	return done
}

// hold opens a transaction that has done something.
func (p *place) hold(t *testing.T, statement string) *sql.Tx {
	t.Helper()
	tx, err := p.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestRule1AWaiterDoesNotDisturbAnIndex: a CREATE INDEX CONCURRENTLY waits for
// every snapshot that is older. Were the second run to wait inside the server,
// the two would wait for one another.
func TestRule1AWaiterDoesNotDisturbAnIndex(t *testing.T) {
	p := onPostgres(t)
	p.exec(t, "create table base (id int primary key, note text)")
	other := p.hold(t, "insert into base values (1, 'x')")
	db := p.open(t, target.Options{LockWait: time.Minute})
	index := p.change(t, 1, "V001__index.sql", "create index concurrently base_note on base (note);")
	ww := &watch{}
	building := applying(t.Context(), db, index, ww)
	testwait.Until(t, "the index waits for the other transaction", func() bool { return ww.waited("waits for pid") })

	next := p.change(t, 1, "V002__next.sql", "create table next (id int);")
	w := &watch{}
	waiting := applying(t.Context(), db, next, w)
	testwait.Until(t, "the second run names the first", func() bool { return w.waited(target.ApplicationName(index.Task, 1)) })
	testwait.Until(t, "the second run is idle and in no transaction", func() bool {
		return p.one(t, "select count(*) from pg_stat_activity where application_name = $1 and state = 'idle' and xact_start is null and backend_xmin is null",
			target.ApplicationName(next.Task, 1)) == "1"
	})
	p.expect(t, "0", "select count(*) from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())")
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-building; err != nil {
		t.Errorf("the index: %v", err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("the run behind it: %v", err)
	}
	p.expect(t, "2", "select count(*) from weir_history")
}

func TestRule1OneExecutorPerTarget(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{LockWait: 300 * time.Millisecond})
		first := p.change(t, 1, "V001__a.sql", "create table a (id int);")
		second := p.change(t, 1, "V002__b.sql", "create table b (id int);")
		var inside error
		w := &watch{onPhase: func(at target.Phase) error {
			if at == target.PhaseSent {
				_, inside = db.Apply(t.Context(), second, &watch{})
			}
			return nil
		}}
		if _, err := db.Apply(t.Context(), first, w); err != nil {
			t.Fatal(err)
		}
		f := failure(t, inside, target.CodeBusy)
		if f.Unknown || !strings.Contains(f.What, target.ApplicationName(first.Task, 1)) {
			t.Errorf("%v: want the name of the holder", f)
		}
		if _, err := db.Apply(t.Context(), second, &watch{}); err != nil {
			t.Errorf("when the first is done: %v", err)
		}
	})
}

// Changes of data go beside one another on PostgreSQL, and not beside DDL.
func TestRule1DataSharesTheTarget(t *testing.T) {
	p := onPostgres(t)
	p.exec(t, "create table base (id int primary key)")
	db := p.open(t, target.Options{LockWait: 300 * time.Millisecond})
	var beside, ddl error
	w := &watch{onStatement: func(target.StatementDone) {
		_, beside = db.Apply(t.Context(), p.change(t, 1, "V002__two.sql", "insert into base values (2);"), &watch{})
		_, ddl = db.Apply(t.Context(), p.change(t, 1, "V003__ddl.sql", "create table b (id int);"), &watch{})
	}}
	one := p.change(t, 1, "V001__one.sql", "insert into base values (1);")
	one.OutOfOrder = true
	if _, err := db.Apply(t.Context(), one, w); err != nil {
		t.Fatal(err)
	}
	if beside != nil {
		t.Errorf("data beside data: %v", beside)
	}
	failure(t, ddl, target.CodeBusy)
}

// TestRule5ALongTransactionOnTheTable: the change gives up its place in the queue
// again and again, so readers get through, and in the end it succeeds.
func TestRule5ALongTransactionOnTheTable(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table base (id int primary key)", "insert into base values (1)")
		long := p.hold(t, "update base set id = 2")
		db := p.open(t, target.Options{Tries: 100})
		run := p.change(t, 1, "V001__alter.sql", "-- weir: lock_timeout=500ms\nalter table base add column note varchar(10);\n")
		w := &watch{}
		var retries, read atomic.Int64
		w.onWaiting = func(what string) {
			if strings.Contains(what, "lock_timeout") {
				retries.Add(1)
			}
		}
		done := applying(t.Context(), db, run, w)
		testwait.Until(t, "it says whom it waits for", func() bool { return w.waited("waits for pid") || w.waited("waited for pid") })
		ctx, stop := context.WithCancel(t.Context())
		reader := make(chan error, 1)
		go func() {
			for {
				var n int
				if err := p.db.QueryRowContext(ctx, "select count(*) from base").Scan(&n); err != nil {
					reader <- err
					return
				}
				read.Add(1)
			}
		}()
		// A reader in the queue behind the change gets through when it gives up:
		// with every retry there are more reads, while the transaction is open.
		for range 2 {
			tries, reads := retries.Load(), read.Load()
			testwait.Until(t, "another retry", func() bool { return retries.Load() > tries })
			testwait.Until(t, "readers get through", func() bool { return read.Load() > reads })
		}
		if err := long.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		stop()
		if err := <-reader; !errors.Is(err, context.Canceled) && ctx.Err() == nil {
			t.Errorf("the reader: %v", err)
		}
		p.expect(t, "1", "select count(*) from weir_history")
		if s := w.statements[len(w.statements)-1]; s.Try < 3 {
			t.Errorf("statement %+v: want the number of its try", s)
		}
	})
}

func TestRule5OnlyWhatTheServerUndidIsTriedAgain(t *testing.T) {
	p := onPostgres(t)
	p.exec(t, "create sequence calls")
	p.exec(t, `create function fail(state text, times int) returns int language plpgsql as $$
		begin
			if nextval('calls') <= times then raise exception 'on purpose' using errcode = state; end if;
			return 1;
		end $$`)
	for i, c := range []struct {
		state string
		times int
		calls string
		code  string // of the failure; empty: it succeeds
	}{
		{"55P03", 2, "3", ""},
		{"40P01", 2, "3", ""},
		{"40001", 2, "3", ""},
		{"40001", 99, "4", target.CodeSerialization},
		{"23505", 1, "1", target.CodeSQL},
		{"53200", 1, "1", target.CodeSQL},
		{"42501", 1, "1", target.CodeForbidden},
	} {
		t.Run(fmt.Sprintf("%s %d times", c.state, c.times), func(t *testing.T) {
			p.exec(t, "alter sequence calls restart")
			db := p.open(t, target.Options{Tries: 4})
			table := fmt.Sprintf("t%d", i)
			run := p.change(t, 1, fmt.Sprintf("V%d__x.sql", i+1), fmt.Sprintf("create table %s (id int);\nselect fail('%s', %d);\n", table, c.state, c.times))
			w := &watch{}
			_, err := db.Apply(t.Context(), run, w)
			if c.code == "" && err != nil {
				t.Errorf("got %v", err)
			}
			made := ""
			if c.code == "" {
				made = table
			} else if f := failure(t, err, c.code); f.Unknown || f.State != c.state || f.Line != 2 {
				t.Errorf("failure %+v", f)
			}
			p.expect(t, c.calls, "select last_value from calls")
			p.expect(t, made, "select to_regclass($1)", table)
		})
	}
}

func TestRule5ARefusedConnectionIsTriedAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		bad := *p
		bad.dsn = strings.Replace(p.dsn, p.address, "127.0.0.1:1", 1)
		w := &watch{}
		_, err := bad.open(t, target.Options{}).Apply(t.Context(), p.change(t, 1, "V1__a.sql", "create table a (id int);"), w)
		if f := failure(t, err, target.CodeUnreachable); f.Unknown {
			t.Error("nothing was sent")
		}
		if len(w.waits) < 2 || len(w.phases) != 0 {
			t.Errorf("told %q, phases %q", w.waits, w.phases)
		}
		if p.engine == script.Postgres {
			bad.dsn = strings.Replace(p.dsn, "/weir_test", "/no_such", 1)
			w := &watch{}
			_, err := bad.open(t, target.Options{}).Apply(t.Context(), p.change(t, 1, "V1__a.sql", "create table a (id int);"), w)
			failure(t, err, target.CodeUnreachable)
			if len(w.waits) != 0 {
				t.Errorf("a database that is not there is not tried again: %q", w.waits)
			}
		}
	})
}
