package workflow

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func parse(t *testing.T, text string) *definition.Definition {
	t.Helper()
	d, faults := definition.Parse("test.yaml", []byte(text))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAVersionIsNeverChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	put := func(text string) (version int, created bool, kind problem.Kind) {
		t.Helper()
		w, created, err := r.store.Put(t.Context(), "ann", parse(t, text), text, PutOptions{})
		if err != nil {
			return 0, false, problem.Explain(err).Kind
		}
		return w.Version, created, -1
	}
	for i, c := range []struct {
		text    string
		version int
		created bool
		kind    problem.Kind
	}{
		{"name: w\nsteps: [{key: a, service: s}]", 1, true, -1},
		{"name: w\nsteps:\n  - service: s\n    key: a # the same, written otherwise", 1, false, -1},
		{"name: w\nversion: 1\nsteps: [{key: a, service: s}]", 1, false, -1},
		{"name: w\nsteps: [{key: b, service: s}]", 2, true, -1},
		{"name: w\nversion: 1\nsteps: [{key: b, service: s}]", 0, false, problem.Conflict},
		{"name: w\nversion: 7\nsteps: [{key: c, service: s}]", 7, true, -1},
		{"name: w\nsteps: [{key: d, service: s}]", 8, true, -1},
	} {
		if version, created, kind := put(c.text); version != c.version || created != c.created || kind != c.kind {
			t.Errorf("%d: version %d, created %v, kind %d", i+1, version, created, kind)
		}
	}
	w, err := r.store.Workflow(t.Context(), "w", 2)
	if err != nil || w.By != "ann" || !w.Active || w.Steps != 1 || !strings.Contains(w.Source, "key: b") || !strings.Contains(string(w.Definition), `"version": 2`) {
		t.Errorf("%+v %v", w, err)
	}
	if events := r.count(`select count(*) from weir.events where kind = 'workflow' and type = 'set' and subject = 'w' and source = 'ann'`); events != 4 {
		t.Errorf("%d events, want 4", events)
	}
}

func TestWorkflowsAreListed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"b", "a", "c"} {
		r.put("name: " + name + "\nsteps: [{key: one, service: s}]")
		r.put("name: " + name + "\nsteps: [{key: two, service: s}]")
	}
	if err := r.store.SetActive(t.Context(), "ann", "b", 2, false); err != nil {
		t.Fatal(err)
	}
	job := r.run("b", nil)
	list := func(list []Workflow, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, w := range list {
			out = append(out, fmt.Sprintf("%s@%d", w.Name, w.Version))
		}
		return strings.Join(out, " ")
	}
	if got := list(r.store.Workflows(t.Context(), view.Page{})); got != "a@2 b@1 c@2" {
		t.Error(got)
	}
	if got := list(r.store.Workflows(t.Context(), view.Page{Limit: 1, After: "a"})); got != "b@1" {
		t.Error(got)
	}
	if got := list(r.store.Versions(t.Context(), "b", view.Page{})); got != "b@2 b@1" {
		t.Error(got)
	}
	if got := list(r.store.Versions(t.Context(), "b", view.Page{After: "2"})); got != "b@1" {
		t.Error(got)
	}
	if w, err := r.store.Workflow(t.Context(), "b", 0); err != nil || w.Version != 1 || w.Running != 1 || w.LastJob != job {
		t.Errorf("%+v %v", w, err)
	}
	for _, ask := range []func() error{
		func() error { _, err := r.store.Workflow(t.Context(), "z", 0); return err },
		func() error { _, err := r.store.Workflow(t.Context(), "a", 9); return err },
		func() error { _, err := r.store.Versions(t.Context(), "z", view.Page{}); return err },
		func() error { return r.store.SetActive(t.Context(), "ann", "a", 9, true) },
	} {
		if err := ask(); err == nil || problem.Explain(err).Kind != problem.NotFound {
			t.Errorf("not found: %v", err)
		}
	}
	if _, err := r.store.Run(t.Context(), RunRequest{Workflow: "b", Version: 2}); err == nil || problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("a version that is not active ran: %v", err)
	}
}

func TestANameThatIsNearlyRightIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: fan-out\nparams: {count: {type: integer}}\nsteps: [{key: a, service: s, params: {n: '{{ .params.count }}'}}]")
	for _, c := range []struct {
		err  error
		next string
	}{
		{r.store.Check(t.Context(), "fanout", definition.Options{}), "did you mean fan-out?"},
		{r.store.Check(t.Context(), "something else", definition.Options{}), "see what there is: weir workflow list"},
		{r.store.Check(t.Context(), "fan-out", definition.Options{Params: map[string]any{"coutn": 1}}), "did you mean count?"},
	} {
		if c.err == nil || problem.Explain(c.err).Next != c.next {
			t.Errorf("%v, want %q", c.err, c.next)
		}
	}
	_, err := r.store.Workflow(t.Context(), "fan-out", 9)
	if p := problem.Explain(err); p.Kind != problem.NotFound || p.Next != "see what there is: weir workflow versions fan-out" {
		t.Errorf("%+v", p)
	}
	if err := r.store.Check(t.Context(), "fan-out", definition.Options{Params: map[string]any{"count": 1}}); err != nil {
		t.Error(err)
	}
}

func TestARunTakesTheNewestVersion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	first := r.run("w", nil)
	// Another server stores and deactivates versions while this one has the old one
	// cached.
	other := New(r.db.Pool, Options{})
	if _, _, err := other.Put(t.Context(), "bob", parse(t, "name: w\nsteps:\n  - {key: b, service: s}"), "", PutOptions{}); err != nil {
		t.Fatal(err)
	}
	second := r.run("w", nil)
	pinned, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.SetActive(t.Context(), "bob", "w", 2, false); err != nil {
		t.Fatal(err)
	}
	third := r.run("w", nil)
	r.ends(first, "done", "a done")
	r.ends(second, "done", "b done")
	r.ends(pinned, "done", "a done")
	r.ends(third, "done", "a done")
}

func TestARunIsMadeOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	r.put("name: slow\nmax_running: 1\nsteps: [{key: a, service: s}]")
	for _, name := range []string{"w", "slow"} {
		var ids []weir.ID
		for range 2 {
			id, err := r.store.Run(t.Context(), RunRequest{Workflow: name, IdempotencyKey: "once " + name})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if ids[0] != ids[1] {
			t.Errorf("%s: %v", name, ids)
		}
		r.ends(ids[0], "done", "a done")
	}
}

func TestOptionsOfARun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
priority: 3
params: {width: {type: integer, minimum: 1, default: 640}, name: {type: string}}
steps:
  - {key: a, service: s, params: {w: "{{ .params.width }}", n: "{{ .params.name }}", plain: 1}}
  - {key: b, service: s, needs: [a], params: {w: "{{ .params.width }}", got: "{{ .needs.a.result.n }}", job: "{{ .job.id }}"}}
  - {key: c, service: s, needs: [b]}`)
	r.does["a"], r.does["b"] = echoes, echoes
	priority := 9
	job, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Priority: &priority, By: "ann", Options: definition.Options{
		Params: map[string]any{"name": "x"}, Steps: map[string]definition.StepOptions{"b": {Params: map[string]any{"w": 1}}, "c": {Skip: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.ends(job, "done", "a done, b done, c skipped")
	if got := r.result(job, "a"); got != `{"n": "x", "w": 640, "plain": 1}` {
		t.Errorf("a got %s", got)
	}
	if got := r.result(job, "b"); got != fmt.Sprintf(`{"w": 1, "got": "x", "job": "%s"}`, job) {
		t.Errorf("b got %s", got)
	}
	if got := r.text(`select priority || ' ' || (params ->> 'width') || ' ' || (options ->> 'by') from weir.job where id = $1`, job); got != "9 640 ann" {
		t.Errorf("the job has %s", got)
	}
	_, err = r.store.Run(t.Context(), RunRequest{Workflow: "w", Options: definition.Options{Params: map[string]any{"width": 0}}})
	if p := new(problem.Problem); !errors.As(err, &p) || p.Field != "params.width" {
		t.Errorf("bad params: %v", err)
	}
	if got := r.count(`select count(*) from weir.jobs`); got != 1 {
		t.Errorf("%d jobs", got)
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	start := time.Now()
	ids, err := r.store.RunMany(t.Context(), RunRequest{Workflow: "w"}, make([]definition.Options, 1000))
	if err != nil || len(ids) != 1000 {
		t.Fatal(len(ids), err)
	}
	t.Logf("1,000 jobs of one step submitted in %s", time.Since(start))
	if got := r.count(`select count(*) from weir.available`); got != 1000 {
		t.Errorf("%d tasks are available", got)
	}
	r.exec(`select weir.cancel_job(id) from weir.job`)
}

func TestTheSchedulesOfADefinitionFollowIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	names := func() string {
		t.Helper()
		return r.text(`select coalesce(string_agg(format('%s %s %s %s %s %s', name, spec, zone, overlap, catch_up, paused), ', ' order by name), '') from weir.schedules`)
	}
	text := `
