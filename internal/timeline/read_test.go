package timeline

import (
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// The read walks an index from the cursor on, also on tables that were never analyzed,
// because a sort of the whole history would take longer every day.
func TestReadsWalkTheIndex(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	db.SkipDoctor("the events tell of tasks that never were")
	job := weir.ID{1}
	for _, prepare := range []string{
		`insert into weir.events (at, xid, type, job, tasks) select now(), n / 2000, 'submitted', case when n % 1000 = 0 then weir._id(now(), n) end, array[weir._id(now(), n)]
			from generate_series(1, 100000) n`,
		`analyze weir.events`,
	} {
		exec(t, db, prepare)
		full := one[string](t, db, `select split_part(tableoid::regclass::text, '.', 2) from weir.events limit 1`)
		for _, filter := range []Filter{{}, {Job: job}, {Task: job}, {Kinds: []string{"job"}, Types: []string{"done"}}} {
			sql, args := statement(place{xid: 20, seq: 40000, line: 3}, &filter)
			rows, err := db.Pool.Query(t.Context(), "explain "+sql, args...)
			if err != nil {
				t.Fatal(err)
			}
			var plan []string
			for rows.Next() {
				var line string
				if err := rows.Scan(&line); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, line)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan on "+full) {
				t.Errorf("after %.20s, %+v:\n%s", prepare, filter, text)
			}
		}
	}
}

// A batch of any size is read in pieces, and each piece ends at a place.
func TestALargeBatchIsReadInPieces(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	exec(t, db, `select count(*) from weir.submit_many((select jsonb_agg('{"service": "s"}'::jsonb) from generate_series(1, 7000)))`)
	db.Settle(t)
	at, n := beginning, 0
	for {
		found, err := read(t.Context(), db.Pool, at, &Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.events {
			if !at.before(e.place) {
				t.Fatalf("%s comes after %s", e.Cursor, at.cursor())
			}
			at = e.place
		}
		if n += len(found.events); len(found.events) > 2*linesPerRead {
			t.Errorf("%d lines at once", len(found.events))
		}
		if at = found.end; !found.full {
			break
		}
	}
	if want := len(lines(t, db, "0.0")); n != want || n < 7000 {
		t.Errorf("%d lines, there are %d", n, want)
	}
}
