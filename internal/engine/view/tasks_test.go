package view

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// crowd makes some of everything: 60 tasks of three services in all states, and
// 20 jobs of two kinds.
func crowd(t *testing.T) (*testdb.DB, *Store) {
	t.Helper()
	db := testdb.New(t)
	do(t, db, `select weir.set_pool('p', 3)`, `select weir.set_pool('q', 100)`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's' || i % 3, 'max_attempts', 1)), false) from generate_series(1, 30) i`,
		`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s0,s1}', 10)`,
		`select weir.fail(task, attempt, token, 'no') from weir.claim('w', '{s1,s2}', 6)`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's' || i % 3, 'hold', 'me')), false) from generate_series(1, 6) i`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's' || i % 3, 'pool', 'p')), false) from generate_series(1, 12) i`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's' || i % 3, 'pool', 'q', 'lane', 'l' || i % 2, 'exclusive', true)), false) from generate_series(1, 12) i`,
		`select weir.open_gates()`,
		`select weir.cancel(id) from weir.task where state = 'pending' and service = 's1' and pool = 'p'`,
		`select count(*) from weir.claim('w', '{s2}', 3)`,
		`select weir.submit_job(case when i % 3 = 0 then '[{"service": "s0", "key": "a"}, {"service": "s1", "key": "b", "needs": ["a"]}]' else '[{"service": "s0", "key": "a"}]' end::jsonb,
			case when i % 4 = 0 then 'red-' else 'blue-' end || i, case when i % 2 = 0 then 'even' else 'odd' end) from generate_series(1, 20) i`,
		`select weir.cancel_job(id) from weir.jobs where name like '%5'`,
		`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s0}', 30)`,
		`select weir.fail(task, attempt, token, 'no', final => true) from weir.claim('w', '{s1}', 30)`)
	return db, New(db.Pool)
}

// narrow is the store with so little patience that every walk stops again and
// again, and with so few that no index is small enough.
func narrow(s *Store) *Store {
	n := *s
	n.look, n.lookUp, n.few = 3, 2, 1
	return &n
}

