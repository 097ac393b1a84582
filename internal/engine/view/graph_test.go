package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// story is a job whose task a ran three times: it failed, its worker was lost,
// then it was done; b runs, c waits for both.
func story(t *testing.T) (db *testdb.DB, s *Store, job weir.ID) {
	t.Helper()
	db = testdb.New(t)
	do(t, db, `select weir.register_worker('w1', '{a,b}')`)
	job = ask[weir.ID](t, db, `select weir.submit_job('[{"service": "a", "key": "a"}, {"service": "b", "key": "b", "needs": ["a"]}, {"service": "c", "key": "c", "needs": ["a", "b"]}]', 'story')`)
	do(t, db, `select weir.fail(task, attempt, token, 'exit 1', retry_at => clock_timestamp()) from weir.claim('w1', '{a}')`, `select weir.tend()`,
		`select count(*) from weir.claim('w2', '{a}', lease => '1 ms')`, `select pg_sleep(0.01), weir.expire()`,
		`select weir.finish(task, attempt, token) from weir.claim('w3', '{a}')`,
		`select weir.record(task, attempt, token, 'progress', data => '{"percent": 25}') from weir.claim('w1', '{b}')`)
	return db, New(db.Pool), job
}

func TestGraph(t *testing.T) {
	_, s, job := story(t)
	g, err := s.Graph(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range g.Nodes {
		percent := 0.0
		if n.Percent != nil {
			percent = *n.Percent
		}
		got = append(got, fmt.Sprintf("%d %s %s %s %q #%d %q %v %v %v", n.Position, n.Key, n.Service, n.State, n.Gate, n.Attempt, n.Worker, n.StartedAt.IsZero(), n.FinishedAt.IsZero(), percent))
	}
	want := []string{`1 a a done "" #3 "w3" false false 0`, `2 b b running "" #1 "w1" false true 25`, `3 c c pending "needs" #0 "" true true 0`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	slices.SortFunc(g.Edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	if want := [][2]int{{0, 1}, {0, 2}, {1, 2}}; !slices.Equal(g.Edges, want) || g.Truncated {
		t.Errorf("edges %v", g.Edges)
	}
	if _, err := s.Graph(t.Context(), weir.ID{1}); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("a job that is none: %v", err)
	}
}

func TestAttempts(t *testing.T) {
	db, s, job := story(t)
	read := func(key string) (got []string) {
		t.Helper()
		attempts, err := s.Attempts(t.Context(), ask[weir.ID](t, db, `select id from weir.tasks where job = $1 and key = $2`, job, key))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range attempts {
			got = append(got, fmt.Sprintf("#%d %s %s %s", a.Number, a.Worker, a.Outcome, a.Cause))
			if a.StartedAt.IsZero() || a.EndedAt.IsZero() != (a.Outcome == "running") || a.Outcome != "running" && a.EndedAt.Before(a.StartedAt) {
				t.Errorf("attempt %+v", a)
			}
		}
		return got
	}
	for key, want := range map[string][]string{
		"a": {"#1 w1 retrying exit 1", "#2 w2 expired worker w2 was lost", "#3 w3 done "},
		"b": {"#1 w1 running "},
		"c": nil,
	} {
		if got := read(key); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	// Canceled while it waits, it has no attempt.
	do(t, db, `select weir.cancel(id) from weir.tasks where key = 'c'`)
	if got := read("c"); got != nil {
		t.Errorf("got %q", got)
	}
}

// What ended an attempt may be kept longer than its claim.
func TestAttemptsWithoutTheirClaim(t *testing.T) {
	_, s, job := story(t)
	tasks, err := s.Tasks(t.Context(), TaskFilter{Job: job, Key: "a"}, Page{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.TaskEvents(t.Context(), tasks[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	whole := AttemptsOf(events)
	first := slices.IndexFunc(events, func(e Event) bool { return e.Type == "claimed" })
	cut := AttemptsOf(events[first+1:])
	if len(cut) != len(whole) || !cut[0].StartedAt.Equal(whole[0].StartedAt) || cut[0].Outcome != "retrying" {
		t.Errorf("got %+v, want %+v", cut[0], whole[0])
	}
}

func TestSpans(t *testing.T) {
	db, s, job := story(t)
	read := func() (got []string) {
		t.Helper()
		spans, err := s.Spans(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(spans, func(a, b Span) int { return a.From.Compare(b.From) }) {
			t.Errorf("not in order: %+v", spans)
		}
		for _, v := range spans {
			got = append(got, fmt.Sprintf("%s #%d %s", ask[string](t, db, `select key from weir.tasks where id = $1`, v.Task), v.Attempt, v.Outcome))
			if v.From.IsZero() || v.To.IsZero() != (v.Outcome == "running") {
				t.Errorf("span %+v", v)
			}
		}
		return got
	}
	want := []string{"a #1 retrying", "a #2 expired", "a #3 done", "b #1 running"}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// A task that failed and was retried by a person keeps its attempt.
	do(t, db, `select weir.fail(r.task, r.attempt, r.token, 'no', final => true) from weir.running r`, `select weir.retry(id) from weir.tasks where key = 'b'`)
	want[3] = "b #1 failed"
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("after a retry: got %q, want %q", got, want)
	}
}

// A worker may report anything as its progress.
func TestProgressThatIsNone(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	for _, data := range []string{`{"percent": "half"}`, `{"percent": 1e400}`, `{"percent": null}`, `{}`, `[]`, `{"percent": 101}`} {
		do(t, db, `select weir.submit('s')`)
		if _, err := db.Pool.Exec(t.Context(), `select weir.record(task, attempt, token, 'progress', data => $1) from weir.claim('w', '{s}')`, data); err != nil {
			t.Fatal(err)
		}
	}
	tasks, err := s.Tasks(t.Context(), TaskFilter{State: "running"}, Page{})
	if err != nil || len(tasks) != 6 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	for _, task := range tasks {
		if task.Percent != nil {
			t.Errorf("%v percent", *task.Percent)
		}
	}
}

func TestOnePoolAndOneWorker(t *testing.T) {
	s := fill(t)
	if p, err := s.Pool(t.Context(), "p"); err != nil || p.Name != "p" || p.Waiting != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.Pool(t.Context(), "none"); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	w, err := s.Worker(t.Context(), "w")
	if err != nil || w.Running != 1 {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := s.Worker(t.Context(), "none"); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	all, err := s.Workers(t.Context(), WorkerFilter{}, Page{})
	if err != nil || len(all) != 1 || all[0].Running != w.Running || all[0].Name != w.Name {
		t.Errorf("%+v, %v", all, err)
	}
}
