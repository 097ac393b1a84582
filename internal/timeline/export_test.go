package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/testdb"
)

// old fills a database with tasks that ended forty days ago, and returns how many events
// of that time there are.
func old(t *testing.T, db *testdb.DB) int {
	t.Helper()
	const then = `clock_timestamp() - interval '40 days'`
	exec(t, db, `select weir.drop_partitions('1 hour', at => clock_timestamp() + interval '1 year')`) // empty partitions, made with the schema
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

// buckets runs a test on every kind of bucket.
func buckets(t *testing.T, test func(t *testing.T, b blob.Bucket)) {
	t.Run("folder", func(t *testing.T) { test(t, blobtest.Folder(t)) })
	t.Run("s3", func(t *testing.T) { test(t, blobtest.Open(t)) })
}

func TestHistoryIsDroppedOnlyAfterItsExport(t *testing.T) {
	t.Parallel()
	buckets(t, func(t *testing.T, b blob.Bucket) {
		db := testdb.New(t)
		events := old(t, db)
		const drop = `select coalesce(cardinality(array(select n from unnest(weir.drop_partitions('30 days', need_export => true)) n where n like 'events%')), 0)`
		if n := one[int](t, db, drop); n != 0 {
			t.Fatalf("%d partitions of events were dropped without an export", n)
		}
		e := exporter(t, db, Archive(b))
		before := one[int](t, db, eventRanges)
		e.drain(t, db)
		lines := 0
		archived, err := ListArchive(t.Context(), b)
		if err != nil || len(archived) != one[int](t, db, `select count(*) from weir.exports`) {
			t.Fatalf("the archive has %v, %v", archived, err)
		}
		for _, a := range archived {
			got := checkRows(t, b, a.Partition)
			if n := one[int](t, db, `select rows from weir.exports where partition = $1 and location = $2`, a.Partition, b.Name()+"/timeline/"+a.Partition+".jsonl.zst"); got != n {
				t.Errorf("%s has %d lines, noted are %d", a.Partition, got, n)
			}
			lines += got
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
	})
}

// checkRows counts the rows, each a JSON object with the fields of an event.
func checkRows(t *testing.T, b blob.Bucket, partition string) (n int) {
	t.Helper()
	for line, err := range ReadExport(t.Context(), b, partition) {
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Seq   int64
			Type  string
			At    time.Time
			Tasks []string
		}
		if err := json.Unmarshal(line, &e); err != nil || e.Seq == 0 || e.Type == "" || e.At.IsZero() || len(e.Tasks) == 0 {
			t.Fatalf("%s: %v", line, err)
		}
		n++
	}
	return n
}

// An archived event equals the event that the feed returned.
func TestArchivedEventsAreTheEventsOfTheFeed(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	old(t, db)
	exec(t, db, `insert into weir.events (at, type, kind, subject, source, level, message, data)
		select min(at), 'set', 'pool', 'p', 'ann', 'warn', E'two\nlines <&>', '{"a": null, "b": [1.50]}' from weir.events`)
	db.Settle(t)
	var want []string
	found, err := read(t.Context(), db.Pool, beginning, &Filter{})
	if err != nil {
		t.Fatal(err)
	}
	month := time.Now().Add(-30 * 24 * time.Hour)
	for _, e := range found.events {
		if e.At.Before(month) {
			want = append(want, text(t, e))
		}
	}
	b := blobtest.Folder(t)
	exporter(t, db, Archive(b)).drain(t, db)
	archived, err := ListArchive(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range archived {
		for e, err := range Events(ReadExport(t.Context(), b, a.Partition)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, text(t, e))
		}
	}
	if len(want) < 40 || !slices.Equal(got, want) {
		t.Errorf("%d events of the archive, %d of the feed: %.600s, want %.600s", len(got), len(want), got, want)
	}
}

func text(t *testing.T, e *Event) string {
	t.Helper()
	form, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(form)
}

// careless drops the last row.
type careless struct{ Exporter }

func (c careless) Export(ctx context.Context, partition string, rows Rows) (string, int64, error) {
	location, n, err := c.Exporter.Export(ctx, partition, rows)
	return location, n - 1, err
}

func TestAnExportThatIsNotWholeCountsForNothing(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	old(t, db)
	e := exporter(t, db, careless{ArchiveAt(t.TempDir())})
	if _, err := e.tick(t.Context(), time.Now()); err == nil || !strings.Contains(err.Error(), "export it again") && !strings.Contains(err.Error(), "were exported") {
		t.Errorf("got %v", err)
	}
	if n := one[int](t, db, `select count(*) from weir.exports`); n != 0 {
		t.Errorf("%d exports are noted", n)
	}
}

func TestWhatHasNotEndedIsNotExported(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	old(t, db)
	e := exporter(t, db, ArchiveAt(t.TempDir()))
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

func rowsOf(lines ...string) Rows {
	return func(yield func(json.RawMessage, error) bool) {
		for _, line := range lines {
			if !yield(json.RawMessage(line), nil) {
				return
			}
		}
	}
}

func TestAnArchiveHoldsNoHalfPartition(t *testing.T) {
	broken := errors.New("cut off")
	buckets(t, func(t *testing.T, b blob.Bucket) {
		_, _, err := Archive(b).Export(t.Context(), "events_1", func(yield func(json.RawMessage, error) bool) {
			if yield(json.RawMessage(`{}`), nil) {
				yield(nil, broken)
			}
		})
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		if found, err := b.List(t.Context(), "", "", 0); err != nil || len(found) != 0 {
			t.Errorf("left behind: %v, %v", found, err)
		}
		for _, bad := range []string{"../x", "", "a/b", "A", strings.Repeat("x", 64)} {
			if _, _, err := Archive(b).Export(t.Context(), bad, rowsOf()); err == nil {
				t.Errorf("%q was exported", bad)
			}
			for _, err := range ReadExport(t.Context(), b, bad) {
				if err == nil {
					t.Errorf("%q was read", bad)
				}
			}
		}
		for _, err := range ReadExport(t.Context(), b, "events_2") {
			if !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("a partition that is not there: %v", err)
			}
		}
		// An empty partition is exported too, and the second export replaces the first.
		for _, lines := range [][]string{{`{"a":1}`, `{"a":2}`}, {}, {`{"a":3}`}} {
			if _, n, err := Archive(b).Export(t.Context(), "events_1", rowsOf(lines...)); err != nil || int(n) != len(lines) {
				t.Fatalf("%d of %d, %v", n, len(lines), err)
			}
			var got []string
			for line, err := range ReadExport(t.Context(), b, "events_1") {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if !slices.Equal(got, lines) {
				t.Errorf("%q came back of %q", got, lines)
			}
		}
	})
}

// Rows that the bucket did not keep are not dropped from the database.
func TestAnExportIsNotBelievedButRead(t *testing.T) {
	at, proxy := blobtest.S3Proxy(t)
	b := blobtest.At(t, at)
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"seq":%d,"at":"%d"}`, i, i*i*i)
	}
	method := func(name string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == name }
	}
	for _, fault := range []struct {
		what  string
		fault blobtest.Fault
		of    string
	}{
		{"success, then missing", blobtest.Fault{Lie: true}, "PUT"},
		{"an error", blobtest.Fault{Status: 500}, "PUT"},
		{"a flipped bit", blobtest.Fault{Flip: 100}, "GET"},
		{"a cut answer", blobtest.Fault{CutResponse: 500}, "GET"},
	} {
		proxy.Set(fault.fault, -1, method(fault.of))
		if _, _, err := Archive(b).Export(t.Context(), "events_1", rowsOf(lines...)); err == nil || proxy.Met() == 0 {
			t.Errorf("%s: it was exported, %d requests met it", fault.what, proxy.Met())
		}
	}
	proxy.Set(blobtest.Fault{}, 0, nil)
	if _, n, err := Archive(b).Export(t.Context(), "events_1", rowsOf(lines...)); err != nil || n != 1000 {
		t.Errorf("%d, %v", n, err)
	}
}
