package workflow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

const (
	building = `
name: build
params: {version: {type: string, default: "1"}}
steps:
  - {key: compile, service: s}
  - {key: pack, service: s, needs: [compile]}`
	deploying = `
name: deploy
params: {image: {type: string, required: true}, version: {type: string}, from: {type: string}}
steps:
  - {key: roll, service: s}`
)

// trigger sets a trigger as a maintainer would.
func (r *rig) trigger(name string, b TriggerSpec) error {
	r.Helper()
	in := PuttingTrigger{NamedTrigger: NamedTrigger{name}, Body: b}
	if r.count(`select count(*) from weir.triggers where name = $1`, name) > 0 {
		in.IfMatch = "*"
	}
	_, err := r.store.putTrigger(r.Context(), auth.System("ann"), &in)
	return err
}

// follow sets a trigger that must be taken.
func (r *rig) follow(name string, b TriggerSpec) {
	r.Helper()
	if err := r.trigger(name, b); err != nil {
		r.Fatal(err)
	}
}

// fired waits until a firing of a job is decided, and returns it.
func (r *rig) fired(trigger string, job weir.ID) Firing {
	r.Helper()
	r.until("a firing of "+trigger+" is decided", func() bool {
		return r.count(`select count(*) from weir.firings where trigger = $1 and source = $2 and state <> 'pending'`, trigger, job) == 1
	})
	list, err := r.store.FiringsOf(r.Context(), job)
	if err != nil {
		r.Fatal(err)
	}
	for _, f := range list {
		if f.Trigger == trigger {
			return f
		}
	}
	r.Fatalf("no firing of %s for %s", trigger, job)
	return Firing{}
}

const toDeploy = `{"image": "{{ .steps.pack.result.image }}", "version": "{{ .params.version }}", "from": "{{ .run.id }}/{{ .run.outcome }}"}`

// A run of another workflow starts one run, with params that are made of its own params
// and results; both runs and the timeline say so.
func TestATriggerFollowsARun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(building)
	r.put(deploying)
	r.does["pack"] = gives(map[string]any{"image": "app:7"})
	r.follow("ship", TriggerSpec{Workflow: "deploy", After: "build", When: `steps.pack.state == "done" && params.version != "0"`, Params: []byte(toDeploy)})
	build := r.run("build", map[string]any{"version": "7"})
	f := r.fired("ship", build)
	if f.State != "started" || f.Job.IsZero() || f.Source != build {
		t.Fatalf("the firing is %+v", f)
	}
	r.ends(f.Job, "done", "roll done")
	if got, want := r.text(`select params::text from weir.job where id = $1`, f.Job), fmt.Sprintf(`{"from": "%s/done", "image": "app:7", "version": "7"}`, build); got != want {
		t.Errorf("params %s, want %s", got, want)
	}
	by := StartedByOf([]byte(r.text(`select options::text from weir.job where id = $1`, f.Job)))
	if by == nil || by.Trigger != "ship" || by.Source != build || by.Chain != 1 {
		t.Errorf("the run was started by %+v", by)
	}
	for job, want := range map[weir.ID]string{
		build: "triggered started job " + f.Job.String(), f.Job: "fired ",
	} {
		if got := r.text(`select coalesce(string_agg(type || ' ' || coalesce(message, ''), ', '), '') from weir.events where job = $1 and type in ('fired', 'triggered')`, job); got != want {
			t.Errorf("the timeline says %q, want %q", got, want)
		}
	}
	if got := r.text(`select string_agg(reason, '; ') from weir.why_job($1)`, build); got != "done; trigger ship has started a run of deploy" {
		t.Errorf("why: %s", got)
	}
	if got := r.text(`select last_job::text from weir.triggers`); got != f.Job.String() {
		t.Errorf("the last job is %s", got)
	}
}

