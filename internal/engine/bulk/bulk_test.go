package bulk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

type rig struct {
	*testing.T
	db    *testdb.DB
	store *view.Store
	doer  *bulk.Doer
}

func start(t *testing.T) *rig {
	t.Helper()
	db := testdb.New(t)
	client, err := weir.New(db.Pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	store := view.New(db.Pool)
	return &rig{t, db, store, bulk.New(db.Pool, client, store)}
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.db.Pool.Exec(r.Context(), sql, args...); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}

// states counts the tasks of a service by state.
func (r *rig) states(service string) string {
	r.Helper()
	var text string
	err := r.db.Pool.QueryRow(r.Context(), `select coalesce(string_agg(x.n || ' ' || x.state, ', ' order by x.state), '') from (select state, count(*) as n from weir.task where service = $1 group by 1) x`, service).Scan(&text)
	if err != nil {
		r.Fatal(err)
	}
	return text
}

func (r *rig) tasks(f view.TaskFilter, o bulk.Order) bulk.Result {
	r.Helper()
	o.By = "ada"
	got, err := r.doer.ChangeTasks(r.Context(), f, o)
	if err != nil {
		r.Fatal(err)
	}
	return got
}

// Every action is done to what matches, to nothing else, and can be done again.
func TestTasks(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit('render') from generate_series(1, 7)`)
	r.exec(`select weir.submit('mail') from generate_series(1, 3)`)
	render := view.TaskFilter{Service: "render", State: "available"}
	look := r.tasks(render, bulk.Order{Action: bulk.Hold, DryRun: true})
	if look.Matched != 7 || look.Changed != 0 || len(look.Sample) != 5 || look.Next != "" || r.states("render") != "7 available" {
		t.Fatalf("a look: %+v, %s", look, r.states("render"))
	}
	if got := r.tasks(render, bulk.Order{Action: bulk.Hold, Decision: weir.Decision{Reason: "the budget"}}); got.Matched != 7 || got.Changed != 7 || len(got.Refused) != 0 || got.Next != "" {
		t.Errorf("hold: %+v", got)
	}
	if got := r.tasks(render, bulk.Order{Action: bulk.Hold}); got.Matched != 0 {
		t.Errorf("hold again: %+v", got)
	}
	held := view.TaskFilter{Service: "render", Gate: "hold"}
	if got := r.tasks(held, bulk.Order{Action: bulk.Priority, Priority: 9}); got.Changed != 7 {
		t.Errorf("priority: %+v", got)
	}
	if got := r.tasks(held, bulk.Order{Action: bulk.Release}); got.Changed != 7 || r.states("render") != "7 available" {
		t.Errorf("release: %+v, %s", got, r.states("render"))
	}
	r.exec(`select weir.fail(task, attempt, token, 'no', final => true) from weir.claim('w', '{render}', 4)`)
	failed := view.TaskFilter{Service: "render", State: "failed"}
	if got := r.tasks(failed, bulk.Order{Action: bulk.Retry}); got.Changed != 4 || r.states("render") != "7 available" {
		t.Errorf("retry: %+v, %s", got, r.states("render"))
	}
	if got := r.tasks(view.TaskFilter{Service: "render"}, bulk.Order{Action: bulk.Skip, Limit: 3, Decision: weir.Decision{Reason: "done by hand"}}); got.Changed != 3 || got.Next == "" {
		t.Errorf("skip: %+v", got)
	}
	if got := r.tasks(view.TaskFilter{Service: "render"}, bulk.Order{Action: bulk.Cancel}); got.Changed != 4 || len(got.Refused) != 3 || !strings.Contains(got.Refused[0].Why, "skipped") {
		t.Errorf("cancel: %+v", got)
	}
	if r.states("mail") != "3 available" {
		t.Errorf("others: %s", r.states("mail"))
	}
}

// What runs is asked to stop, also when it was asked before.
func TestRunning(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit('render') from generate_series(1, 3)`)
	r.exec(`select count(*) from weir.claim('w', '{render}', 3)`)
	for range 2 {
		if got := r.tasks(view.TaskFilter{State: "running"}, bulk.Order{Action: bulk.Cancel}); got.Changed != 3 || len(got.Refused) != 0 {
			t.Errorf("cancel: %+v", got)
		}
	}
	var asked int
	if err := r.db.Pool.QueryRow(t.Context(), `select count(*) from weir.event where type = 'cancel_requested'`).Scan(&asked); err != nil || asked != 3 {
		t.Errorf("%d were asked, %v", asked, err)
	}
}

// Many are done page by page: each once, and none that was made meanwhile.
func TestPages(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit('render') from generate_series(1, 25)`)
	done, calls := 0, 0
	for order := (bulk.Order{Action: bulk.Priority, Priority: 3, Limit: 10}); ; calls++ {
		got := r.tasks(view.TaskFilter{Service: "render"}, order)
		done += got.Changed
		r.exec(`select weir.submit('render')`)
		if order.After = got.Next; got.Next == "" {
			break
		}
	}
	if done != 25 || calls != 2 {
		t.Errorf("%d were changed in %d calls and one", done, calls)
	}
}

// What a bulk has changed on its way is not told as refused.
func TestMoved(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit_job(name => 'chain', tasks => '[{"service": "s", "key": "a"}, {"service": "s", "key": "b", "needs": ["a"]}, {"service": "s", "key": "c", "needs": ["b"]}]')`)
	var job weir.ID
	if err := r.db.Pool.QueryRow(t.Context(), `select id from weir.jobs`).Scan(&job); err != nil {
		t.Fatal(err)
	}
	got := r.tasks(view.TaskFilter{Job: job}, bulk.Order{Action: bulk.Cancel})
	if got.Matched != 3 || got.Changed != 1 || got.Moved != 2 || len(got.Refused) != 0 {
		t.Errorf("%+v: %s", got, r.states("s"))
	}
}

