package workspace_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// earlierTable is the table of the earlier schema, as its document has it.
const earlierTable = `create table public.workspaces (
	id uuid primary key, owner_user_id uuid, name varchar(255), description text, memo text, image_ref varchar(512), instance_backend text, storage_backend text, home_store_key varchar(512), home_ctx jsonb,
	status text not null, operation text not null default 'NONE', desired_state text not null default 'RUNNING', archive_key varchar(512), op_id uuid, last_access_at timestamp,
	standby_ttl_seconds int not null default 300, archive_ttl_seconds int not null default 86400, error_message text, error_count int not null default 0, previous_status text,
	created_at timestamp, updated_at timestamp, deleted_at timestamp)`

// earlier is a system of the earlier schema beside the new one: its table and its bucket.
type earlier struct {
	*desk
	bucket blob.Bucket
	by     workspace.Importer
	n      int
}

func newEarlier(t *testing.T) *earlier {
	d := newDesk(t)
	d.exec(earlierTable)
	bucket := blobtest.Folder(t)
	return &earlier{desk: d, bucket: bucket, by: workspace.Importer{Store: d.store, Bucket: bucket}}
}

// row adds one of ann's, with what is different.
func (e *earlier) row(columns, values string) (id weir.ID) {
	e.Helper()
	e.n++
	e.scan(&id, `insert into public.workspaces (id, owner_user_id, name, image_ref, instance_backend, storage_backend, created_at, updated_at, `+columns+`)
		values (gen_random_uuid(), $1, $2, 'codehub/vscode:1', 'local-docker', 'minio', '2025-03-04 05:06:07', '2025-03-05 05:06:07', `+values+`) returning id`, e.owner, fmt.Sprint("ws-", e.n))
	e.exec(`update public.workspaces set home_store_key = 'ws-' || id || '-home' where id = $1`, id)
	return id
}

// archive stores a home as the earlier system did, and notes its key.
func (e *earlier) archive(id weir.ID, files ...string) (key string) {
	e.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	e.ok(w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755}))
	for _, name := range files {
		e.ok(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "./" + name, Mode: 0o644, Size: int64(len(name))}))
		_, err := io.WriteString(w, name)
		e.ok(err)
	}
	e.ok(w.Close())
	e.ok(z.Close())
	e.scan(&key, `update public.workspaces set op_id = gen_random_uuid(), archive_key = 'archives/' || id || '/' || gen_random_uuid() || '/home.tar.gz' where id = $1 returning archive_key`, id)
	_, err := e.bucket.Put(e.Context(), key, &packed, int64(packed.Len()), "application/gzip")
	e.ok(err)
	return key
}

// rows are what the earlier database prints.
func (e *earlier) rows() (rows []workspace.Earlier) {
	e.Helper()
	var text []string
	e.scan(&text, `select coalesce(array_agg(row_to_json(w)::text order by w.name), '{}') from public.workspaces w`)
	for _, row := range text {
		rows = append(rows, workspace.Earlier(row))
	}
	return rows
}

func (e *earlier) take() map[string]workspace.Imported {
	e.Helper()
	done, err := e.by.Import(e.Context(), "root", e.rows())
	e.ok(err)
	by := map[string]workspace.Imported{}
	for _, one := range done {
		by[one.ID] = one
	}
	return by
}