// Outcome, condition, a pause and a mapping that does not fit decide what a run starts,
// and the firing says which.
func TestAFiringSaysWhyItStartedNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(building)
	r.put(deploying)
	params := []byte(`{"image": "x"}`)
	r.follow("done", TriggerSpec{Workflow: "deploy", After: "build", Params: params})
	r.follow("failed", TriggerSpec{Workflow: "deploy", After: "build", On: "failed", Params: params})
	r.follow("always", TriggerSpec{Workflow: "deploy", After: "build", On: "always", When: `params.version == "2"`, Params: params})
	r.follow("paused", TriggerSpec{Workflow: "deploy", After: "build", On: "always", Params: params, Paused: true})
	r.follow("empty", TriggerSpec{Workflow: "deploy", After: "build", On: "always"})
	r.follow("absent", TriggerSpec{Workflow: "deploy", After: "build", On: "always", Params: []byte(`{"image": "{{ .steps.pack.result.image }}"}`)})
	r.does["compile"] = fails("no compiler")
	build := r.run("build", nil)
	want := map[string]string{
		"done":   "ignored: the run ended as failed, the trigger is for done",
		"failed": "started: ", "paused": "ignored: the trigger is paused",
		"always": `ignored: the condition is false: params.version == "2"`,
		"empty":  "failed: params: image must be given", "absent": "failed: params.image: ",
	}
	for trigger, said := range want {
		f := r.fired(trigger, build)
		if got := f.State + ": " + f.Reason; !strings.HasPrefix(got, said) {
			t.Errorf("%s: %s, want %s", trigger, got, said)
		}
		if (f.State == "started") == f.Job.IsZero() || (f.Reason == "") != (f.Why.Code == "") {
			t.Errorf("%s: %+v", trigger, f)
		}
	}
	if got := r.count(`select count(*) from weir.job where name = 'deploy'`); got != 1 {
		t.Errorf("%d runs were started", got)
	}
	// A run that was canceled has neither succeeded nor failed.
	r.does["compile"] = nil
	build = r.run("build", nil)
	r.exec(`select weir.cancel_job($1, 'ann', 'no')`, build)
	for trigger, state := range map[string]string{"done": "ignored", "failed": "ignored", "empty": "failed"} {
		if f := r.fired(trigger, build); f.State != state {
			t.Errorf("canceled: %s is %s, want %s", trigger, f.State, state)
		}
	}
}

// A ring of triggers is refused with its chain.
func TestARingOfTriggersIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		r.put("name: " + name + "\nsteps: [{key: x, service: s}]")
	}
	r.follow("ab", TriggerSpec{Workflow: "b", After: "a"})
	r.follow("bc", TriggerSpec{Workflow: "c", After: "b", Paused: true})
	r.follow("ad", TriggerSpec{Workflow: "d", After: "a"})
	r.follow("dc", TriggerSpec{Workflow: "c", After: "d"})
	for name, x := range map[string]struct {
		b     TriggerSpec
		chain string
	}{
		"ca": {TriggerSpec{Workflow: "a", After: "c"}, "c → a → b → c"},
		"aa": {TriggerSpec{Workflow: "a", After: "a"}, "a → a"},
		"ab": {TriggerSpec{Workflow: "d", After: "c"}, "c → d → c"},
	} {
		if p := problem.Explain(r.trigger(name, x.b)); p.Field != "after" || !strings.Contains(p.What, "it would run for ever: "+x.chain) {
			t.Errorf("%s: %s: %s, want the chain %s", name, p.Field, p.What, x.chain)
		}
	}
}