name: w
steps: [{key: a, service: s, params: {x: "{{ .params.x }}"}}]
schedules:
  - {name: nightly, spec: "0 3 * * *", zone: Europe/Budapest, overlap: skip, catch_up: 2h, params: {x: 1}}
  - "@every 1h"
`
	r.put(text)
	if got := names(); got != "workflow/w/2 @every 1h UTC allow  f, workflow/w/nightly 0 3 * * * Europe/Budapest skip 02:00:00 f" {
		t.Fatal(got)
	}
	r.exec(`update weir.schedules set paused = true where name = 'workflow/w/nightly'`)
	r.put(text) // nothing new
	r.put("name: w\nsteps: [{key: a, service: s}]\nschedules:\n  - {name: nightly, spec: '0 4 * * *'}")
	if got := names(); got != "workflow/w/nightly 0 4 * * * UTC allow  t" {
		t.Error(got)
	}
	if err := r.store.SetActive(t.Context(), "ann", "w", 2, false); err != nil {
		t.Fatal(err)
	}
	if got := names(); !strings.Contains(got, "nightly 0 3 * * *") || !strings.Contains(got, "@every 1h") {
		t.Error(got)
	}
	if err := r.store.SetActive(t.Context(), "ann", "w", 1, false); err != nil {
		t.Fatal(err)
	}
	if got := names(); got != "" {
		t.Error(got)
	}
}

func TestABadDefinitionIsNotStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := parse(t, "name: w\nsteps:\n  - {key: a, service: s, needs: [b]}")
	if _, _, err := r.store.Put(t.Context(), "ann", d, "", PutOptions{}); err == nil || !strings.Contains(err.Error(), "test.yaml:3:") || problem.Explain(err).Kind != problem.Invalid || !errors.As(err, new(definition.Faults)) {
		t.Errorf("put: %v", err)
	}
	if got := r.count(`select count(*) from weir.workflows`); got != 0 {
		t.Errorf("%d workflows", got)
	}
}

// The functions for clients of the database work with only a client's rights.
func TestAClientPutsAndSchedules(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	conn, err := r.db.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range []string{
		`set session authorization weir_client`,
		`select weir.put_workflow('w', '{"steps": [{"key": "a", "service": "s"}]}')`,
		`select weir.set_workflow('w', 1, false)`,
		`select weir.put_workflow('w', '{"steps": [{"key": "a", "service": "s"}]}')`,
		`select weir.set_schedule('s', '@daily', null, now() + interval '1 day', workflow => 'w', overlap => 'skip')`,
		`reset session authorization`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if w, err := r.store.Workflow(t.Context(), "w", 0); err != nil || w.Version != 1 || !w.Active {
		t.Errorf("%+v %v", w, err)
	}
}
