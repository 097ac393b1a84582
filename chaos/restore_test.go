//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// burn uses up transaction ids, as months of work do.
const burn = `do $$ begin for i in 1..30000 loop perform pg_current_xact_id(); commit; end loop; end $$`

// restored loads a dump of a database into a new cluster.
func (r *run) restored() (url string) {
	r.Helper()
	dump, err := exec.LookPath("pg_dump")
	if err != nil {
		if os.Getenv("CI") == "true" {
			r.Fatal(err)
		}
		r.Skip("SKIPPED, NOT TESTED: pg_dump is not installed")
	}
	other, err := NewServer(r.ctx, r.TempDir())
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if err := other.Stop(context.Background()); err != nil {
			r.Error(err)
		}
	})
	if err := other.cluster.EnsureDatabase(r.ctx, "copy"); err != nil {
		r.Fatal(err)
	}
	url, out := other.cluster.URL("copy"), r.TempDir()+"/dump.sql"
	if said, err := exec.Command(dump, "--no-owner", "--file", out, r.url).CombinedOutput(); err != nil { // #nosec G204 -- found above
		r.Fatalf("pg_dump: %v\n%s", err, said)
	}
	if said, err := exec.Command("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", out, url).CombinedOutput(); err != nil { // #nosec G204 -- ours
		r.Fatalf("psql: %v\n%s", err, said)
	}
	return url
}

// refused checks that a cursor of another cluster is refused as the guide says, by SQL
// and by every route over HTTP, because a reader that waited for it would receive
// nothing.
func (f *face) refused(when, cursor string) {
	f.Helper()
	var refusal *pgconn.PgError
	var n int
	err := f.pool.QueryRow(f.ctx, `select count(*) from weir.events_after($1)`, cursor).Scan(&n)
	if !errors.As(err, &refusal) || refusal.Code != "WR409" || refusal.Hint == "" {
		f.Errorf("%s: weir.events_after(%s) gives %d events: %v", when, cursor, n, err)
	}
	for path, headers := range map[string][]string{
		"/api/v1/timeline?after=" + cursor: nil,
		"/api/v1/events?after=" + cursor:   nil,
		"/api/v1/events":                   {"Last-Event-ID", cursor},
	} {
		got := f.ask("GET", path, nil, append(headers, "Authorization", "Bearer "+f.admin)...)
		var problem struct{ Code, Next string }
		if err := json.Unmarshal(got.body, &problem); err != nil || got.StatusCode != http.StatusConflict || problem.Code != "conflict" || problem.Next == "" {
			f.Errorf("%s: GET %s %v: %d %.300s", when, path, headers, got.StatusCode, got.body)
		}
	}
}

// readsAll reads the timeline from its beginning over HTTP: every event once, each behind
// the previous one, and within a task in the order in which it happened.
func (f *face) readsAll() {
	f.Helper()
	var all int
	if err := f.pool.QueryRow(f.ctx, `select count(*) from weir.events_after('0.0', 1000000)`).Scan(&all); err != nil {
		f.Fatal(err)
	}
	type event struct {
		Cursor string
		Seq    int64
		Task   string
	}
	last, seen, n := map[string]int64{}, map[string]bool{}, 0
	for after := "0.0"; after != ""; {
		got := f.ask("GET", "/api/v1/timeline?limit=500&after="+after, nil, "Authorization", "Bearer "+f.admin)
		var page struct {
			Items []event
			Next  string
		}
		if err := json.Unmarshal(got.body, &page); err != nil || got.StatusCode != http.StatusOK {
			f.Fatalf("GET the timeline after %s: %d %.300s", after, got.StatusCode, got.body)
		}
		for _, e := range page.Items {
			n++
			if seen[fmt.Sprint(e.Seq, e.Task)] {
				f.Errorf("event %d of task %s was seen twice", e.Seq, e.Task)
			}
			seen[fmt.Sprint(e.Seq, e.Task)] = true
			if e.Task != "" && e.Seq < last[e.Task] {
				f.Errorf("event %d of task %s came after %d", e.Seq, e.Task, last[e.Task])
			}
			last[e.Task] = e.Seq
		}
		if len(page.Items) == 0 {
			break
		}
		after = page.Next
	}
	if n < all || all < 100 {
		f.Errorf("%d events were seen of %d", n, all)
	}
}

// TestDumpAndRestore moves a database with work in every state by pg_dump into another
// cluster, where transaction ids begin anew. Acknowledged tasks are there and end there.
// A reader with an old cursor is refused, before the database was adopted and after, and
// also when the new cluster has reached those ids; when it starts over it sees every
// event once and in order.
func TestDumpAndRestore(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	r.ctx = ctx
	r.exec(burn)
	r.exec(`select weir.adopt_restore()`) // as the first start of a server does: it records its cluster
	m := newMix(r, 1)
	first := Follow(m.ctx, m.pool)
	m.tasks(40)
	m.eventually("some work is done, and a reader has seen it", func() bool {
		var n int
		return m.pool.QueryRow(m.ctx, `select count(*) from weir.finished`).Scan(&n) == nil && n >= 10
	})
	var early, late string
	// Readers stay behind the oldest transaction of the server, and other tests have long ones.
	m.eventually("a reader has a cursor", func() bool {
		return m.pool.QueryRow(m.ctx, `select coalesce(max(cursor), '') from weir.events_after('0.0', 20)`).Scan(&early) == nil && early != ""
	})
	url := m.restored()
	if err := m.pool.QueryRow(m.ctx, `select weir.events_tail()`).Scan(&late); err != nil { // of events that the dump does not have
		t.Fatal(err)
	}
	pool, err := pgxpool.New(m.ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	for _, cursor := range []string{early, late} {
		var refusal *pgconn.PgError
		_, err := pool.Exec(m.ctx, `select weir.events_after($1)`, pgx.QueryExecModeSimpleProtocol, cursor)
		if !errors.As(err, &refusal) || refusal.Code != "WR409" {
			t.Errorf("before anybody adopted it, %s: %v", cursor, err)
		}
	}
	second := newRunOn(t, pool, url)
	second.ctx = ctx
	f := newFace(second) // which adopts it
	f.refused("after a restore, early", early)
	f.refused("after a restore, late", late)
	again := Follow(second.ctx, second.pool)
	second.workers(2, plain(), nil)
	// Leases of the workers of the old cluster run out here, too.
	if took, err := second.drain(30 * time.Second); err != nil {
		t.Errorf("after the restore: %v (%s)", err, took)
	}
	second.exec(burn)
	f.refused("with higher ids, early", early)
	f.refused("with higher ids, late", late)
	found, err := again.Findings(second.ctx)
	if err != nil {
		t.Fatal(err)
	}
	f.readsAll()
	if found = append(found, second.doctor()...); len(found) > 0 {
		t.Error(Report(found))
	}
	m.settle()
	if found, err = first.Findings(m.ctx); err != nil || len(found) > 0 {
		t.Errorf("beside the dump: %v %s", err, Report(found))
	}
	m.clean()
}
