package target_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testwait"
)

// crash is an executor that dies by kill -9 at a point, and what the target says
// of it before somebody tries again.
type crash struct {
	name, sql, at string
	want          target.Verdict
	// skipped steps of the second attempt.
	skipped int
}

const (
	twoTables = "create table a (id int primary key);\ninsert into a values (1);\nalter table a add column note varchar(20);\n"
	onlyRows  = "insert into base values (1);\nupdate base set id = id + 1;\n"
)

// TestKilledAnywhere is the promise: whatever the point, trying again ends with
// the same schema and one history row.
func TestKilledAnywhere(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		for _, c := range []crash{
			{"before begin", twoTables, "sent", target.NotApplied, 0},
			{"inside the change", twoTables, "statement 0", target.NotApplied, 0},
			{"after the change, before the history row", twoTables, "statement 2", target.NotApplied, 0},
			{"after commit, before the report", twoTables, "applied", target.Applied, 0},
			{"between a transaction and an index", twoTables + "create index concurrently a_note on a (note);\n", "statement 2", target.NotApplied, 0},
			{"after an index, before the history row", twoTables + "create index concurrently a_note on a (note);\n", "statement 3", target.Applied, 0},
			{"after an index, before its mark", twoTables + "create index concurrently a_note on a (note);\ninsert into a values (2);\n", "statement 3", target.Partial, 2},
			{"after an index, in the last transaction", twoTables + "create index concurrently a_note on a (note);\ninsert into a values (2);\n", "statement 4", target.Partial, 2},
			{"rows, before the history row", onlyRows, "statement 1", target.NotApplied, 0},
		} {
			t.Run(c.name, func(t *testing.T) { c.check(t, onPostgres(t), onPostgres(t)) })
		}
	})
	t.Run("mariadb", func(t *testing.T) {
		for _, c := range []crash{
			{"before begin", twoTables, "sent", target.NotApplied, 0},
			{"after the first statement, before its mark", twoTables, "statement 0", target.Partial, 1},
			{"between two DDL steps, before rows are committed", twoTables, "statement 1", target.Partial, 1},
			{"after the change, before the history row", twoTables, "statement 2", target.Applied, 0},
			{"after commit, before the report", twoTables, "applied", target.Applied, 0},
			{"rows, before the history row", onlyRows, "statement 1", target.NotApplied, 0},
			{"rows, after commit", onlyRows, "applied", target.Applied, 0},
		} {
			t.Run(c.name, func(t *testing.T) { c.check(t, onMaria(t), onMaria(t)) })
		}
	})
}

// check kills an executor in one place and compares with a place where nobody was
// killed.
func (c crash) check(t *testing.T, p, twin *place) {
	const file = "V001__change.sql"
	for _, at := range []*place{p, twin} {
		at.exec(t, "create table base (id int primary key)")
	}
	if _, err := twin.open(t, target.Options{}).Apply(t.Context(), twin.change(t, 1, file, c.sql), &watch{}); err != nil {
		t.Fatal(err)
	}
	first := p.start(t, order{Run: p.change(t, 1, file, c.sql), At: c.at})
	first.await(t, c.at)
	first.kill()

	db := p.open(t, target.Options{})
	var verdict target.Verdict
	var why string
	testwait.Every(t, 20*time.Millisecond, "the killed session is gone", func() bool {
		var err error
		if verdict, why, err = db.Resolve(t.Context(), p.change(t, 1, file, c.sql)); err != nil {
			t.Fatal(err)
		}
		return verdict != target.CannotTell
	})
	t.Logf("verdict %s: %s", verdict, why)
	if verdict != c.want {
		t.Errorf("verdict %s (%s), want %s", verdict, why, c.want)
	}
	result, err := db.Apply(t.Context(), p.change(t, 2, file, c.sql), &watch{})
	if err != nil {
		t.Fatalf("the second attempt: %v", err)
	}
	if result.Replayed != (c.want == target.Applied) || result.Skipped != c.skipped {
		t.Errorf("second attempt %+v, want %d steps skipped", result, c.skipped)
	}
	same(t, p, twin)
	p.expect(t, "1", "select count(*) from weir_history")
	p.expect(t, "0", "select count(*) from weir_steps")
	for _, query := range []string{"select coalesce(sum(id), 0) from base", "select count(*) from base"} {
		p.expect(t, twin.one(t, query), query)
	}
	if c.sql != onlyRows {
		p.expect(t, twin.one(t, "select count(*) from a"), "select count(*) from a")
	}
}

// same compares two schemas.
func same(t *testing.T, p, twin *place) {
	t.Helper()
	has, err := p.open(t, target.Options{}).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := twin.open(t, target.Options{}).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if has.Hash != want.Hash || has.Text == "" {
		t.Errorf("schema\n%s\nwant\n%s", has.Text, want.Text)
	}
}