// Two callers that would close a ring together come one after the other.
func TestTwoCallersCloseNoRing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: a\nsteps: [{key: x, service: s}]")
	r.put("name: b\nsteps: [{key: x, service: s}]")
	tx, err := r.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `select weir.set_trigger('ab', 'b', 'a')`); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() { second <- r.trigger("ba", TriggerSpec{After: "b", Workflow: "a"}) }()
	r.until("the second caller waits, or is through", func() bool {
		return len(second) > 0 || r.count(`select count(*) from pg_locks l join pg_stat_activity x on x.pid = l.pid where not l.granted and x.datname = current_database() and l.relation = 'weir.triggers'::regclass`) > 0
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-second; !strings.Contains(fmt.Sprint(err), "b → a → b") {
		t.Errorf("the second caller: %v", err)
	}
}

// Two rotations come one after the other, so that no secret is lost between them.
func TestRotationsComeOneByOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: a\nsteps: [{key: x, service: s}]")
	r.exec(`select weir.set_trigger('hook', 'a')`)
	tx, err := r.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	const rotate = `select weir.workflow_hook_secret('hook', $1, interval '1 h', false)`
	if _, err := tx.Exec(t.Context(), rotate, "first"); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := r.db.Pool.Exec(t.Context(), rotate, "second")
		second <- err
	}()
	r.until("the second waits", func() bool {
		return r.count(`select count(*) from pg_locks l join pg_stat_activity x on x.pid = l.pid where not l.granted and x.datname = current_database()`) > 0
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if got := r.text(`select secret || ' after ' || coalesce(secret_before, 'none') from weir.triggers`); got != "second after first" {
		t.Errorf("the secrets are %s", got)
	}
}

// A ring that was written past the check ends by itself.
func TestAChainOfRunsIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: a\nsteps: [{key: x, service: s}]")
	r.put("name: b\nsteps: [{key: x, service: s}]")
	r.follow("ab", TriggerSpec{After: "a", Workflow: "b"})
	r.exec(`insert into weir.triggers (name, kind, workflow, after, outcome, changed_at) values ('ba', 'after', 'a', 'b', 'done', now())`)
	r.run("a", nil)
	r.until("the chain ends", func() bool { return r.count(`select count(*) from weir.firings where state = 'failed'`) > 0 })
	if got := r.count(`select count(*) from weir.job`); got != chainMost+1 {
		t.Errorf("%d runs, want %d", got, chainMost+1)
	}
	if got := r.text(`select weir._sentence(reason) from weir.firings where state = 'failed'`); got != "the chain of runs that triggers started is longer than 20" {
		t.Errorf("it says %q", got)
	}
}

// Leaders that decide about the same firing, also one that repeats what another has
// written, start one run.
func TestAFiringStartsOneRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(building)
	r.put("name: deploy\nsteps: [{key: roll, service: s}]")
	r.follow("ship", TriggerSpec{Workflow: "deploy", After: "build"})
	build := r.run("build", nil)
	for r.work() {
	}
	pending, err := r.store.pendingFirings(t.Context(), 10)
	if err != nil || len(pending) != 1 {
		t.Fatalf("%d firings are pending: %v", len(pending), err)
	}
	f, err := r.leader.judgeFiring(t.Context(), &pending[0])
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := r.leader.writeFires(t.Context(), []fire{f}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := r.count(`select count(*) from weir.job where name = 'deploy'`); got != 1 {
		t.Errorf("%d runs were started", got)
	}
	if got := r.count(`select count(*) from weir.events where type = 'fired' and kind = 'trigger'`); got != 1 {
		t.Errorf("it fired %d times", got)
	}
	// A run that lives again and ends again has started its run already, also when the
	// firing is no longer kept.
	first := r.fired("ship", build)
	r.exec(`select weir.retry(id) from weir.task where job = $1 and key = 'pack' and state <> 'done'`, build)
	r.exec(`delete from weir.firings`)
	r.exec(`insert into weir.firings (trigger, key, at, source, state) values ('ship', $1::uuid::text, now(), $1, 'pending')`, build)
	if again := r.fired("ship", build); again.Job != first.Job {
		t.Errorf("it started %s after %s", again.Job, first.Job)
	}
}