// Jobs are canceled and retried, and what is refused hinders no other.
func TestJobs(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit_job(name => 'nightly ' || i, tasks => '[{"service": "s", "key": "a"}]') from generate_series(1, 4) i`)
	r.exec(`select weir.submit_job(name => 'weekly', tasks => '[{"service": "s", "key": "a"}]')`)
	r.exec(`select weir.finish(task, attempt, token) from weir.claim('w', '{s}', 1)`)
	f := view.JobFilter{Name: "nightly*"}
	change := func(o bulk.Order) bulk.Result {
		t.Helper()
		got, err := r.doer.ChangeJobs(t.Context(), f, o)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := change(bulk.Order{Action: bulk.Cancel, DryRun: true}); got.Matched != 4 || len(got.Sample) != 4 {
		t.Errorf("a look: %+v", got)
	}
	if got := change(bulk.Order{Action: bulk.Cancel}); got.Changed != 3 || len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "already ended") {
		t.Errorf("cancel: %+v", got)
	}
	f.State = "canceled"
	if got := change(bulk.Order{Action: bulk.Retry}); got.Changed != 3 {
		t.Errorf("retry: %+v", got)
	}
	if r.states("s") != "4 available, 1 done" {
		t.Errorf("afterwards: %s", r.states("s"))
	}
}

// One event tells what was done, to how many, by whom and why.
func TestEvent(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit('render') from generate_series(1, 3)`)
	r.tasks(view.TaskFilter{Service: "render"}, bulk.Order{Action: bulk.Cancel, DryRun: true})
	r.tasks(view.TaskFilter{Service: "none"}, bulk.Order{Action: bulk.Cancel})
	r.tasks(view.TaskFilter{Service: "render", State: "available"}, bulk.Order{Action: bulk.Cancel, Decision: weir.Decision{Reason: "not needed"}})
	var kind, subject, source, message string
	var data json.RawMessage
	err := r.db.Pool.QueryRow(t.Context(), `select type || ' ' || kind, subject, source, message, data from weir.event where kind = 'bulk'`).Scan(&kind, &subject, &source, &message, &data)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(kind, "|", subject, "|", source, "|", message); got != "cancel bulk|task|ada|3 of 3 tasks with service render, state available: not needed" {
		t.Error(got)
	}
	var told struct {
		Filter           view.TaskFilter
		Matched, Changed int
	}
	if err := json.Unmarshal(data, &told); err != nil || told.Filter.Service != "render" || told.Matched != 3 || told.Changed != 3 {
		t.Errorf("%s, %v", data, err)
	}
	var events int
	if err := r.db.Pool.QueryRow(t.Context(), `select count(*) from weir.event where kind = 'bulk'`).Scan(&events); err != nil || events != 1 {
		t.Errorf("%d events, %v", events, err)
	}
}

// What cannot be meant is refused, with the field, and nothing changes.
func TestRefused(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit('render')`)
	some := view.TaskFilter{Service: "render"}
	for name, c := range map[string]struct {
		f     view.TaskFilter
		o     bulk.Order
		field string
	}{
		"no filter":  {view.TaskFilter{}, bulk.Order{Action: bulk.Cancel}, "filter"},
		"no action":  {some, bulk.Order{}, "action"},
		"bad action": {some, bulk.Order{Action: "delete"}, "action"},
		"no reason":  {some, bulk.Order{Action: bulk.Skip}, "reason"},
		"priority":   {some, bulk.Order{Action: bulk.Priority, Priority: 101}, "priority"},
	} {
		_, err := r.doer.ChangeTasks(t.Context(), c.f, c.o)
		if p := new(problem.Problem); !errors.As(err, &p) || p.Field != c.field || p.Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.doer.ChangeTasks(t.Context(), view.TaskFilter{State: "odd"}, bulk.Order{Action: bulk.Cancel}); !errors.Is(err, weir.ErrInvalid) {
		t.Error(err)
	}
	if _, err := r.doer.ChangeJobs(t.Context(), view.JobFilter{}, bulk.Order{Action: bulk.Cancel}); err == nil {
		t.Error("all jobs were meant")
	}
	if r.states("render") != "1 available" {
		t.Error(r.states("render"))
	}
}

// Since leaves out what is older; a filter by time alone is one.
func TestSince(t *testing.T) {
	r := start(t)
	r.exec(`select weir.submit('render')`)
	var now, before time.Time
	for !now.Truncate(time.Millisecond).After(before) { // ids know milliseconds
		if err := r.db.Pool.QueryRow(t.Context(), `select clock_timestamp(), weir._id_time(id) from weir.task`).Scan(&now, &before); err != nil {
			t.Fatal(err)
		}
	}
	r.exec(`select weir.submit('render') from generate_series(1, 2)`)
	for name, f := range map[string]view.TaskFilter{"all": {}, "available": {State: "available"}, "service": {Service: "render"}, "both": {Service: "render", State: "available"}} {
		f.Since = now
		if got := r.tasks(f, bulk.Order{Action: bulk.Cancel, DryRun: true}); got.Matched != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
