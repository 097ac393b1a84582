package app

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/schema"
)

// oldToken belongs to ada of the content.
const oldToken = "weir_pat_00000000000000000000000000000000000000000003Mx7IQ" // #nosec G101 -- of a test

// oldReleases are the schemas of earlier releases, by their commits. scripts/pack-releases
// writes the file.
func oldReleases(t *testing.T) map[string]fstest.MapFS {
	t.Helper()
	packed, err := os.ReadFile("testdata/upgrade/releases.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	releases := map[string]fstest.MapFS{}
	for files := tar.NewReader(reader); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return releases
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		commit, name, _ := strings.Cut(header.Name, "/")
		if releases[commit] == nil {
			releases[commit] = fstest.MapFS{}
		}
		releases[commit][name] = &fstest.MapFile{Data: text}
	}
}

// The schemas of the archive are those that were released: their content has the hash of
// their last version, which stands in the list of this release as well.
func TestOldReleasesAreGenuine(t *testing.T) {
	ours, err := fs.ReadFile(schema.FS, "versions.txt")
	if err != nil {
		t.Fatal(err)
	}
	releases := oldReleases(t)
	if len(releases) < 2 {
		t.Errorf("%d releases", len(releases))
	}
	for commit, files := range releases {
		if next, err := pg.NextVersion(files); err != nil || next != "" {
			t.Errorf("%s is not as it was released: its content is %s, %v", commit, next, err)
		}
		lines := strings.Fields(string(files["versions.txt"].Data))
		if !slices.Contains(strings.Fields(string(ours)), lines[len(lines)-1]) {
			t.Errorf("%s ends with version %s, of which this release does not know", commit, lines[len(lines)-1])
		}
	}
}

// upgrade is a database of an earlier release.
type upgrade struct {
	*testing.T
	db *testdb.DB
	// keys is the file with the key of the content's secret.
	keys string
	// told is the whole timeline before the upgrade, and cursor is that of the event in
	// its middle.
	told   []oldEvent
	cursor string
}

// oldEvent is an event of the timeline.
type oldEvent struct {
	cursor string
	seq    int64
	task   string
	what   string
}

// A database of an earlier release, with live content of every domain, is brought to the
// schema of this one, and every part of the content goes on where it was.
func TestUpgradeOfLiveContent(t *testing.T) {
	t.Parallel()
	releases := oldReleases(t)
	for _, commit := range slices.Sorted(maps.Keys(releases)) {
		t.Run(commit, func(t *testing.T) {
			t.Parallel()
			u := filledOld(t, releases[commit])
			if _, err := Migrate(t.Context(), Config{PartitionDays: 1}, u.db.URL); err != nil {
				t.Fatal(err)
			}
			if status, err := MigrationStatus(t.Context(), u.db.URL); err != nil || !status.Current() {
				t.Errorf("after the upgrade: %+v, %v", status, err)
			}
			u.explains()
			u.worksOn()
			u.fleetGoesOn()
			u.served()
			u.tellsOnce()
			u.well()
		})
	}
}

func (u *upgrade) exec(sql string, args ...any) {
	u.Helper()
	if _, err := u.db.Pool.Exec(u.Context(), sql, args...); err != nil {
		u.Fatalf("%s: %v", sql, err)
	}
}

// read returns the only value of a query, as text.
func (u *upgrade) read(sql string, args ...any) (value string) {
	u.Helper()
	err := u.db.Pool.QueryRow(context.WithoutCancel(u.Context()), `select coalesce((`+sql+`)::text, '')`, args...).Scan(&value)
	if err != nil {
		u.Fatalf("%s: %v", sql, err)
	}
	return value
}

// filledOld makes a database of an old schema with content.
func filledOld(t *testing.T, old fs.FS) *upgrade {
	t.Helper()
	u := &upgrade{T: t, db: testdb.NewEmpty(t), keys: filepath.Join(t.TempDir(), "secret.key")}
	if err := os.WriteFile(u.keys, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Migrate(t.Context(), u.db.URL, old); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("testdata/upgrade/content.sql")
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(string(content), "\n\n") {
		u.exec(statement)
	}
	for _, name := range []string{"held", "asked", "approved", "midway"} {
		if err := u.vault().Put(t.Context(), "ada", "DATABASE_"+name, testdb.NewEmpty(t).URL, ""); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() { // why does it wait?
			t.Log(u.read(`select string_agg(concat_ws(' ', q.params, s.state, s.gate, w.reason), E'\n') from weir.tasks q
				join weir.task s on s.id = q.id left join lateral weir.why(q.id) w on true where s.state not in ('done', 'canceled')`))
		}
	})
	u.db.Settle(t)
	u.told = u.timeline("0.0")
	u.cursor = u.told[len(u.told)/2].cursor
	return u
}

func (u *upgrade) vault() *vault.Vault {
	keys, err := vault.LoadKeys(u.keys, false)
	if err != nil {
		u.Fatal(err)
	}
	return vault.New(u.db.Pool, keys, nil)
}

