package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// runs makes 40 runs of three workflows in all states, some by schedules, some for
// one task, some a repetition of another; and other jobs of the same names.
func runs(t *testing.T) (*testdb.DB, *Store) {
	t.Helper()
	db := testdb.New(t)
	long := strings.Repeat("ü", 250)
	do(t, db, `select weir.submit('parent')`,
		`select weir.open_job(case i % 4 when 0 then 'render' when 1 then 'render-all' when 2 then '`+long+`' else 'plain' end, case when i % 5 = 0 then 'job' else 'workflow' end,
			due => case when i % 2 = 0 then clock_timestamp() + interval '1 h' end, schedule => case i % 3 when 0 then 'nightly' when 1 then 'nightly too' end,
			parent => case when i % 6 = 0 then (select id from weir.tasks limit 1) end, options => '{"params": {"x": 1}}') from generate_series(1, 40) i`,
		`update weir.jobs set origin = (select min(id::text)::uuid from weir.jobs) where name = 'plain' and kind = 'workflow'`,
		`select weir.add_tasks(id, '[{"service": "s", "key": "a"}]') from weir.job where due <= clock_timestamp() order by id limit 16`,
		`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s}', 4)`,
		`select weir.fail(task, attempt, token, 'no', final => true) from weir.claim('w', '{s}', 4)`,
		`select count(*) from weir.claim('w', '{s}', 4)`,
		`select weir.cancel_job(job) from weir.tasks where job is not null and id in (select task from weir.running limit 2)`,
		`select weir.cancel_job(job) from weir.tasks where job is not null and id in (select task from weir.available limit 2)`)
	return db, New(db.Pool)
}

// Every filter gives what one finds by looking at all jobs, in pages of any size,
// however soon a walk stops.
func TestRunPages(t *testing.T) {
	_, s := runs(t)
	everything, err := s.Jobs(t.Context(), JobFilter{}, Page{Limit: 1000})
	if err != nil || len(everything) != 40 {
		t.Fatalf("%d jobs, %v", len(everything), err)
	}
	states, some := map[string]int{}, Job{}
	for _, j := range everything {
		states[j.State]++
		if !j.Parent.IsZero() {
			some.Parent = j.Parent
		}
		if !j.Origin.IsZero() {
			some.Origin = j.Origin
		}
	}
	for _, state := range JobStates {
		if states[state] == 0 {
			t.Errorf("no job is %s: %v", state, states)
		}
	}
	matched := 0
	check := func(f JobFilter) {
		var want []weir.ID
		for _, j := range everything {
			if (f.State == "" || j.State == f.State) && (f.Kind == "" || j.Kind == f.Kind) && (f.Workflow == "" || j.Kind == "workflow" && j.Name == f.Workflow) &&
				(f.Schedule == "" || j.Schedule == f.Schedule) && (f.Parent.IsZero() || j.Parent == f.Parent) && (f.Origin.IsZero() || j.Origin == f.Origin) && named(j.Name, f.Name) {
				want = append(want, j.ID)
			}
		}
		matched += len(want)
		for _, store := range []*Store{s, narrow(s)} {
			for _, limit := range []int{2, 100} {
				got := byPage(t, func(p Page) ([]Job, string, error) { return store.JobPage(t.Context(), f, p) }, limit)
				if !slices.EqualFunc(got, want, func(j Job, id weir.ID) bool { return j.ID == id }) {
					t.Errorf("%+v in pages of %d: %d jobs, want %d", f, limit, len(got), len(want))
				}
			}
		}
	}
	for _, state := range append([]string{""}, JobStates...) {
		for _, workflow := range []string{"", "render", strings.Repeat("ü", 250), strings.Repeat("ü", 249), "none"} {
			for _, schedule := range []string{"", "nightly", "none"} {
				check(JobFilter{State: state, Workflow: workflow, Schedule: schedule})
			}
			check(JobFilter{State: state, Workflow: workflow, Parent: some.Parent})
		}
		check(JobFilter{State: state, Origin: some.Origin})
		check(JobFilter{State: state, Origin: some.Parent})
		check(JobFilter{State: state, Schedule: "nightly", Kind: "job", Name: "ren*"})
	}
	if matched < 100 {
		t.Errorf("the filters match only %d jobs", matched)
	}
	for _, j := range everything {
		if (j.State == "queued") == j.Due.IsZero() || string(j.Options) != `{"params": {"x": 1}}` || j.Progress != 0 && j.State == "queued" {
			t.Errorf("%+v", j)
		}
	}
}

// A picture shows what a task was split into, and what those need.
func TestGraphOfASplitTask(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	job := ask[weir.ID](t, db, `select weir.submit_job('[{"service": "s", "key": "list"}, {"service": "m", "key": "map", "needs": ["list"], "plan": true, "run": {"driver": "exec"}}, {"service": "s", "key": "end", "needs": ["map"]}]', 'j')`)
	do(t, db, `select weir.finish(task, attempt, token) from weir.claim('w', '{s}')`)
	ask[int](t, db, `select count(*) from weir.add_tasks($1, '[{"service": "s", "key": "map[0]", "needs": ["list"]}, {"service": "s", "key": "map[1]", "needs": ["list"]}]')`, job)
	if task, err := s.Tasks(t.Context(), TaskFilter{Gate: "plan"}, Page{}); err != nil || len(task) != 1 || task[0].Key != "map" || task[0].Plan == nil || !*task[0].Plan || string(task[0].Run) != `{"driver": "exec"}` {
		t.Errorf("%+v %v", task, err)
	}
	do(t, db, `select weir.wait_for(id, '{"map[0]", "map[1]"}') from weir.tasks where key = 'map'`)
	g, err := s.Graph(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	var edges []string
	for _, e := range g.Edges {
		edges = append(edges, g.Nodes[e[0]].Key+" → "+g.Nodes[e[1]].Key)
	}
	slices.Sort(edges)
	if got, want := fmt.Sprint(edges), "[list → map list → map[0] list → map[1] map → end map[0] → map map[1] → map]"; got != want {
		t.Errorf("edges %s, want %s", got, want)
	}
	task, err := s.Task(t.Context(), g.Nodes[1].ID)
	if err != nil || len(task.Awaits) != 2 {
		t.Errorf("%+v %v", task, err)
	}
	queued := ask[weir.ID](t, db, `select weir.open_job('queued')`)
	if g, err := s.Graph(t.Context(), queued); err != nil || len(g.Nodes) != 0 {
		t.Errorf("a queued job: %+v %v", g, err)
	}
}

// named says that a name fits a filter.
func named(name, filter string) bool {
	prefix, begins := strings.CutSuffix(filter, "*")
	return filter == "" || name == filter || begins && strings.HasPrefix(name, prefix)
}
