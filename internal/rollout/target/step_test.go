package target_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// TestRule7AFailedStepIsMendedAndGoesOn: the first steps stay, the text of the one
// that failed may change, and what is done runs once.
func TestRule7AFailedStepIsMendedAndGoesOn(t *testing.T) {
	p := onPostgres(t)
	const file = "V001__steps.sql"
	const first = "create schema app;\nset search_path = app;\ncreate table base (id int, note text);\ninsert into base values (1, 'x'), (2, 'x');\n"
	db := p.open(t, target.Options{})
	_, err := db.Apply(t.Context(), p.change(t, 1, file, first+"create unique index concurrently base_note on base (note);\ninsert into base values (3, 'z');\n"), &watch{})
	if f := failure(t, err, target.CodeSQL); f.Line != 5 || f.State != "23505" || f.Unknown {
		t.Errorf("%+v", f)
	}
	p.expect(t, "false", "select indisvalid from pg_index where indexrelid = to_regclass('app.base_note')")

	// What is done must not be another text now.
	_, err = db.Apply(t.Context(), p.change(t, 2, file, strings.Replace(first, "(1, 'x')", "(9, 'x')", 1)+"create index concurrently base_note on base (note);\n"), &watch{})
	failure(t, err, target.CodeChecksum)

	// The index is not unique any more. What is left of the first is INVALID, and
	// it is found although the search path was set in a step that is done.
	w := &watch{}
	result, err := db.Apply(t.Context(), p.change(t, 3, file, first+"create index concurrently base_note on base (note);\ninsert into base values (3, 'z');\n"), w)
	if err != nil {
		t.Fatal(err)
	}
	if result.Skipped != 1 || result.Statements != 2 || w.statements[0].Skipped == "" {
		t.Errorf("%+v, %+v", result, w.statements)
	}
	p.expect(t, "true", "select indisvalid from pg_index where indexrelid = to_regclass('app.base_note')")
	p.expect(t, "3", "select count(*) from app.base")
	p.expect(t, "1", "select count(*) from public.weir_history")
	p.expect(t, "0", "select count(*) from public.weir_steps")
}

// What was there before Weir came is not taken for its work, nor dropped.
func TestRule7WhatOthersMadeIsLeftAlone(t *testing.T) {
	p := onPostgres(t)
	p.exec(t, "create table base (id int, note text)", "insert into base values (1, 'x'), (2, 'x')")
	if _, err := p.db.ExecContext(t.Context(), "create unique index concurrently base_note on base (note)"); err == nil {
		t.Fatal("want an index that is not valid")
	}
	oid := p.one(t, "select 'base_note'::regclass::oid")
	db := p.open(t, target.Options{})
	for attempt := range 2 {
		_, err := db.Apply(t.Context(), p.change(t, attempt+1, "V001__index.sql", "create index concurrently base_note on base (note);"), &watch{})
		if f := failure(t, err, target.CodeSQL); f.State != "42P07" {
			t.Errorf("%+v: want that it is there already", f)
		}
	}
	p.expect(t, oid, "select 'base_note'::regclass::oid")
}

// While a step outside a transaction runs, the session is in none.
func TestRule7MySQLStepsKeepTheirOrder(t *testing.T) {
	p := onMaria(t)
	db := p.open(t, target.Options{})
	text := "create table a (id int primary key);\ninsert into a values (1);\nalter table a add column b int not null default 7;\nupdate a set b = 8;\nalter table a drop column b;\ninsert into a values (2);\n"
	w := &watch{}
	result, err := db.Apply(t.Context(), p.change(t, 1, "V001__order.sql", text), w)
	if err != nil || result.Statements != 6 {
		t.Fatalf("%+v, %v", result, err)
	}
	for i, s := range w.statements {
		if s.Index != i || s.Line != i+1 {
			t.Errorf("statement %d is %+v", i, s)
		}
	}
	p.expect(t, "2", "select count(*) from a")
}

