package target_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/target"
)

func TestRule2HistoryIsWrittenWithTheChangeAndAReplayDoesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		run := p.change(t, 1, "V001__people.sql", "create table people (id int primary key);\ninsert into people values (1);\n")
		w := &watch{}
		result, err := db.Apply(t.Context(), run, w)
		if err != nil {
			t.Fatal(err)
		}
		if result.Replayed || result.Statements != 2 {
			t.Errorf("result %+v, want 2 statements and no replay", result)
		}
		if got := strings.Join(w.phases, " "); got != "locked sent applied" {
			t.Errorf("phases %q", got)
		}
		if len(w.statements) != 2 || w.statements[0].Tag != "CREATE TABLE" || w.statements[1].Rows != 1 || w.statements[1].Line != 2 {
			t.Errorf("statements %+v", w.statements)
		}
		for _, again := range []target.Run{run, p.change(t, 2, "V001__people.sql", "create table people (id int primary key);\ninsert into people values (1);\n")} {
			result, err := db.Apply(t.Context(), again, &watch{})
			if err != nil || !result.Replayed {
				t.Errorf("attempt %d again: %+v, %v; want a replay", again.Attempt, result, err)
			}
		}
		p.expect(t, "1", "select count(*) from people")
		list, err := db.History(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("history %+v, %v; want one row", list, err)
		}
		e := list[0]
		if e.Version != "1" || e.Name != "people" || e.Checksum != run.Change.Checksum || e.Task != run.Task || e.Attempt != 1 || e.By != "tester" || e.Statements != 2 || e.AppliedAt.IsZero() {
			t.Errorf("entry %+v", e)
		}
		p.expect(t, "0", "select count(*) from weir_steps")
	})
}

func TestRule3AChangedTextAndAnOlderVersionAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		if _, err := db.Apply(t.Context(), p.change(t, 1, "V7__a.sql", "create table a (id int);"), &watch{}); err != nil {
			t.Fatal(err)
		}
		w := &watch{}
		changed := p.change(t, 1, "V7__a.sql", "create table a (id int, name text);")
		changed.Task = "another"
		_, err := db.Apply(t.Context(), changed, w)
		failure(t, err, target.CodeChecksum)
		older := p.change(t, 1, "V3__b.sql", "create table b (id int);")
		_, err = db.Apply(t.Context(), older, w)
		failure(t, err, target.CodeOrder)
		for _, p := range w.phases {
			if p == "sent" {
				t.Error("something was sent")
			}
		}
		older.OutOfOrder = true
		if _, err := db.Apply(t.Context(), older, w); err != nil {
			t.Errorf("with leave: %v", err)
		}
		p.expect(t, "2", "select count(*) from weir_history")
	})
}
