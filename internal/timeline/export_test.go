package timeline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

// old makes a database with tasks that ended forty days ago, and returns how
// many events of that time there are.
func old(t *testing.T, db *testdb.DB) int {
	t.Helper()
	const then = `clock_timestamp() - interval '40 days'`
	exec(t, db, `select weir.drop_partitions('1 hour', at => clock_timestamp() + interval '1 year')`) // empty ones, made with the schema
	exec(t, db, `select weir.ensure_partitions(at => `+then+`)`)
	exec(t, db, `select weir.ensure_partitions()`)
	exec(t, db, `select weir.submit('s', hint => false, at => `+then+`) from generate_series(1, 20)`)
	exec(t, db, `select weir.finish_many(array_agg(c.task), array_agg(c.attempt), array_agg(c.token), at => `+then+`)
		from weir.claim('w', '{s}', 20, at => `+then+`) c`)
	exec(t, db, `select weir.submit('today')`)
	return one[int](t, db, `select count(*) from weir.events where at < clock_timestamp() - interval '30 days'`)
}

const eventRanges = `select count(*) from weir._partitions() where parent = 'events' and hi < clock_timestamp()`

func exporter(t *testing.T, db *testdb.DB, to Exporter) *export {
	return &export{pool: db.Pool, to: to, term: lead(t, db), log: slog.New(slog.DiscardHandler)}
}

// drain ticks until there is nothing more to export.
func (e *export) drain(t *testing.T, db *testdb.DB) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := e.tick(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if one[int](t, db, `select count(*) from weir._partitions() p where parent = 'events' and hi < clock_timestamp() - interval '1 hour'
			and not exists (select from weir.exports x where x.partition = p.name)`) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("some partitions are never exported")
		}
	}
}

func TestHistoryIsDroppedOnlyAfterItsExport(t *testing.T) {
	db := testdb.New(t)
	events := old(t, db)
	dir := t.TempDir()
	const drop = `select coalesce(cardinality(array(select n from unnest(weir.drop_partitions('30 days', need_export => true)) n where n like 'events%')), 0)`
	if n := one[int](t, db, drop); n != 0 {
		t.Fatalf("%d partitions of events were dropped without an export", n)
	}
	e := exporter(t, db, Folder(dir))
	before := one[int](t, db, eventRanges)
	e.drain(t, db)
	lines := 0
	rows, err := db.Pool.Query(t.Context(), `select location, rows from weir.exports`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var location string
		var n int
		if err := rows.Scan(&location, &n); err != nil {
			t.Fatal(err)
		}
		if got := readLines(t, location); got != n {
			t.Errorf("%s has %d lines, noted are %d", location, got, n)
		}
		lines += n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if lines != events {
		t.Errorf("%d events were exported, there are %d", lines, events)
	}
	if n := one[int](t, db, drop); n == 0 {
		t.Error("nothing was dropped after the export")
	}
	if after := one[int](t, db, eventRanges); after >= before || after == 0 {
		t.Errorf("%d partitions have ended, %d before: the young ones stay", after, before)
	}
	if n := one[int](t, db, `select count(*) from weir.task`); n != 1 {
		t.Errorf("%d tasks are left, want today's", n)
	}
}

// readLines counts the lines, each a JSON object with the fields of an event.
func readLines(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var e struct {
			Seq   int64
			Type  string
			At    time.Time
			Tasks []string
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Seq == 0 || e.Type == "" || e.At.IsZero() || len(e.Tasks) == 0 {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
	}
	return n
}

// careless drops the last row.
type careless struct{ Folder }

func (c careless) Export(ctx context.Context, partition string, rows Rows) (string, int64, error) {
	location, n, err := c.Folder.Export(ctx, partition, rows)
	return location, n - 1, err
}

func TestAnExportThatIsNotWholeCountsForNothing(t *testing.T) {
	db := testdb.New(t)
	old(t, db)
	e := exporter(t, db, careless{Folder(t.TempDir())})
	if _, err := e.tick(t.Context(), time.Now()); err == nil || !strings.Contains(err.Error(), "export it again") && !strings.Contains(err.Error(), "were exported") {
		t.Errorf("got %v", err)
	}
	if n := one[int](t, db, `select count(*) from weir.exports`); n != 0 {
		t.Errorf("%d exports are noted", n)
	}
}

func TestWhatHasNotEndedIsNotExported(t *testing.T) {
	db := testdb.New(t)
	old(t, db)
	e := exporter(t, db, Folder(t.TempDir()))
	names, err := e.sealed(t.Context())
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, bad := range []string{"events_default", "tasks_default", "no", "events"} {
		if _, err := db.Pool.Exec(t.Context(), `select weir.mark_exported($1, 'x', 0)`, bad); err == nil {
			t.Errorf("%s was marked as exported", bad)
		}
	}
	current := one[string](t, db, `select name from weir._partitions() where parent = 'events' and lo <= clock_timestamp() and hi > clock_timestamp()`)
	if _, err := db.Pool.Exec(t.Context(), `select weir.mark_exported($1, 'x', 0)`, current); err == nil {
		t.Error("the range of today was marked as exported")
	}
}

func TestAFolderHoldsNoHalfFile(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("cut off")
	_, _, err := Folder(dir).Export(t.Context(), "events_1", func(yield func(json.RawMessage, error) bool) {
		if yield(json.RawMessage(`{}`), nil) {
			yield(nil, broken)
		}
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if _, _, err := Folder(dir).Export(t.Context(), "../x", nil); err == nil {
		t.Error("a partition may leave the folder")
	}
}
