package garbage

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// always is a term that always leads.
type always struct{}

func (always) QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error {
	return pool.QueryRow(ctx, sql, args...).Scan(into...)
}

func one[T any](t *testing.T, db *testdb.DB, sql string, args ...any) (out T) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func put(t *testing.T, b blob.Bucket, key string) string {
	t.Helper()
	if _, err := b.Put(t.Context(), key, strings.NewReader("x"), 1, ""); err != nil {
		t.Fatal(err)
	}
	return key
}

// attempt makes a job with a task that has ended, with an artifact, a log and an
// unrecorded object, and a task without a job that has a log. It returns their keys.
func attempt(t *testing.T, db *testdb.DB, b blob.Bucket, then string) (keys []string) {
	t.Helper()
	const work = `[{"service": "s", "key": "render[0]"}]`
	job := one[string](t, db, `select weir.submit_job($1, 'j', hint => false, at => `+then+`)::text`, work)
	alone := one[string](t, db, `select weir.submit('s', hint => false, at => `+then+`)::text`)
	out, err := blob.Key(blob.Output, job, "render[0]", 1, "a/b.txt")
	if err != nil {
		t.Fatal(err)
	}
	stray, err := blob.Key(blob.Output, job, "render[0]", 1, "stray")
	if err != nil {
		t.Fatal(err)
	}
	keys = []string{put(t, b, out), put(t, b, stray), put(t, b, blob.LogKey(job, "render[0]", 1, 0)), put(t, b, blob.LogKey(blob.NoJob, alone, 1, 0))}
	if n := one[int](t, db, `with c as materialized (select * from weir.claim('w', '{s}', 10, at => `+then+`)),
		r as materialized (select c.*, weir.record_artifact(c.task, c.attempt, c.token, 'output', 'a/b.txt', $1, $2, 1, at => `+then+`) as said from c where c.job is not null)
		select count(*) from r where r.said = 'ok'`, b.Name(), out); n != 1 {
		t.Fatalf("%d artifacts were recorded", n)
	}
	if n := one[int](t, db, `select count(*) from (select weir.finish(r.task, r.attempt, r.token, at => `+then+`) as said from weir.running r) f where f.said = 'ok'`); n != 2 {
		t.Fatalf("%d tasks have ended", n)
	}
	return keys
}

func TestWhatTheRetentionDropsGoesFromTheBucket(t *testing.T) {
	for name, open := range map[string]func(testing.TB) blob.Bucket{"folder": blobtest.Folder, "s3": blobtest.Open} {
		t.Run(name, func(t *testing.T) {
			db, b := testdb.New(t), open(t)
			const then = `clock_timestamp() - interval '40 days'`
			one[[]string](t, db, `select weir.drop_partitions('1 hour', at => clock_timestamp() + interval '1 year')`) // empty partitions, made with the schema
			one[[]string](t, db, `select weir.ensure_partitions(at => `+then+`)`)
			one[[]string](t, db, `select weir.ensure_partitions()`)
			attempt(t, db, b, then)
			keep := attempt(t, db, b, "null")
			keep = append(keep, put(t, b, "timeline/events_1.jsonl.zst"), put(t, b, "outputs/no-id/x/1/y"), put(t, b, "other"))
			// The row of an artifact in another bucket is deleted, its object is left
			// alone.
			keep = append(keep, put(t, b, "outputs/elsewhere"))
			if _, err := db.Pool.Exec(t.Context(), `insert into weir.artifacts (job, task, attempt, kind, name, bucket, key, size, content_type, at)
				select job, task, 1, 'output', 'elsewhere', 's3://other/bucket', 'outputs/elsewhere', 1, 'x', at from weir.artifacts order by id limit 1`); err != nil {
				t.Fatal(err)
			}
			c := &collector{pool: db.Pool, bucket: b, term: always{}, log: slog.New(slog.DiscardHandler)}
			tick := func() {
				t.Helper()
				if more, err := c.tick(t.Context(), time.Now()); err != nil || more {
					t.Fatalf("%v, %v", more, err)
				}
			}
			tick()
			if found, err := b.List(t.Context(), "", "", 0); err != nil || len(found) != len(keep)+4 {
				t.Fatalf("%d objects are left before the retention, %v", len(found), err)
			}
			one[[]string](t, db, `select weir.drop_partitions('30 days')`)
			if n := one[int](t, db, `select count(*) from weir.tasks`); n != 2 {
				t.Fatalf("%d tasks are left", n)
			}
			tick()
			found, err := b.List(t.Context(), "", "", 0)
			var left []string
			for _, o := range found {
				left = append(left, o.Key)
			}
			slices.Sort(keep)
			if err != nil || !slices.Equal(left, keep) {
				t.Errorf("left are %q, want %q, %v", left, keep, err)
			}
			if n := one[int](t, db, `select count(*) from weir.artifacts`); n != 1 {
				t.Errorf("%d artifacts are noted", n)
			}
			tick()
		})
	}
}

// Without a partition nothing is known, and nothing is deleted.
func TestNothingIsDeletedWithoutKnowledge(t *testing.T) {
	db, b := testdb.New(t), blobtest.Folder(t)
	one[[]string](t, db, `select weir.drop_partitions('1 hour', at => clock_timestamp() + interval '1 year')`)
	key := put(t, b, blob.LogKey("00993f5c-1111-7abc-8def-0123456789ab", "a", 1, 0))
	c := &collector{pool: db.Pool, bucket: b, term: always{}, log: slog.New(slog.DiscardHandler)}
	if _, err := c.tick(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Stat(t.Context(), key); err != nil {
		t.Error(err)
	}
	one[[]string](t, db, `select weir.ensure_partitions()`)
}

// An incoming object that was never recorded is removed after a day.
func TestWhatOnlyCameInGoes(t *testing.T) {
	for name, open := range map[string]func(testing.TB) blob.Bucket{"folder": blobtest.Folder, "s3": blobtest.Open} {
		t.Run(name, func(t *testing.T) {
			db, b := testdb.New(t), open(t)
			key, kept := put(t, b, blob.Incoming("outputs/x")), put(t, b, "incoming-not/x")
			c := &collector{pool: db.Pool, bucket: b, term: always{}, log: slog.New(slog.DiscardHandler)}
			there := func(key string) bool {
				_, err := b.Stat(t.Context(), key)
				return err == nil
			}
			for _, after := range []time.Duration{0, uploadsFor - time.Hour} {
				if _, err := c.tick(t.Context(), time.Now().Add(after)); err != nil || !there(key) {
					t.Errorf("after %s it is gone, %v", after, err)
				}
			}
			if _, err := c.tick(t.Context(), time.Now().Add(uploadsFor+time.Hour)); err != nil || there(key) || !there(kept) {
				t.Errorf("it is still there, or too much is gone: %v", err)
			}
		})
	}
}