// timeline reads all events behind a cursor, in small pages.
func (u *upgrade) timeline(after string) (all []oldEvent) {
	u.Helper()
	for {
		rows, err := u.db.Pool.Query(u.Context(), `select cursor, seq, coalesce(task::text, ''), concat_ws(' ', kind, type, subject, task, attempt) from weir.events_after($1, 7)`, after)
		if err != nil {
			u.Fatal(err)
		}
		page, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e oldEvent, err error) {
			err = row.Scan(&e.cursor, &e.seq, &e.task, &e.what)
			return e, err
		})
		if err != nil {
			u.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].cursor
	}
}

// tellsOnce checks that a reader with a cursor of before sees what it has not seen, each
// event once and those of a task in their order.
func (u *upgrade) tellsOnce() {
	u.Helper()
	u.db.Settle(u)
	rest, last := u.timeline(u.cursor), map[string]int64{}
	old := u.told[len(u.told)/2+1:]
	if len(rest) <= len(old) || !slices.Equal(rest[:len(old)], old) {
		u.Errorf("behind the cursor %s there were %v, and now there are %v", u.cursor, old, rest)
	}
	seen := map[string]bool{}
	for _, e := range rest {
		if id := fmt.Sprint(e.seq, e.task); seen[id] {
			u.Errorf("%v is told twice", e)
		} else {
			seen[id] = true
		}
		if e.task != "" && e.seq < last[e.task] {
			u.Errorf("%v is told after event %d of its task", e, last[e.task])
		}
		last[e.task] = e.seq
	}
}

// explains asks why, of everything that has not ended.
func (u *upgrade) explains() {
	u.Helper()
	for ask, of := range map[string]string{
		`select format('task %s %s', t.params ->> 'is', w.code) from weir.tasks t left join lateral (
			select string_agg(nullif(y.code, ''), ',') as code from weir.why(t.id) y) w on true
			where not exists (select from weir.finished f where f.task = t.id)`: "tasks",
		`select format('job %s %s', j.name, w.code) from weir.jobs j join weir.job_live l on l.job = j.id left join lateral (
			select string_agg(nullif(y.code, ''), ',') as code from weir.why_job(j.id) y) w on true`: "jobs",
	} {
		rows, err := u.db.Pool.Query(u.Context(), ask)
		if err != nil {
			u.Fatal(err)
		}
		said, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(said) < 5 {
			u.Fatalf("%s: %q %v", of, said, err)
		}
		for _, s := range said {
			if strings.HasSuffix(s, " ") {
				u.Errorf("no reason for %s", s)
			}
		}
	}
}

// work claims and finishes whatever a worker of before gets.
func (u *upgrade) work() {
	u.Helper()
	u.exec(`select weir.tend(true)`)
	u.exec(`select weir.finish(c.task, c.attempt, c.token, '{"after": "the upgrade"}')
		from weir.claim('old@studio', array['encode', 'mail', 'site', 'first', 'lost', 'shaky'], 20) c`)
}

// outcome says how the task ended, and with which attempt.
func (u *upgrade) outcome(is string) string {
	u.Helper()
	return u.read(`select concat(f.outcome, ' ', f.attempt) from weir.tasks t join weir.finished f on f.task = t.id where t.params ->> 'is' = $1`, is)
}

// worksOn lets every task end.
func (u *upgrade) worksOn() {
	u.Helper()
	waits := u.read(`select t.id from weir.tasks t where t.params ->> 'is' = 'at its time'`)
	if again := u.read(`select weir.submit('mail', '{"is": "at its time again"}', unique_key => 'letter')`); again != waits {
		u.Errorf("the unique key is %s, not %s", again, waits)
	}
	hold := u.read(`select t.id from weir.tasks t where t.params ->> 'is' = 'on hold'`)
	if again := u.read(`select weir.submit('mail', '{"is": "on hold"}', hold => 'the editor reads it first', idempotency_key => 'once')`); again != hold {
		u.Errorf("the idempotency key is %s, not %s", again, hold)
	}
	u.exec(`select weir.release($1, 'ada')`, hold)
	// The worker of before reports what it had, by the tokens that it had.
	for _, is := range []string{"leased", "in the lane"} {
		if answer := u.read(`select weir.finish(r.task, r.attempt, r.token) from weir.running r join weir.tasks t on t.id = r.task
			where t.params ->> 'is' = $1`, is); answer != "ok" {
			u.Errorf("the report of the one %s: %s", is, answer)
		}
	}
	ends := map[string]string{
		"leased": "done 1", "lost": "done 2", "retrying": "done 2", "at the pool": "done 1", "in the lane": "done 1", "at the lane": "done 1", "on hold": "done 1",
		"free": "done 1", "canceled": "canceled 0", "done": "done 1", "in need": "done 1", "in need of that": "done 1",
	}
	testwait.Until(u, "all tasks end", func() bool {
		u.work()
		return u.outcome("lost") != "" && u.outcome("retrying") != "" && u.outcome("in need of that") != "" && u.outcome("at the lane") != "" && u.outcome("at the pool") != ""
	})
	for is, want := range ends {
		if got := u.outcome(is); got != want {
			u.Errorf("the one %s: %q, want %q", is, got, want)
		}
	}
	if got := u.read(`select state from weir.job where name = 'film'`); got != "done" {
		u.Errorf("the job of before is %s", got)
	}
}