// byPage reads a list in pages of so many.
func byPage[T any](t *testing.T, read func(Page) ([]T, string, error), limit int) (all []T) {
	t.Helper()
	for page, n := (Page{Limit: limit}), 0; ; n++ {
		rows, next, err := read(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > limit || n > 1000 {
			t.Fatalf("page %d has %d rows", n, len(rows))
		}
		all = append(all, rows...)
		if next == "" {
			return all
		}
		page.After = next
	}
}

// Every filter gives what one finds by looking at all tasks, in pages of any
// size, however soon a walk stops.
func TestTaskPages(t *testing.T) {
	db, s := crowd(t)
	everything, err := s.Tasks(t.Context(), TaskFilter{}, Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, db, `select count(*) from weir.tasks`); len(everything) != n {
		t.Fatalf("%d of %d tasks", len(everything), n)
	}
	jobs, err := s.Jobs(t.Context(), JobFilter{Name: "blue-3"}, Page{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	filters := []TaskFilter{{}, {Job: jobs[0].ID}, {Job: jobs[0].ID, Key: "b"}, {Job: jobs[0].ID, Service: "s0"}, {Service: "none"}, {Key: "a"}, {Gate: "pool"}, {Gate: "lane"}}
	for _, state := range States {
		filters = append(filters, TaskFilter{State: state}, TaskFilter{State: state, Service: "s1"}, TaskFilter{State: state, Pool: "p"}, TaskFilter{State: state, Lane: "l1"},
			TaskFilter{State: state, Pool: "q", Service: "s2"}, TaskFilter{State: state, Key: "a"}, TaskFilter{State: state, Job: jobs[0].ID}, TaskFilter{State: state, Key: "b", Service: "s1"})
	}
	filters = append(filters, TaskFilter{Gate: "pool", Pool: "p"}, TaskFilter{Gate: "lane", Lane: "l1"}, TaskFilter{Gate: "pool", Pool: "p", Service: "s2"}, TaskFilter{Service: "s1"}, TaskFilter{Pool: "q"})
	matched := 0
	for _, f := range filters {
		var want []weir.ID
		for _, task := range everything {
			if (f.State == "" || task.State == f.State) && (f.Gate == "" || task.Gate == f.Gate) && (f.Service == "" || task.Service == f.Service) && (f.Pool == "" || task.Pool == f.Pool) &&
				(f.Lane == "" || task.Lane == f.Lane) && (f.Key == "" || task.Key == f.Key) && (f.Job.IsZero() || task.Job == f.Job) {
				want = append(want, task.ID)
			}
		}
		if matched += len(want); !f.Job.IsZero() {
			slices.Reverse(want) // in the order of the job
		}
		for _, store := range []*Store{s, narrow(s)} {
			for _, limit := range []int{1, 2, 100} {
				got := byPage(t, func(p Page) ([]Task, string, error) { return store.TaskPage(t.Context(), f, p) }, limit)
				if !slices.EqualFunc(got, want, func(t Task, id weir.ID) bool { return t.ID == id }) {
					t.Errorf("%+v in pages of %d: %d tasks, want %d", f, limit, len(got), len(want))
				}
			}
		}
	}
	if matched < 200 {
		t.Errorf("the filters match only %d tasks", matched)
	}
}

// Order and exclusion list what weir.why says, each task at one of them.
func TestTasksByOrderAndExclusion(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.submit_many('[
		{"service": "a", "key": "first", "lane": "l", "rank": 1, "exclusive": true},
		{"service": "a", "key": "second", "lane": "l", "rank": 2, "exclusive": true},
		{"service": "a", "key": "any", "lane": "l", "exclusive": true},
		{"service": "a", "key": "bad", "lane": "m", "rank": 1, "max_attempts": 1},
		{"service": "a", "key": "after", "lane": "m", "rank": 2}]')`,
		`select weir.open_gates()`,
		`select weir.fail(task, attempt, token, 'no') from weir.claim('w', '{a}', 10) where key = 'bad'`)
	job := ask[weir.ID](t, db, `select weir.submit_job('[{"service": "a", "key": "step", "lane": "l", "rank": 3}]', 'j')`)
	s := New(db.Pool)
	for gate, want := range map[weir.Gate][]string{"order": {"after", "second", "step"}, "exclusion": {"any"}, "lane": {"after", "any", "second", "step"}} {
		for _, f := range []TaskFilter{{Gate: gate}, {Gate: gate, Lane: "l"}, {Gate: gate, Job: job}} {
			tasks, err := s.Tasks(t.Context(), f, Page{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range tasks {
				got = append(got, task.Key)
				first := ask[string](t, db, `select gate from weir.why($1) where not open limit 1`, task.ID)
				if gate != "lane" && first != string(gate) {
					t.Errorf("%s is listed under %s, and why says %s", task.Key, gate, first)
				}
			}
			want := slices.DeleteFunc(slices.Clone(want), func(key string) bool {
				return f.Lane != "" && key == "after" || !f.Job.IsZero() && key != "step"
			})
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%+v lists %q, want %q", f, got, want)
			}
		}
	}
}

func TestJobPages(t *testing.T) {
	_, s := crowd(t)
	everything, err := s.Jobs(t.Context(), JobFilter{}, Page{Limit: 1000})
	if err != nil || len(everything) != 20 {
		t.Fatalf("%d jobs, %v", len(everything), err)
	}
	matched := 0
	for _, state := range append([]string{""}, JobStates...) {
		for _, kind := range []string{"", "odd", "even", "none"} {
			for _, name := range []string{"", "red*", "blue-1", "blue-1*", "blue-*", "none", "%", "%*"} {
				f := JobFilter{State: state, Kind: kind, Name: name}
				var want []weir.ID
				for _, j := range everything {
					if (state == "" || j.State == state) && (kind == "" || j.Kind == kind) && named(j.Name, name) {
						want = append(want, j.ID)
					}
				}
				matched += len(want)
				for _, store := range []*Store{s, narrow(s)} {
					for _, limit := range []int{1, 3, 100} {
						got := byPage(t, func(p Page) ([]Job, string, error) { return store.JobPage(t.Context(), f, p) }, limit)
						if !slices.EqualFunc(got, want, func(j Job, id weir.ID) bool { return j.ID == id }) {
							t.Errorf("%+v in pages of %d: %d jobs, want %d", f, limit, len(got), len(want))
						}
					}
				}
			}
		}
	}
	if matched < 100 {
		t.Errorf("the filters match only %d jobs", matched)
	}
	for _, bad := range []Page{{After: "x"}, {After: "' or 1=1"}} {
		if _, _, err := s.JobPage(t.Context(), JobFilter{}, bad); !errors.Is(err, weir.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
		for _, f := range []TaskFilter{{}, {State: "available"}, {Job: everything[0].ID}} {
			if _, _, err := s.TaskPage(t.Context(), f, bad); !errors.Is(err, weir.ErrInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
	}
}

// A list leaves out what is too long for it; the task itself has it.
func TestListsLeaveLongParamsOut(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `select weir.submit('long', jsonb_build_object('text', (select string_agg(md5(i::text), '') from generate_series(1, 1000) i)))`, `select weir.submit('short', '{"n": 1}')`)
	tasks, err := s.Tasks(t.Context(), TaskFilter{}, Page{})
	if err != nil || len(tasks) != 2 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	if tasks[1].Params != nil || string(tasks[0].Params) != `{"n": 1}` {
		t.Errorf("params of %d and %d bytes", len(tasks[1].Params), len(tasks[0].Params))
	}
	if whole, err := s.Task(t.Context(), tasks[1].ID); err != nil || len(whole.Params) < 32_000 {
		t.Errorf("params of %d bytes, %v", len(whole.Params), err)
	}
}

// The tasks of a job come in its order also where their ids do not: twelve bits
// of an id count them.
func TestAJobOfManyTasksKeepsItsOrder(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	job := ask[weir.ID](t, db, `select weir.submit_job((select jsonb_agg(jsonb_build_object('service', 's', 'key', i::text) order by i) from generate_series(1, 4200) i), 'many')`)
	do(t, db, `analyze`)
	tasks := byPage(t, func(p Page) ([]Task, string, error) { return s.TaskPage(t.Context(), TaskFilter{Job: job}, p) }, 1000)
	for i, task := range tasks {
		if task.Key != fmt.Sprint(i+1) {
			t.Fatalf("task %d has the key %s", i+1, task.Key)
		}
	}
	graph, err := s.Graph(t.Context(), job)
	if err != nil || len(tasks) != 4200 || len(graph.Nodes) != graphMost || !graph.Truncated {
		t.Errorf("%d tasks, %d in the graph, %v", len(tasks), len(graph.Nodes), err)
	}
}
