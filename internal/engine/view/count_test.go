package view

import (
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// Counts are those of the lists, up to a bound, however soon a walk stops.
func TestCounts(t *testing.T) {
	_, s := runs(t)
	for _, store := range []*Store{s, narrow(s)} {
		for name, c := range map[string]struct {
			f    JobFilter
			most int
			want int
			more bool
		}{
			"all":       {JobFilter{}, CountMost, 40, false},
			"some":      {JobFilter{}, 10, 10, true},
			"a kind":    {JobFilter{Kind: "job"}, CountMost, 8, false},
			"none":      {JobFilter{Kind: "none"}, CountMost, 0, false},
			"to come":   {JobFilter{Since: time.Now().Add(time.Hour)}, CountMost, 0, false},
			"of an age": {JobFilter{Kind: "job", Since: time.Now().Add(-time.Hour)}, CountMost, 8, false},
		} {
			n, more, err := store.CountJobs(t.Context(), c.f, c.most)
			// A walk that stops early may not know, but never counts wrong.
			if err != nil || n > c.want || store == s && (n != c.want || more != c.more) {
				t.Errorf("%s: %d, %v, %v", name, n, more, err)
			}
		}
	}
	if n, more, err := s.CountTasks(t.Context(), TaskFilter{Service: "s", State: "done"}, CountMost); err != nil || n != 4 || more {
		t.Errorf("%d tasks, %v, %v", n, more, err)
	}
	if _, _, err := s.CountTasks(t.Context(), TaskFilter{State: "odd"}, 10); err == nil {
		t.Error("an odd state was counted")
	}
}

// The jobs of a job's steps are found, and no others.
func TestJobsOfSteps(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.submit_job(name => 'film', tasks => '[{"service": "workflow", "key": "a", "plan": true}, {"service": "workflow", "key": "b", "plan": true}, {"service": "s", "key": "c"}]') from generate_series(1, 2)`,
		`select weir.open_job('child of ' || q.key, 'workflow', parent => q.id) from weir.tasks q where q.key in ('a', 'b') and q.job = (select id from weir.jobs where name = 'film' order by id limit 1)`,
		`select weir.open_job('another', 'workflow', parent => q.id) from weir.tasks q where q.key = 'a' and q.job = (select id from weir.jobs where name = 'film' order by id desc limit 1)`)
	var film weir.ID
	if err := db.Pool.QueryRow(t.Context(), `select id from weir.jobs where name = 'film' order by id limit 1`).Scan(&film); err != nil {
		t.Fatal(err)
	}
	s := New(db.Pool)
	for _, store := range []*Store{s, narrow(s)} {
		jobs, err := store.Jobs(t.Context(), JobFilter{Of: film}, Page{})
		if err != nil || len(jobs) != 2 || jobs[0].Parent == jobs[1].Parent {
			t.Errorf("%+v, %v", jobs, err)
		}
	}
}

// A list says what a running job waits for, if nothing of it runs.
func TestJobsWait(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.submit_job(name => 'held', tasks => '[{"service": "s", "key": "a", "hold": "the editor"}, {"service": "s", "key": "b", "needs": ["a"]}]')`,
		`select weir.submit_job(name => 'works', tasks => '[{"service": "t", "key": "a"}, {"service": "s", "key": "b", "hold": "the editor"}]')`,
		`select count(*) from weir.claim('w', '{t}', 1)`, `select weir.submit_job(name => 'lone', tasks => '[{"service": "nobody", "key": "a"}]')`)
	jobs, err := New(db.Pool).Jobs(t.Context(), JobFilter{}, Page{})
	if err != nil || len(jobs) != 3 {
		t.Fatal(jobs, err)
	}
	for _, j := range jobs {
		want := map[string]string{"held": "a: held by the editor", "works": "", "lone": "a: no live worker serves nobody"}[j.Name]
		if j.Waits != want {
			t.Errorf("%s waits for %q, want %q", j.Name, j.Waits, want)
		}
	}
}