// Every status, operation and desired_state of the earlier schema, and of the one before.
func TestEarlierRowsAreTakenOver(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	_, err := e.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(100)})
	e.ok(err)
	type want struct {
		desired ladder.Phase
		had     bool
		phase   ladder.Phase
		volume  int64
	}
	wants := map[weir.ID]want{}
	for _, c := range []struct {
		columns, values string
		archived        bool
		want
	}{
		{"status, desired_state", "'PENDING', 'PENDING'", false, want{ladder.Archived, false, ladder.Pending, 0}},
		{"status, desired_state", "'PENDING', 'PENDING'", true, want{ladder.Archived, true, ladder.Pending, 0}},
		{"status, desired_state", "'PENDING', 'RUNNING'", true, want{ladder.Running, true, ladder.Pending, 0}},
		{"status, desired_state, operation", "'PENDING', 'STANDBY', 'PROVISIONING'", true, want{ladder.Standby, true, ladder.Pending, 0}},
		{"status, desired_state, operation", "'PENDING', 'RUNNING', 'RESTORING'", true, want{ladder.Running, true, ladder.Pending, 0}},
		{"status, desired_state", "'STANDBY', 'STANDBY'", true, want{ladder.Standby, true, ladder.Pending, 1}},
		{"status, desired_state, operation", "'STANDBY', 'RUNNING', 'STARTING'", true, want{ladder.Running, true, ladder.Pending, 1}},
		{"status, desired_state, operation", "'STANDBY', 'PENDING', 'ARCHIVING'", true, want{ladder.Archived, true, ladder.Pending, 1}},
		{"status, desired_state", "'RUNNING', 'RUNNING'", true, want{ladder.Running, true, ladder.Pending, 1}},
		{"status, desired_state, operation", "'RUNNING', 'STANDBY', 'STOPPING'", true, want{ladder.Standby, true, ladder.Pending, 1}},
		{"status, desired_state, operation", "'STANDBY', 'STANDBY', 'DELETING'", false, want{ladder.Deleted, true, ladder.Pending, 1}},
		{"status, previous_status, error_message, error_count", "'ERROR', 'STANDBY', 'no space', 3", true, want{ladder.Running, true, ladder.Error, 1}},
		{"status, previous_status", "'ERROR', 'PENDING'", true, want{ladder.Running, true, ladder.Error, 0}},
		{"status", "'ERROR'", true, want{ladder.Running, true, ladder.Error, 0}},
		// The schema before that.
		{"status", "'CREATED'", false, want{ladder.Running, false, ladder.Pending, 0}},
		{"status", "'PROVISIONING'", true, want{ladder.Running, true, ladder.Pending, 1}},
		{"status, desired_state", "'STOPPED', 'STANDBY'", true, want{ladder.Standby, true, ladder.Pending, 1}},
		{"status", "'DELETING'", false, want{ladder.Deleted, true, ladder.Pending, 1}},
	} {
		id := e.row(c.columns, c.values)
		if c.archived {
			e.archive(id, "kept.txt")
		}
		wants[id] = c.want
	}
	deleted := e.row("status, deleted_at", "'DELETED', now()")
	done := e.take()
	if one := done[deleted.String()]; one.Outcome != "skipped" || len(done) != len(wants)+1 {
		t.Errorf("%d rows, %+v", len(done), one)
	}
	for id, want := range wants {
		if one := done[id.String()]; one.Outcome != "imported" {
			t.Errorf("%+v", one)
			continue
		}
		w := e.get(id)
		if w.Desired != want.desired || w.HadHome != want.had || w.Phase != want.phase || w.Mounts != want.volume || w.Operation != ladder.None || w.ArchiveMounts != 0 {
			t.Errorf("want %+v, is %+v\n%+v", want, w, done[id.String()])
		}
		if (w.Phase == ladder.Error) != (w.Error == ladder.RetryExceeded) || w.Provider != "docker" || w.Image != "codehub/vscode:1" || !w.CreatedAt.Equal(time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)) {
			t.Errorf("%+v", w)
		}
	}
	for id, one := range e.take() {
		if one.Outcome != "known" && one.Outcome != "skipped" {
			t.Errorf("%s again: %+v", id, one)
		}
	}
}