// A run that failed, was retried and is done fires what waits for done; what it has
// started already stays one run.
func TestARetriedRunFiresOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(building)
	r.put("name: deploy\nsteps: [{key: roll, service: s}]")
	r.put("name: alarm\nsteps: [{key: ring, service: s}]")
	r.follow("ship", TriggerSpec{Workflow: "deploy", After: "build"})
	r.follow("alarm", TriggerSpec{Workflow: "alarm", After: "build", On: "always"})
	r.does["compile"] = fails("red")
	build := r.run("build", nil)
	if f := r.fired("ship", build); f.State != "ignored" {
		t.Fatalf("after a failure: %+v", f)
	}
	alarm := r.fired("alarm", build)
	r.does["compile"] = nil
	r.exec(`select weir.retry_job($1)`, build)
	r.until("the run is shipped", func() bool {
		return r.count(`select count(*) from weir.firings where trigger = 'ship' and state = 'started'`) == 1
	})
	if f := r.fired("alarm", build); f.Job != alarm.Job || r.count(`select count(*) from weir.job where name = 'alarm'`) != 1 {
		t.Errorf("the second end fired the alarm again: %+v", f)
	}
	if got := r.count(`select count(*) from weir.events where kind = 'trigger' and subject = 'alarm' and type = 'fired'`); got != 1 {
		t.Errorf("the alarm was fired %d times", got)
	}
}

// A run that is a step of another run fires nothing: the run that it is part of does.
func TestAStepThatIsAWorkflowFiresNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: part\nsteps: [{key: x, service: s}]")
	r.put("name: whole\nsteps: [{key: p, workflow: part}]")
	r.put("name: next\nsteps: [{key: x, service: s}]")
	r.follow("part", TriggerSpec{Workflow: "next", After: "part"})
	r.follow("whole", TriggerSpec{Workflow: "next", After: "whole"})
	whole := r.run("whole", nil)
	r.fired("whole", whole)
	if got := r.text(`select string_agg(trigger, ' ') from weir.firings`); got != "whole" {
		t.Errorf("fired: %s", got)
	}
}

// What a trigger cannot be is refused at its field, and a workflow that one names is not
// deleted.
func TestATriggerIsChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(building)
	r.put(deploying)
	for field, b := range map[string]TriggerSpec{
		"after":        {Workflow: "deploy"},
		"on":           {Workflow: "deploy", Webhook: true, On: "done"},
		"workflow":     {Workflow: "nowhere", After: "build"},
		"when":         {Workflow: "deploy", After: "build", When: "params.x >"},
		"params.image": {Workflow: "deploy", After: "build", Params: []byte(`{"image": "{{ .needs.pack.result }}"}`)},
		"params.a":     {Workflow: "deploy", After: "build", Params: []byte(`{"a": "{{ .steps }}"}`)},
		"params":       {Workflow: "deploy", After: "build", Params: []byte(`[1]`)},
	} {
		if p := problem.Explain(r.trigger("t", b)); p.Kind != problem.Invalid || p.Field != field {
			t.Errorf("%+v: %v %s: %s, want %s", b, p.Kind, p.Field, p.What, field)
		}
	}
	if p := problem.Explain(r.trigger("no name", TriggerSpec{Workflow: "deploy", After: "build"})); p.Field != "name" {
		t.Errorf("a name with a space: %s: %s", p.Field, p.What)
	}
	r.follow("ship", TriggerSpec{Workflow: "deploy", After: "build"})
	for _, name := range []string{"build", "deploy"} {
		if _, err := r.store.Delete(t.Context(), "ann", name, 0); !strings.Contains(fmt.Sprint(err), "is named by trigger ship") {
			t.Errorf("%s is deleted: %v", name, err)
		}
	}
}

// A firing list is bounded: the newest thousand stay, and what is pending.
func TestFiringsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(building)
	r.put("name: deploy\nsteps: [{key: roll, service: s}]")
	r.follow("ship", TriggerSpec{Workflow: "deploy", After: "build"})
	r.exec(`insert into weir.firings (trigger, key, at, state) select 'ship', 'old' || n, now() - interval '1 day' + n * interval '1 s', case n when 1 then 'pending' else 'ignored' end
		from generate_series(1, 1005) n`)
	build := r.run("build", nil)
	r.fired("ship", build)
	if got := r.count(`select count(*) from weir.firings where state <> 'pending'`); got != 1000 {
		t.Errorf("%d firings are kept", got)
	}
	if got := r.count(`select count(*) from weir.firings where key in ('old1', $1) and at > now() - interval '2 days'`, build.String()); got != 2 {
		t.Errorf("%d of the pending and the newest are kept", got)
	}
}