// TestKilledDuringAnIndex kills the executor while the server builds an index:
// what is left is INVALID. A transaction of somebody else keeps it from ending.
func TestKilledDuringAnIndex(t *testing.T) {
	const file, text = "V002__index.sql", "create index concurrently base_note on base (note);\n"
	p, twin := onPostgres(t), onPostgres(t)
	for _, at := range []*place{p, twin} {
		at.exec(t, "create table base (id int primary key, note text)", "insert into base select i, i from generate_series(1, 100) i")
	}
	if _, err := twin.open(t, target.Options{}).Apply(t.Context(), twin.change(t, 1, file, text), &watch{}); err != nil {
		t.Fatal(err)
	}
	other, err := p.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Rollback() //nolint:errcheck // it only keeps others waiting
	if _, err := other.ExecContext(t.Context(), "update base set note = 'x' where id = 1"); err != nil {
		t.Fatal(err)
	}
	first := p.start(t, order{Run: p.change(t, 1, file, text)})
	first.await(t, "sent")
	testwait.Until(t, "the index is there and not valid", func() bool {
		return p.one(t, "select count(*) from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname = 'base_note' and not indisvalid") == "1"
	})
	first.kill()
	db := p.open(t, target.Options{})
	// The server does not notice: it waits for the other transaction.
	verdict, why, err := db.Resolve(t.Context(), p.change(t, 1, file, text))
	if err != nil || verdict != target.CannotTell {
		t.Fatalf("while its backend lives: %s (%s), %v", verdict, why, err)
	}
	// The second attempt ends that backend, and the other transaction lets it go.
	done := make(chan error, 1)
	w := &watch{}
	go func() {
		_, err := db.Apply(t.Context(), p.change(t, 2, file, text), w)
		done <- err
	}()
	testwait.Until(t, "the second attempt ended the session of the first", func() bool { return w.waited("older attempt") })
	testwait.Until(t, "the second attempt dropped the half made index", func() bool { return w.waited("half made") })
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	same(t, p, twin)
	p.expect(t, "1", "select count(*) from weir_history")
	p.expect(t, "true", "select indisvalid from pg_index where indexrelid = 'base_note'::regclass")
}

// TestKilledDuringDDL kills the executor while the server waits inside a DDL
// statement of MariaDB: the first one is done, the second has begun.
func TestKilledDuringDDL(t *testing.T) {
	const file, text = "V002__two.sql", "alter table base add column a int;\nalter table base add column b int;\nalter table other add column c int;\n"
	p, twin := onMaria(t), onMaria(t)
	for _, at := range []*place{p, twin} {
		at.exec(t, "create table base (id int primary key)", "create table other (id int primary key)")
	}
	if _, err := twin.open(t, target.Options{}).Apply(t.Context(), twin.change(t, 1, file, text), &watch{}); err != nil {
		t.Fatal(err)
	}
	reader, err := p.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback() //nolint:errcheck // it only keeps others waiting
	if _, err := reader.ExecContext(t.Context(), "select * from other"); err != nil {
		t.Fatal(err)
	}
	first := p.start(t, order{Run: p.change(t, 1, file, text)})
	first.await(t, "statement 1")
	testwait.Until(t, "the third statement waits", func() bool {
		return p.one(t, "select count(*) from information_schema.processlist where state like '%metadata lock%' and info like 'alter table other%'") == "1"
	})
	first.kill()
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	result, err := p.open(t, target.Options{}).Apply(t.Context(), p.change(t, 2, file, text), &watch{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Skipped < 2 {
		t.Errorf("%+v: the first two steps were done", result)
	}
	same(t, p, twin)
	p.expect(t, "1", "select count(*) from weir_history")
}

// TestKilledWithAnotherText: what an attempt did with another text is no proof, even
// where every step is there.
func TestKilledWithAnotherText(t *testing.T) {
	const file = "V002__two.sql"
	p := onMaria(t)
	first := p.start(t, order{Run: p.change(t, 1, file, "create table a (id int);\ncreate table b (id int);\n"), At: "statement 1"})
	first.await(t, "statement 1")
	first.kill()
	p.resolves(t, p.change(t, 1, file, "create table a (id bigint);\ncreate table b (id int);\n"), target.Partial)
	p.expect(t, "0", "select count(*) from weir_history")
}

// TestKilledWhereNothingTells is a statement that no probe covers: the second
// attempt does not guess, and a person decides.
func TestKilledWhereNothingTells(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		const file = "V002__count.sql"
		text := "-- weir: transaction=off\ncall bump();\n"
		switch p.engine {
		case script.Postgres:
			p.exec(t, "create table counter (n int)", "insert into counter values (0)",
				"create procedure bump() language plpgsql as $$ begin update counter set n = n + 1; commit; end $$")
		case script.MySQL:
			p.exec(t, "create table counter (n int)", "insert into counter values (0)",
				"create procedure bump() update counter set n = n + 1")
		}
		first := p.start(t, order{Run: p.change(t, 1, file, text), At: "statement 0"})
		first.await(t, "statement 0")
		first.kill()
		db := p.open(t, target.Options{})
		_, err := db.Apply(t.Context(), p.change(t, 2, file, text), &watch{})
		if f := failure(t, err, target.CodeUnclear); !f.Unknown {
			t.Error("want unknown")
		}
		verdict, why, err := db.Resolve(t.Context(), p.change(t, 2, file, text))
		if err != nil || verdict != target.CannotTell {
			t.Errorf("verdict %s (%s), %v", verdict, why, err)
		}
		p.expect(t, "1", "select n from counter")
		t.Run("a person says no", func(t *testing.T) {
			p.exec(t, "update counter set n = 0")
			if err := db.Forget(t.Context(), p.change(t, 2, file, text)); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Apply(t.Context(), p.change(t, 3, file, text), &watch{}); err != nil {
				t.Fatal(err)
			}
			p.expect(t, "1", "select n from counter")
		})
	})
}