// fleetGoesOn lets the active job end, and the one behind it.
func (u *upgrade) fleetGoesOn() {
	u.Helper()
	if answer := u.read(`select weir.finish(r.task, r.attempt, r.token) from weir.running r where r.device is not null`); answer != "ok" {
		u.Errorf("the report of a device: %s", answer)
	}
	u.exec(`select weir.device_release('A3', 'ada', 'it has its cable')`)
	testwait.Until(u, "both jobs of the fleet end", func() bool {
		u.exec(`select weir.fleet_report('lab', '[{"serial": "A1", "hub": "1"}, {"serial": "A2", "hub": "1"}, {"serial": "A3", "hub": "2"}]', slots => 2)`)
		u.exec(`select weir.fleet_tend()`)
		u.exec(`select weir.finish(c.task, c.attempt, c.token) from weir.fleet_claim('lab@new', 'lab') c`)
		return u.read(`select count(*) from weir.job j where j.kind = 'fleet' and j.state = 'done'`) == "2"
	})
}

// served lets a server of this release take over: rollouts, workflows and workspaces
// need its loops.
func (u *upgrade) served() {
	u.Helper()
	r := up(u.T, Config{DatabaseURL: u.db.URL, Data: u.TempDir(), SecretKeyFile: u.keys, WorkspaceProviders: []string{workspace.OnThisMachine}}, Options{})
	defer func() {
		if err := r.stop(); err != nil {
			u.Error(err)
		}
	}()
	request, err := http.NewRequestWithContext(u.Context(), http.MethodGet, "http://"+r.listen+"/api/v1/tasks?limit=1", http.NoBody)
	if err != nil {
		u.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+oldToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		u.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		u.Errorf("a token of before: %s", response.Status)
	}
	secrets, err := u.vault().Open(u.Context(), []string{"MAIL_PASSWORD"})
	if err != nil || secrets["MAIL_PASSWORD"] != "swordfish" {
		u.Errorf("the secret of before: %q, %v", secrets["MAIL_PASSWORD"], err)
	}
	u.exec(`select weir.rollout_start(r.id, 'ada') from weir.rollout r where r.name = 'held'`)
	u.exec(`select weir.rollout_approve(r.id, 'asked', 'bob') from weir.rollout r where r.name = 'asked'`)
	u.exec(`select weir.workspace_want(w.id, 'RUNNING', 'ada') from weir.workspaces w where w.name = 'desk'`)
	for _, name := range []string{"held", "asked", "approved"} {
		u.becomes("the rollout that was "+name, `select r.state from weir.rollout r where r.name = $1`, "done", name)
	}
	// The executor of before was lost after it had sent the change: it is looked for in the database, and is not there.
	u.becomes("the run of before", `select g.code from weir.rollout_runs g join weir.rollout_task x on x.id = g.task where x.database = 'midway'`, "not_applied")
	u.exec(`select weir.rollout_retry(x.id, 'ada') from weir.rollout_task x where x.database = 'midway'`)
	u.becomes("the rollout that was under way", `select r.state from weir.rollout r where r.name = 'midway'`, "done")
	u.becomes("the workspace that is wanted", `select w.phase from weir.workspaces w where w.name = 'desk'`, "RUNNING")
	u.becomes("the workspace that rests", `select w.phase from weir.workspaces w where w.name = 'shelf'`, "STANDBY")
	u.becomes("the task of the schedule", `select t.state from weir.task t where t.params ->> 'is' = 'scheduled'`, "done")
	u.becomes("the jobs of plain SQL", `select string_agg(j.status, ' ' order by j.scheduled_at) from flow.jobs j where j.workflow_id is not null`, "done queued")
}

// becomes waits until the query has this answer, with a worker that works.
func (u *upgrade) becomes(what, sql, want string, args ...any) {
	u.Helper()
	testwait.Every(u, 50*time.Millisecond, what+": "+want, func() bool {
		u.work()
		return u.read(sql, args...) == want
	})
}

// well asks the doctor. Other tests have transactions that two of its rows are about.
func (u *upgrade) well() {
	u.Helper()
	rows, err := u.db.Pool.Query(u.Context(), `select name || ': ' || coalesce(detail::text, '') from weir.doctor() where ok is not true
		and name not in ('no old transaction holds the timeline back', 'no old snapshot keeps dead rows')`)
	if err != nil {
		u.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(found) > 0 {
		u.Errorf("doctor: %q, %v", found, err)
	}
}