// TestRule10AStatementIsWhatTheServerTakesForOne: semicolons in bodies, strings
// and comments end nothing.
func TestRule10AStatementIsWhatTheServerTakesForOne(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		text := "create table log (n int, note text); -- one; two\ncreate function add_one(a int) returns int language plpgsql as $$ begin a := a + 1; return a; end; $$;\ninsert into log select add_one(1), 'a;b';\n"
		if p.engine == script.MySQL {
			text = "create table log (n int, note text); -- one; two\nDELIMITER //\ncreate function add_one(a int) returns int deterministic begin set a = a + 1; return a; end//\nDELIMITER ;\ninsert into log select add_one(1), 'a;b';\n"
		}
		w := &watch{}
		if _, err := p.open(t, target.Options{}).Apply(t.Context(), p.change(t, 1, "V1__body.sql", text), w); err != nil {
			t.Fatal(err)
		}
		if len(w.statements) != 3 {
			t.Errorf("%d statements, want 3", len(w.statements))
		}
		p.expect(t, "2 a;b", "select concat(n, ' ', note) from log")
	})
}

// A file without statements is applied by its row alone.
func TestAnEmptyChange(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		run := p.change(t, 1, "V1__empty.sql", "-- nothing yet\n")
		if _, err := p.open(t, target.Options{}).Apply(t.Context(), run, &watch{}); err != nil {
			t.Fatal(err)
		}
		p.expect(t, "1", "select count(*) from weir_history")
	})
}

// Statements that a server would wait on for ever, or that give up the lock, are
// refused before anything is sent.
func TestImpossibleStatements(t *testing.T) {
	p := onPostgres(t)
	p.exec(t, "create table base (id int)")
	for _, c := range [][2]string{{"COPY", "copy base (id) from\nstdin"}, {"DISCARD ALL", "discard all;"}} {
		w := &watch{}
		run := p.change(t, 1, "V1__x.sql", "select 1;")
		run.Steps[0].Statements[0].Tag, run.Steps[0].Statements[0].Text = c[0], c[1]
		_, err := p.open(t, target.Options{}).Apply(t.Context(), run, w)
		if f := failure(t, err, target.CodeInvalid); f.Line != 1 || len(w.phases) != 0 {
			t.Errorf("%+v after %q", f, w.phases)
		}
	}
}

// Errors say where, and what the server says.
func TestASyntaxError(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		run := p.change(t, 1, "V1__x.sql", "create table a (id int);\n\ncreate table b (id int);\n")
		run.Steps[len(run.Steps)-1].Statements[len(run.Steps[len(run.Steps)-1].Statements)-1].Text = "create tabel b (id int)"
		_, err := p.open(t, target.Options{}).Apply(t.Context(), run, &watch{})
		if f := failure(t, err, target.CodeSyntax); f.Line != 3 || f.Statement != 1 || !strings.HasPrefix(f.Error(), "line 3: ") {
			t.Errorf("%v", f)
		}
		p.expect(t, "0", "select count(*) from weir_history")
	})
}

// A change may take on a role that has no right to Weir's tables.
func TestAChangeInAnotherRole(t *testing.T) {
	p := onPostgres(t)
	role := "r" + strings.TrimPrefix(p.one(t, "select current_database()"), "weir_test_")
	p.exec(t, "create role "+role, "create schema app authorization "+role)
	t.Cleanup(func() {
		for _, s := range []string{"drop owned by " + role, "drop role " + role} {
			if _, err := p.db.Exec(s); err != nil {
				t.Error(err)
			}
		}
	})
	for i, begin := range []string{"set role ", "set session authorization "} {
		table := "app.t" + strconv.Itoa(i)
		text := begin + role + ";\ncreate table " + table + " (id int);\ncreate index concurrently on " + table + " (id);\ninsert into " + table + " values (1);\n"
		if _, err := p.open(t, target.Options{}).Apply(t.Context(), p.change(t, 1, "V"+strconv.Itoa(i+1)+"__role.sql", text), &watch{}); err != nil {
			t.Fatal(err)
		}
		p.expect(t, role, "select pg_get_userbyid(relowner) from pg_class where oid = to_regclass($1)", table)
	}
	p.expect(t, "2", "select count(*) from weir_history")
}