// An archive that was tar.gz is one of today's, verified; the old one stays.
func TestEarlierArchivesAreConverted(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	id := e.row("status, desired_state, home_ctx, last_access_at, standby_ttl_seconds", `'PENDING', 'PENDING', '{"volume": "x"}', '2025-03-04 09:00:00', 3`)
	from := e.archive(id, "notes.txt", "work.txt")
	if one := e.take()[id.String()]; one.Outcome != "imported" {
		t.Fatalf("%+v", one)
	}
	w := e.get(id)
	op := strings.Split(from, "/")[2]
	if w.ArchiveKey != "workspaces/"+id.String()+"/"+op+"/home.tar.zst" || w.Archive == nil || w.Archive.Entries != 3 || w.ArchiveOp.String() != op {
		t.Fatalf("%+v", w)
	}
	if time.Duration(w.StandbyTTL) != 10*time.Second || time.Duration(w.ArchiveTTL) != 24*time.Hour || !w.LastAccess.Equal(time.Date(2025, 3, 4, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", w)
	}
	body, _, err := e.bucket.Get(t.Context(), w.ArchiveKey, 0, -1)
	e.ok(err)
	defer body.Close()
	if sum, err := home.Verify(t.Context(), blob.Verify(body, w.Archive.SHA256, w.Archive.Size), home.Limits{}); err != nil || sum.Entries != 3 {
		t.Errorf("%+v, %v", sum, err)
	}
	for _, key := range []string{from, w.ArchiveKey + ".meta"} {
		if _, err := e.bucket.Stat(t.Context(), key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if all, err := e.store.Archives(t.Context(), id); err != nil || len(all) != 1 || !all[0].Current || all[0].VerifiedAt == nil {
		t.Errorf("%+v, %v", all, err)
	}
	// The next look finds it where it was.
	if _, phase, step := ladder.Decide(ladder.Record{Desired: w.Desired, Operation: ladder.None, ArchiveKey: w.ArchiveKey, ArchiveGeneration: w.ArchiveMounts, Generation: w.Mounts, HadHome: w.HadHome}, ladder.Seen{Archive: true}); phase != ladder.Archived || step.Act != ladder.Rest {
		t.Errorf("%s, %+v", phase, step)
	}
}

// A row that cannot be taken over holds up no other one, and can be given again.
func TestEarlierRowsThatFail(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	good := e.row("status, desired_state", "'PENDING', 'PENDING'")
	lost, broken := e.row("status, desired_state", "'PENDING', 'PENDING'"), e.row("status, desired_state", "'PENDING', 'PENDING'")
	if err := e.bucket.Delete(t.Context(), e.archive(lost, "a")); err != nil {
		t.Fatal(err)
	}
	_, err := e.bucket.Put(t.Context(), e.archive(broken, "a"), strings.NewReader("no gzip"), 7, "")
	e.ok(err)
	stranger := e.row("status, desired_state", "'PENDING', 'PENDING'")
	e.exec(`update public.workspaces set owner_user_id = gen_random_uuid() where id = $1`, stranger)
	odd, unwanted := e.row("status", "'COLD'"), e.row("status, desired_state", "'PENDING', 'COLD'")
	done := e.take()
	for id, says := range map[weir.ID]string{lost: "has no such object", broken: "refused", stranger: "is nobody here: say whose such workspaces are to be with --owner", odd: "status: 'COLD' is none of the earlier schema: PENDING, STANDBY,", unwanted: "desired_state: 'COLD' is none of the earlier schema: PENDING, STANDBY or RUNNING"} {
		if one := done[id.String()]; one.Outcome != "failed" || !strings.Contains(one.Says, says) {
			t.Errorf("%+v", one)
		}
	}
	if done[good.String()].Outcome != "imported" || e.count(`select count(*) from weir.workspaces`) != 1 {
		t.Errorf("%+v", done[good.String()])
	}
	e.archive(lost, "a")
	e.by.Owner = e.owner
	done = e.take()
	if done[lost.String()].Outcome != "imported" || done[stranger.String()].Outcome != "imported" || e.get(stranger).OwnerID != e.owner {
		t.Errorf("%+v", done)
	}
	for _, bad := range []string{`{}`, `[]`, `{"id": "x"}`, `7`} {
		got, err := e.by.Import(t.Context(), "root", []workspace.Earlier{workspace.Earlier(bad)})
		if err != nil || len(got) != 1 || got[0].Outcome != "failed" {
			t.Errorf("%s: %+v, %v", bad, got, err)
		}
	}
}

// A home that is in no archive stays where it is: nothing empty takes its place.
func TestEarlierHomesWithoutAnArchive(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	for _, status := range []string{"STANDBY", "RUNNING", "STOPPED", "STOPPING", "PROVISIONING", "ERROR"} {
		e.row("status", "'"+status+"'")
	}
	e.row("status, operation", "'PENDING', 'PROVISIONING'")
	done := e.take()
	for _, one := range done {
		if one.Outcome != "failed" || !strings.HasSuffix(one.Says, "its home was not in an archive: archive it there first, then import again") {
			t.Errorf("%+v", one)
		}
	}
	if len(done) != 7 || e.count(`select count(*) from weir.workspaces`) != 0 {
		t.Errorf("%+v", done)
	}
}

// What a row lacks is said.
func TestEarlierRowsThatLackSomething(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	id := e.row("status, desired_state", "'PENDING', 'PENDING'")
	for field, says := range map[string]string{
		"status": "status: nothing is none of the earlier schema: PENDING, STANDBY, RUNNING", "desired_state": "desired_state: nothing is none of the earlier schema: PENDING, STANDBY or RUNNING",
		"owner_user_id": "owner_user_id: nothing is nobody here: say whose such workspaces are to be with --owner",
	} {
		var row string
		e.scan(&row, `select (row_to_json(w)::jsonb - $2)::text from public.workspaces w where w.id = $1`, id, field)
		done, err := e.by.Import(t.Context(), "root", []workspace.Earlier{workspace.Earlier(row)})
		if e.ok(err); done[0].Outcome != "failed" || !strings.HasPrefix(done[0].Says, says) {
			t.Errorf("%s: %+v", field, done)
		}
	}
}

// Archives go where the others are, and nowhere else.
func TestEarlierArchivesGoToTheMarkedBucket(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	first, second := e.row("status, desired_state", "'PENDING', 'PENDING'"), e.row("status, desired_state", "'PENDING', 'PENDING'")
	e.archive(first, "a")
	e.archive(second, "b")
	rows := e.rows()
	take := func(row workspace.Earlier) workspace.Imported {
		t.Helper()
		done, err := e.by.Import(t.Context(), "root", []workspace.Earlier{row})
		e.ok(err)
		return done[0]
	}
	if one := take(rows[0]); one.Outcome != "imported" {
		t.Fatalf("%+v", one)
	}
	if _, err := e.bucket.Stat(t.Context(), bucketMark); err != nil {
		t.Error(err)
	}
	e.ok(e.bucket.Delete(t.Context(), bucketMark))
	if one := take(rows[1]); one.Outcome != "failed" || !strings.Contains(one.Says, "it is not the one that has the archives") {
		t.Errorf("%+v", one)
	}
}

// Names become what names are here, limits hold, and providers can be said.
func TestEarlierNamesAndLimits(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	var ids []weir.ID
	for range 4 {
		ids = append(ids, e.row("status, desired_state, description, memo", "'CREATED', 'RUNNING', 'about', 'to do'"))
	}
	e.exec(`update public.workspaces set name = 'My Project! (старый)' where id = any ($1)`, ids)
	e.by.Provider = "process"
	e.take()
	names := map[string]bool{}
	for _, id := range ids {
		w := e.get(id)
		if names[w.Name] = true; !strings.HasPrefix(w.Name, "my-project") || w.Description != "My Project! (старый)\nabout\nto do" || w.Provider != "process" {
			t.Errorf("%+v", w)
		}
	}
	if len(names) != 4 || e.count(`select count(*) from weir.workspaces where desired = 'RUNNING'`) != 2 || e.count(`select count(*) from weir.workspaces where desired = 'STANDBY'`) != 2 {
		t.Errorf("%v", names)
	}
	var data json.RawMessage
	e.scan((*[]byte)(&data), `select data from weir.events where kind = 'workspace' and type = 'imported' limit 1`)
	if !strings.Contains(string(data), `"CREATED"`) {
		t.Errorf("%s", data)
	}
}

// A row of the schema before has no times: it gets those of the policy.
func TestEarlierRowsWithoutTimes(t *testing.T) {
	t.Parallel()
	e := newEarlier(t)
	id := e.row("status", "'STOPPED'")
	e.archive(id, "kept.txt")
	var row string
	e.scan(&row, `select (row_to_json(w)::jsonb - '{operation,desired_state,last_access_at,standby_ttl_seconds,archive_ttl_seconds,error_message,error_count,previous_status}'::text[])::text
		from public.workspaces w where w.id = $1`, id)
	done, err := e.by.Import(t.Context(), "root", []workspace.Earlier{workspace.Earlier(row)})
	if e.ok(err); done[0].Outcome != "imported" {
		t.Fatalf("%+v", done)
	}
	w := e.get(id)
	if time.Duration(w.StandbyTTL) != 10*time.Minute || time.Duration(w.ArchiveTTL) != 30*time.Minute || w.Desired != ladder.Standby || !w.LastAccess.Equal(time.Date(2025, 3, 5, 5, 6, 7, 0, time.UTC)) {
		t.Errorf("%+v", w)
	}
}
