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

func TestMain(m *testing.M) { testdb.Main(m) }

// fill makes a task in every state and at every gate, and returns the store.
func fill(t *testing.T) *Store {
	t.Helper()
	db := testdb.New(t)
	for _, sql := range []string{
		`select weir.set_pool('p', size => 1)`,
		`select weir.submit('a.done')`, `select weir.submit('a.failed', max_attempts => 1)`, `select weir.submit('a.running')`,
		`select weir.finish(task, attempt, token, '{"n": 1}') from weir.claim('w', array['a.done'])`,
		`select weir.fail(task, attempt, token, 'no') from weir.claim('w', array['a.failed'])`,
		`select weir.record(task, attempt, token, 'progress', data => '{"percent": 40}') from weir.claim('w', array['a.running'])`,
		`select weir.cancel(weir.submit('a.canceled'))`, `select weir.skip(weir.submit('a.skipped'), 'no need')`,
		`select weir.submit('a.available')`, `select weir.submit('a.time', run_at => clock_timestamp() + interval '1 h')`, `select weir.submit('a.hold', hold => 'me')`,
		`select weir.submit('a.lane', lane => 'l', rank => 1)`, `select weir.submit('a.pool', pool => 'p')`,
		`select weir.submit_job('[{"service": "a.first", "key": "first"}, {"service": "a.needs", "key": "second", "needs": ["first"]}]', 'pair')`,
	} {
		if _, err := db.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return New(db.Pool)
}

// Each state is found in the table that holds it, and only there.
func TestTasksByState(t *testing.T) {
	s := fill(t)
	all, err := s.Tasks(t.Context(), TaskFilter{}, Page{})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, state := range States {
		tasks, err := s.Tasks(t.Context(), TaskFilter{State: state}, Page{})
		if err != nil || len(tasks) == 0 {
			t.Fatalf("%s: %d tasks, %v", state, len(tasks), err)
		}
		found += len(tasks)
		for _, task := range tasks {
			if task.State != state {
				t.Errorf("%s is %s, asked for %s", task.Service, task.State, state)
			}
		}
	}
	if found != len(all) {
		t.Errorf("%d tasks by state, %d in all", found, len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b Task) int { return strings.Compare(b.ID.String(), a.ID.String()) }) {
		t.Error("the list is not newest first")
	}
}

func TestTaskFilters(t *testing.T) {
	s := fill(t)
	jobs, err := s.Jobs(t.Context(), JobFilter{Name: "pair"}, Page{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for name, c := range map[string]struct {
		filter TaskFilter
		want   string
	}{
		"service": {TaskFilter{Service: "a.hold"}, "a.hold"},
		"time":    {TaskFilter{Gate: "time"}, "a.time"},
		"hold":    {TaskFilter{Gate: "hold", State: "pending"}, "a.hold"},
		"needs":   {TaskFilter{Gate: "needs"}, "a.needs"},
		"lane":    {TaskFilter{Lane: "l"}, "a.lane"},
		"order":   {TaskFilter{Gate: "order"}, ""},
		"exclude": {TaskFilter{Gate: "exclusion"}, "a.lane"},
		"pool":    {TaskFilter{Pool: "p"}, "a.pool"},
		"job":     {TaskFilter{Job: jobs[0].ID}, "a.first,a.needs"},
		"both":    {TaskFilter{Job: jobs[0].ID, State: "available"}, "a.first"},
		"nothing": {TaskFilter{Service: "a.hold", State: "done"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tasks, err := s.Tasks(t.Context(), c.filter, Page{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range tasks {
				got = append(got, task.Service)
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
	for _, bad := range []TaskFilter{{State: "asleep"}, {Gate: "door"}, {Gate: "pool", State: "done"}} {
		if _, err := s.Tasks(t.Context(), bad, Page{}); !errors.Is(err, weir.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Page by page gives the same as all at once, in both orders.
func TestPages(t *testing.T) {
	s := fill(t)
	jobs, err := s.Jobs(t.Context(), JobFilter{}, Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []TaskFilter{{}, {State: "pending"}, {Job: jobs[0].ID}} {
		all, err := s.Tasks(t.Context(), f, Page{})
		if err != nil {
			t.Fatal(err)
		}
		var paged []weir.ID
		for page := (Page{Limit: 1}); ; {
			tasks, err := s.Tasks(t.Context(), f, page)
			if err != nil {
				t.Fatal(err)
			}
			if len(tasks) == 0 {
				break
			}
			paged = append(paged, tasks[0].ID)
			page.After = tasks[0].ID.String()
		}
		if !slices.EqualFunc(all, paged, func(t Task, id weir.ID) bool { return t.ID == id }) {
			t.Errorf("%+v: %d at once, %d by page", f, len(all), len(paged))
		}
	}
}

func TestDetails(t *testing.T) {
	s := fill(t)
	tasks, err := s.Tasks(t.Context(), TaskFilter{State: "running"}, Page{})
	if err != nil || len(tasks) != 1 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	if p := tasks[0].Percent; p == nil || *p != 40 || tasks[0].Worker != "w" || tasks[0].Until.IsZero() {
		t.Errorf("got %+v", tasks[0])
	}
	events, err := s.TaskEvents(t.Context(), tasks[0].ID)
	if err != nil || len(events) != 3 {
		t.Errorf("%d events, %v", len(events), err)
	}
	if _, err := s.Task(t.Context(), weir.ID{1}); !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	for _, state := range JobStates {
		if _, err := s.Jobs(t.Context(), JobFilter{State: state}, Page{}); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	last, _, err := s.Timeline(t.Context(), TimelineFilter{}, "", 3)
	if err != nil || len(last) != 3 || last[0].Seq <= last[2].Seq {
		t.Errorf("%+v, %v", last, err)
	}
	findings, err := s.Doctor(t.Context(), true)
	if err != nil || len(findings) < 10 {
		t.Errorf("%d findings, %v", len(findings), err)
	}
}

// The end of an id is enough, if it is long enough and only one has it.
func TestIDByItsEnd(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	var id weir.ID
	if err := db.Pool.QueryRow(t.Context(), `select weir.submit('a')`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	text := id.String()
	for _, n := range []int{6, 12, 20, 36} {
		if got, err := s.TaskID(t.Context(), strings.ToUpper(text[36-n:])); got != id || err != nil {
			t.Errorf("last %d characters: %v, %v", n, got, err)
		}
	}
	for _, c := range []struct {
		text string
		want error
	}{{text[31:], weir.ErrInvalid}, {"zzzzzz", weir.ErrInvalid}, {"' or 1=1 --", weir.ErrInvalid}, {"000000000000", weir.ErrNotFound}} {
		if _, err := s.TaskID(t.Context(), c.text); !errors.Is(err, c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	// Two tasks whose ids end alike.
	twin := fmt.Sprintf("%s%s", "01890a5d-ac96-774b-bcce-", text[24:])
	if _, err := db.Pool.Exec(t.Context(), `insert into weir.tasks (id, order_seq, class, position, max_attempts, params) select $1, 999, class, 0, 1, '{}' from weir.tasks`, twin); err != nil {
		t.Fatal(err)
	}
	db.SkipDoctor("a task without a state was written by hand")
	if _, err := s.TaskID(t.Context(), text[24:]); !errors.Is(err, weir.ErrInvalid) || !strings.Contains(err.Error(), "give more of it") {
		t.Errorf("got %v", err)
	}
}
