package view

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// recorded makes a job of two tasks with artifacts, and one task without a job.
func recorded(t *testing.T) (s *Store, job, first, alone weir.ID) {
	t.Helper()
	db := testdb.New(t)
	ask := func(into any, sql string, args ...any) {
		t.Helper()
		if err := db.Pool.QueryRow(t.Context(), sql, args...).Scan(into); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	ask(&job, `select weir.submit_job('[{"service": "s", "key": "one"}, {"service": "s", "key": "two"}]', 'pair')`)
	ask(&alone, `select weir.submit('s')`)
	ask(&first, `select id from weir.tasks where key = 'one'`)
	record := func(n int) {
		var refused int
		ask(&refused, `with c as materialized (select r.task, r.attempt, r.token, q.key from weir.running r join weir.tasks q on q.id = r.task)
			select count(*) filter (where weir.record_artifact(c.task, c.attempt, c.token, 'output', 'f' || $1::int, 'folder:///b', 'outputs/x/' || coalesce(c.key, '-') || '/1/f' || $1, 10 + $1,
				'text/plain', repeat('a', 64)) <> 'ok') from c`, n)
		if refused != 0 {
			t.Fatalf("%d were refused", refused)
		}
	}
	var claimed int
	ask(&claimed, `select count(*) from weir.claim('w', '{s}', 10)`)
	if claimed != 3 {
		t.Fatalf("%d were claimed", claimed)
	}
	for n := range 5 {
		record(n)
		record(n) // a lost answer
	}
	return New(db.Pool), job, first, alone
}

func TestArtifactsAreListedByJobAndByTask(t *testing.T) {
	s, job, first, alone := recorded(t)
	for _, want := range []struct {
		filter ArtifactFilter
		n      int
	}{
		{ArtifactFilter{}, 15},
		{ArtifactFilter{Job: job}, 10},
		{ArtifactFilter{Task: first}, 5},
		{ArtifactFilter{Task: alone}, 5},
		{ArtifactFilter{Job: job, Task: alone}, 0},
		{ArtifactFilter{Task: first, Attempt: 1}, 5},
		{ArtifactFilter{Task: first, Attempt: 2}, 0},
		{ArtifactFilter{Job: job, Name: "f3"}, 2},
		{ArtifactFilter{Job: job, Kind: "input"}, 0},
		{ArtifactFilter{Job: job, Kind: "output"}, 10},
	} {
		var all []Artifact
		for page := (Page{Limit: 4}); ; {
			found, err := s.Artifacts(t.Context(), want.filter, page)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 {
				break
			}
			all = append(all, found...)
			page.After = fmt.Sprint(all[len(all)-1].ID)
		}
		if len(all) != want.n || !slices.IsSortedFunc(all, func(a, b Artifact) int { return int(b.ID - a.ID) }) {
			t.Errorf("%+v: %d artifacts: %+v", want.filter, len(all), all)
		}
	}
	found, err := s.Artifacts(t.Context(), ArtifactFilter{Task: first, Name: "f4"}, Page{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	a, err := s.Artifact(t.Context(), found[0].ID)
	if err != nil || a != found[0] || a.Job != job || a.TaskKey != "one" || a.Attempt != 1 || a.Size != 14 || a.ContentType != "text/plain" || len(a.SHA256) != 64 ||
		a.Key != "outputs/x/one/1/f4" || a.Bucket != "folder:///b" || a.Kind != "output" || a.At.IsZero() {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := s.Artifact(t.Context(), 1<<40); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Artifacts(t.Context(), ArtifactFilter{}, Page{After: "x"}); !errors.Is(err, weir.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

// What a lease does not cover is not noted; what it covers is in the timeline once.
func TestAnArtifactNeedsTheLease(t *testing.T) {
	s, _, first, _ := recorded(t)
	ask := func(into any, sql string, args ...any) {
		t.Helper()
		if err := s.pool.QueryRow(t.Context(), sql, args...).Scan(into); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	var events int
	if ask(&events, `select count(*) from weir.events where type = 'artifact' and task = $1 and data->>'name' is not null`, first); events != 5 {
		t.Errorf("%d events tell of 5 artifacts", events)
	}
	const record = `select weir.record_artifact($1, $2, $3, 'output', 'late', 'b', 'k', 1)`
	var token, answer string
	ask(&token, `select token::text from weir.running where task = $1`, first)
	for _, call := range []struct {
		attempt int
		token   string
	}{{2, token}, {1, "00000000-0000-0000-0000-000000000001"}} {
		if ask(&answer, record, first, call.attempt, call.token); answer != "lease_lost" {
			t.Errorf("%+v: %s", call, answer)
		}
	}
	if ask(&answer, record, "01993f5c-0000-7000-8000-000000000000", 1, token); answer != "unknown" {
		t.Errorf("no such task: %s", answer)
	}
	ask(&answer, `select weir.finish($1, 1, $2)`, first, token)
	if ask(&answer, record, first, 1, token); answer != "lease_lost" {
		t.Errorf("after the end: %s", answer)
	}
	if late, err := s.Artifacts(t.Context(), ArtifactFilter{Name: "late"}, Page{}); err != nil || len(late) > 0 {
		t.Errorf("%+v, %v", late, err)
	}
	for what, call := range map[string]string{
		"kind":   `select weir.record_artifact($1, 1, $2, 'other', 'n', 'b', 'k', 1)`,
		"name":   `select weir.record_artifact($1, 1, $2, 'output', '', 'b', 'k', 1)`,
		"key":    `select weir.record_artifact($1, 1, $2, 'output', 'n', 'b', '', 1)`,
		"size":   `select weir.record_artifact($1, 1, $2, 'output', 'n', 'b', 'k', -1)`,
		"sha256": `select weir.record_artifact($1, 1, $2, 'output', 'n', 'b', 'k', 1, sha256 => 'ABC')`,
	} {
		if err := s.pool.QueryRow(t.Context(), call, first, token).Scan(&answer); err == nil {
			t.Errorf("a bad %s: %s", what, answer)
		}
	}
}
