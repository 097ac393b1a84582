package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testwait"
)

// gate is where a pending task stands; empty when it is not pending.
func (e *engine) gate(task string) string {
	e.Helper()
	return one[string](e, `select coalesce(gate::text, '') from weir.task where id = $1`, task)
}

// plan gives a task at the gate plan its final form.
func (e *engine) plan(sec float64, task, params string) bool {
	e.Helper()
	return one[bool](e, `select weir.plan_task($1, $2, at => $3)`, task, params, at(sec))
}

// ahead wants the gate plan closed before the task has come to it.
func (e *engine) ahead(sec float64, task, word string) {
	e.Helper()
	if c := e.why(sec, task, "plan"); c.Open || c.Since != nil || !strings.Contains(c.Reason, word) {
		e.Errorf("gate plan: %+v", c)
	}
}

// TestPlanTask: a task that is to be planned passes needs, plan and all later
// gates in their order, with what the plan says.
func TestPlanTask(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	_, ids := e.submitJob(0, spec{"service": "a", "key": "need"},
		spec{"service": "b", "key": "task", "needs": []string{"need"}, "plan": true, "hold": "approval: ann", "pool": "p", "params": spec{"x": "?"}, "run": spec{"driver": "exec"}})
	task := ids["task"]
	if e.plan(1, task, `{}`) {
		t.Error("planned before its needs have ended")
	}
	e.ahead(1, task, "planned once its needs")
	e.finish(2, e.run(2, ids["need"]))
	if g := e.gate(task); g != "plan" {
		t.Fatalf("it stands at %s", g)
	}
	e.closed(3, task, "plan", "", 2, "the server has yet to plan it")
	e.exec(`select weir.set_priority($1, 9, at => $2)`, task, at(3)) // people may change it meanwhile
	e.exec(`select weir.hold($1, 'bob', at => $2)`, task, at(3))
	e.exec(`select weir.relabel($1, '{"zone": "eu"}', at => $2)`, task, at(3))
	if g := e.gate(task); g != "plan" {
		t.Fatalf("it stands at %s", g)
	}
	e.exec(`select weir.plan_task($1, '{"x": 1}', '{"gpu": "yes"}', '{"driver": "docker", "image": "i"}', run_at => $2, at => $3)`, task, at(10), at(4))
	if g := e.gate(task); g != "time" {
		t.Errorf("it stands at %s, want time", g)
	}
	if e.plan(5, task, `{"x": 2}`) {
		t.Error("planned twice")
	}
	e.tend(11)
	if g := e.gate(task); g != "hold" {
		t.Errorf("it stands at %s, want hold", g)
	}
	if h := one[string](e, `select hold from weir.task where id = $1`, task); h != "bob" {
		t.Errorf("held by %s", h)
	}
	e.exec(`select weir.release($1, at => $2)`, task, at(12))
	e.want(map[string]string{task: "available"})
	e.exec(`select weir.register_worker('g', '{b}', labels => '{"gpu": "yes"}', at => $1)`, at(12))
	type got struct{ Params, Run string }
	for range 2 { // the repeat of a claim answers the same
		c := one[got](e, `select params::text, run::text from weir.claim('g', '{b}', claim_id => '00000000-0000-4000-8000-000000000001', at => $1)`, at(13))
		if c.Params != `{"x": 1}` || c.Run != `{"image": "i", "driver": "docker"}` {
			t.Errorf("%+v", c)
		}
	}
	row := one[struct {
		Plan     bool
		Priority int
	}](e, `select plan, priority::int from weir.task where id = $1`, task)
	if row.Plan || row.Priority != 9 {
		t.Errorf("%+v", row)
	}
}

// TestPlanNeedsNothing: without needs a task stands at the gate plan from the
// beginning, also outside of a job.
func TestPlanNeedsNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	alone := e.submit(0, spec{"service": "s", "plan": true})
	job, ids := e.submitJob(0, spec{"service": "s", "key": "a", "plan": true})
	late := e.add(1, job, spec{"service": "s", "key": "b", "plan": true})
	for _, id := range []string{alone, ids["a"], late["b"]} {
		if g := e.gate(id); g != "plan" {
			t.Errorf("it stands at %q", g)
		}
		if !e.plan(2, id, `{"n": 1}`) {
			t.Error("it was not planned")
		}
		e.want(map[string]string{id: "available"})
	}
	e.refused("WR404", `select weir.plan_task('00000000-0000-7000-8000-000000000000')`)
	e.refused("WR422", `select weir.plan_task($1, labels => '{"a": 1}')`, alone)
	e.refused("WR422", `select weir.plan_task($1, labels => '[]')`, alone)
	e.refused("WR422", `select weir.plan_task($1, run => '[]')`, alone)
	e.refused("WR422", `select weir.relabel($1, null)`, alone)
	e.refused("WR404", `select weir.relabel('00000000-0000-7000-8000-000000000000', '{}')`)
}

// TestDecide: how a task ends that never runs, and what depends on it.
func TestDecide(t *testing.T) {
	t.Parallel()
	e := start(t)
	for outcome, want := range map[string]struct {
		args, next, job string
		attempt         int
	}{
		"done":    {`result => '{"y": 2}'`, "available", "running", 1},
		"failed":  {`cause => 'no such file'`, "skipped", "failed", 1},
		"skipped": {`cause => 'not on sundays'`, "skipped", "done", 0},
		"passes":  {`cause => 'not on sundays', passes => true`, "available", "running", 0},
	} {
		job, ids := e.submitJob(0, spec{"service": "s", "key": "a", "plan": true}, spec{"service": "s", "key": "b", "needs": []string{"a"}})
		becomes := strings.Replace(outcome, "passes", "skipped", 1)
		if !one[bool](e, `select weir.decide($1, '`+becomes+`', by => 'planner', at => $2, `+want.args+`)`, ids["a"], at(1)) {
			t.Errorf("%s: it did not wait", outcome)
		}
		e.want(map[string]string{ids["a"]: becomes, ids["b"]: want.next})
		if got := one[string](e, `select state from weir.job where id = $1`, job); got != want.job {
			t.Errorf("%s: the job is %s, want %s", outcome, got, want.job)
		}
		got := one[struct {
			Attempt int
			Source  string
		}](e, `select attempt, source from weir.event where task = $1 and type = $2`, ids["a"], becomes)
		if got.Attempt != want.attempt || got.Source != "planner" {
			t.Errorf("%s: the event says %+v", outcome, got)
		}
		if one[bool](e, `select weir.decide($1, 'done', at => $2)`, ids["a"], at(2)) {
			t.Errorf("%s: decided twice", outcome)
		}
	}
	if r := one[string](e, `select result::text from weir.task where result is not null`); r != `{"y": 2}` {
		t.Errorf("the result is %s", r)
	}
	l := e.run(3, e.submit(3, spec{"service": "runs"}))
	if one[bool](e, `select weir.decide($1, 'done', at => $2)`, l.Task, at(4)) {
		t.Error("a running task was decided")
	}
	free := e.submit(5, spec{"service": "free"})
	e.refused("WR422", `select weir.decide($1, 'canceled')`, free)
	e.refused("WR422", `select weir.decide($1, 'failed')`, free)
	e.refused("WR422", `select weir.decide($1, 'done', passes => true)`, free)
	e.refused("WR404", `select weir.decide('00000000-0000-7000-8000-000000000000', 'done')`)
}

// TestDecideFreesItsKeys: a task that ends while it may start gives its lane and
// its place in the pool to the next.
func TestDecideFreesItsKeys(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	first := e.submit(0, spec{"service": "s", "pool": "p", "lane": "l", "exclusive": true})
	e.tend(1)
	second := e.submit(1, spec{"service": "s", "pool": "p"})
	third := e.submit(1, spec{"service": "s", "lane": "l", "exclusive": true})
	e.tend(2)
	e.want(map[string]string{first: "available", second: "pending", third: "pending"})
	e.exec(`select weir.decide($1, 'done', at => $2)`, first, at(3))
	e.want(map[string]string{first: "done", second: "available", third: "available"})
}

// mapped is a job with a task that was split into n items, which the rest needs.
func (e *engine) mapped(n int) (job string, ids map[string]string) {
	e.Helper()
	job, ids = e.submitJob(0, spec{"service": "list", "key": "list"}, spec{"service": "map", "key": "map", "needs": []string{"list"}, "plan": true},
		spec{"service": "end", "key": "end", "needs": []string{"map"}})
	e.finish(1, e.run(1, ids["list"]))
	var items []spec
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("map[%d]", i))
		items = append(items, spec{"service": "item", "key": keys[i], "needs": []string{"list"}})
	}
	for key, id := range e.add(2, job, items...) {
		ids[key] = id
	}
	if !one[bool](e, `select weir.wait_for($1, $2, at => $3)`, ids["map"], keys, at(2)) {
		e.Fatal("the task does not wait for its items")
	}
	return job, ids
}

// TestSplit: a task waits for its items, however they end, and is then decided.
// What is retried afterwards brings it back.
func TestSplit(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.mapped(3)
	e.want(map[string]string{ids["map[0]"]: "available", ids["map"]: "pending", ids["end"]: "pending"})
	e.closed(3, ids["map"], "needs", ids["map[0]"], 2, "3 of 3", "map[0] (available)")
	e.ahead(3, ids["map"], "split")
	if one[bool](e, `select weir.wait_for($1, '{"map[0]"}', at => $2)`, ids["map"], at(3)) {
		t.Error("it waits twice")
	}
	e.finish(3, e.run(3, ids["map[0]"]))
	e.fail(4, e.run(4, ids["map[1]"]), "no")
	e.exec(`select weir.skip($1, 'not needed', at => $2)`, ids["map[2]"], at(5))
	if g := e.gate(ids["map"]); g != "plan" {
		t.Fatalf("it stands at %q", g)
	}
	e.exec(`select weir.decide($1, 'failed', cause => '1 of 3 failed', at => $2)`, ids["map"], at(6))
	if s := one[string](e, `select state || ': ' || cause from weir.job where id = $1`, job); s != "failed: map[1]: no" {
		t.Errorf("the job is %s", s)
	}
	// One item again: it, the task and what was skipped because of it come back.
	e.exec(`select weir.retry($1, at => $2)`, ids["map[1]"], at(7))
	e.want(map[string]string{ids["map[1]"]: "available", ids["map"]: "pending", ids["end"]: "pending"})
	if g := e.gate(ids["map"]); g != "needs" {
		t.Errorf("it stands at %q, want needs", g)
	}
	e.fail(8, e.run(8, ids["map[1]"]), "no")
	e.exec(`select weir.decide($1, 'failed', cause => '1 of 3 failed', at => $2)`, ids["map"], at(9))
	// The task itself again: so do its failed items.
	e.exec(`select weir.retry($1, at => $2)`, ids["map"], at(10))
	e.want(map[string]string{ids["map[1]"]: "available", ids["map[0]"]: "done", ids["map"]: "pending"})
	e.finish(11, e.run(11, ids["map[1]"]))
	if g := e.gate(ids["map"]); g != "plan" {
		t.Errorf("it stands at %q, want plan", g)
	}
	e.exec(`select weir.decide($1, 'done', '{"items": []}', at => $2)`, ids["map"], at(12))
	e.finish(13, e.run(13, ids["end"]))
	if s := one[string](e, `select state from weir.job where id = $1`, job); s != "done" {
		t.Errorf("the job is %s", s)
	}
}

// TestSplitEndsWithItsTask: what nobody waits for any more need not run.
func TestSplitEndsWithItsTask(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.mapped(2)
	l := e.run(3, ids["map[0]"])
	e.exec(`select weir.cancel($1, 'ann', at => $2)`, ids["map"], at(4))
	e.want(map[string]string{ids["map"]: "canceled", ids["map[0]"]: "running", ids["map[1]"]: "canceled", ids["end"]: "skipped"})
	if !one[bool](e, `select cancel_at is not null from weir.task where id = $1`, ids["map[0]"]) {
		t.Error("the item that runs was not asked to stop")
	}
	e.exec(`select weir.confirm_cancel($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, at(5))
	if s := one[string](e, `select state from weir.job where id = $1`, job); s != "canceled" {
		t.Errorf("the job is %s", s)
	}
	e.exec(`select weir.retry_job($1, at => $2)`, job, at(6))
	e.want(map[string]string{ids["map"]: "pending", ids["map[0]"]: "available", ids["map[1]"]: "available", ids["end"]: "pending"})
	e.exec(`select weir.skip($1, 'not today', at => $2)`, ids["map"], at(7))
	e.want(map[string]string{ids["map"]: "skipped", ids["map[0]"]: "skipped", ids["map[1]"]: "skipped", ids["end"]: "available"})
	e.finish(8, e.run(8, ids["end"]))
	if s := one[string](e, `select state from weir.job where id = $1`, job); s != "done" {
		t.Errorf("the job is %s", s)
	}
}

func TestWaitForRefusals(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.submitJob(0, spec{"service": "s", "key": "map", "plan": true}, spec{"service": "s", "key": "after", "needs": []string{"map"}})
	e.add(1, job, spec{"service": "s", "key": "far", "needs": []string{"after"}})
	for what, keys := range map[string][]string{"itself": {"map"}, "what needs it": {"after"}, "what needs it in the end": {"far"}, "unknown": {"none"}, "nothing": {}} {
		before := e.counts()
		e.refused("WR422", `select weir.wait_for($1, $2)`, ids["map"], keys)
		e.same(what, before)
	}
	e.refused("WR422", `select weir.wait_for($1, '{a}')`, e.submit(0, spec{"service": "s", "plan": true}))
	// Items that have ended count at once.
	item := e.add(2, job, spec{"service": "s", "key": "item"})["item"]
	e.finish(3, e.run(3, item))
	if !one[bool](e, `select weir.wait_for($1, '{item}', at => $2)`, ids["map"], at(4)) || e.gate(ids["map"]) != "plan" {
		t.Errorf("it stands at %q", e.gate(ids["map"]))
	}
}

// TestRetryPlansAgain: what was never planned goes back to the gate plan, what was
// keeps its plan; and an approval that nobody gave is still wanted.
func TestRetryPlansAgain(t *testing.T) {
	t.Parallel()
	e := start(t)
	_, ids := e.submitJob(0, spec{"service": "a", "key": "a"}, spec{"service": "b", "key": "b", "needs": []string{"a"}, "plan": true, "hold": "approval: ann"})
	e.fail(1, e.run(1, ids["a"]), "no")
	e.want(map[string]string{ids["b"]: "skipped"})
	e.exec(`select weir.retry($1, at => $2)`, ids["a"], at(2))
	e.finish(3, e.run(3, ids["a"]))
	if g := e.gate(ids["b"]); g != "plan" {
		t.Fatalf("it stands at %q", g)
	}
	e.plan(4, ids["b"], `{"x": 1}`)
	if g := e.gate(ids["b"]); g != "hold" {
		t.Fatalf("it stands at %q: the approval is lost", g)
	}
	e.exec(`select weir.release($1, at => $2)`, ids["b"], at(5))
	e.fail(6, e.run(6, ids["b"]), "no")
	e.exec(`select weir.retry($1, at => $2)`, ids["b"], at(7))
	e.want(map[string]string{ids["b"]: "available"})
	if p := one[string](e, `select params::text from weir.task where id = $1`, ids["b"]); p != `{"x": 1}` {
		t.Errorf("its params are %s", p)
	}
	// A task that waits for a job is decided anew, for another attempt.
	parent := e.submit(8, spec{"service": "p", "plan": true})
	e.exec(`select weir.decide($1, 'failed', cause => 'its job failed', at => $2)`, parent, at(9))
	e.exec(`select weir.retry($1, at => $2)`, parent, at(10))
	if g, n := e.gate(parent), one[int](e, `select attempt from weir.task where id = $1`, parent); g != "plan" || n != 1 {
		t.Errorf("it stands at %q after attempt %d", g, n)
	}
}

// TestChildJob: a task waits for a job of its own; why says how far that is.
func TestChildJob(t *testing.T) {
	t.Parallel()
	e := start(t)
	parent := e.submit(0, spec{"service": "p", "plan": true})
	child := one[string](e, `select weir.open_job('child', parent => $1, idempotency_key => 'child', at => $2)`, parent, at(1))
	e.closed(2, parent, "plan", "", 0, "waits for job child "+child+" (queued)")
	ids := e.add(2, child, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b"})
	e.fail(3, e.run(3, ids["a"]), "no")
	e.closed(4, parent, "plan", "", 0, "waits for job child "+child+" (running, 1 of 2)")
	e.finish(5, e.run(5, ids["b"]))
	e.closed(6, parent, "plan", "", 0, "the server has yet to plan it")
	// It lives again while the parent waits: it is the parent's again.
	e.exec(`select weir.retry_job($1, at => $2)`, child, at(6))
	e.closed(7, parent, "plan", "", 0, "running, 1 of 2")
	e.fail(7, e.run(7, ids["a"]), "no")
	e.exec(`select weir.decide($1, 'failed', cause => 'its job failed', at => $2)`, parent, at(8))
	// The parent has gone on: what lives again lives for itself.
	e.exec(`select weir.retry_job($1, at => $2)`, child, at(9))
	if n := one[int](e, `select count(*)::int from weir.job_live where job = $1 and parent is null`, child); n != 1 {
		t.Error("the job still counts as its parent's")
	}
}

// TestPlanHints: whoever plans is told when there is something to plan, and not
// when there is nothing.
func TestPlanHints(t *testing.T) {
	t.Parallel()
	e := start(t)
	conn := e.connect()
	if _, err := conn.Exec(context.Background(), `listen weir_plan`); err != nil {
		t.Fatal(err)
	}
	heard := func(what string, want bool, do func()) {
		t.Helper()
		do()
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
		defer cancel()
		// The mark comes after whatever was sent before it.
		e.exec(`select pg_notify('weir_plan', 'mark')`)
		got := 0
		for {
			n, err := conn.WaitForNotification(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if n.Payload == "mark" {
				break
			}
			got++
		}
		if got > 0 != want {
			t.Errorf("%s: %d hints", what, got)
		}
	}
	var job, late, child string
	var ids map[string]string
	heard("a plain task", false, func() { e.finish(0, e.run(0, e.submit(0, spec{"service": "plain"}))) })
	heard("a plain job", false, func() {
		_, plain := e.submitJob(0, spec{"service": "plain", "key": "a"}, spec{"service": "plain", "key": "b", "needs": []string{"a"}})
		e.finish(0, e.run(0, plain["a"]))
		e.finish(0, e.run(0, plain["b"]))
	})
	heard("a task to be planned", true, func() { e.submit(0, spec{"service": "s", "plan": true}) })
	heard("a job with one behind a need", false, func() {
		job, ids = e.submitJob(0, spec{"service": "a", "key": "a"}, spec{"service": "b", "key": "b", "needs": []string{"a"}, "plan": true})
	})
	heard("the end of the need", true, func() { e.finish(1, e.run(1, ids["a"])) })
	heard("one that joins", true, func() { e.add(2, job, spec{"service": "c", "key": "c", "plan": true}) })
	heard("a queued job for later", false, func() {
		late = one[string](e, `select weir.open_job('later', due => $1, definition => $2, at => $3)`, at(50), job, at(3))
	})
	heard("a queued job that is due", true, func() {
		child = one[string](e, `select weir.open_job('child', parent => $1, at => $2)`, ids["b"], at(4))
	})
	heard("building it", false, func() { ids["x"] = e.add(5, child, spec{"service": "x", "key": "x"})["x"] })
	heard("the end of a child", true, func() { e.finish(6, e.run(6, ids["x"])) })
	limited := func(sec float64) func() {
		return func() {
			e.exec(`select weir.submit_job('[{"service": "l", "key": "l"}]', 'limited', definition => $1, at => $2)`, job, at(sec))
			e.finish(sec, e.claimOne(sec, "w", "l"))
		}
	}
	heard("the end of a run while nothing is due", false, limited(7))
	heard("the end of a run while another is due", true, limited(51))
	heard("the end of what a child works for", true, func() {
		e.exec(`select weir.open_job('orphan', parent => $1, hint => false, at => $2)`, ids["b"], at(52))
		e.exec(`select weir.cancel($1, at => $2)`, ids["b"], at(53))
	})
	e.exec(`select weir.close_job($1, 'failed', 'no', at => $2)`, late, at(54))
}

// TestNodeLabel: a node has a label with its name, so that a task can ask for one
// machine.
func TestNodeLabel(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, n := range []string{"one", "two"} {
		e.exec(`select weir.register_node($1, labels => '{"node": "lies"}', at => $2)`, n, at(0))
		e.exec(`select weir.register_worker('on ' || $1, '{s}', $1, at => $2)`, n, at(0))
	}
	task := e.submit(0, spec{"service": "s", "labels": spec{"node": "two"}})
	if got := e.claim(1, "on one", "s", 1); len(got) != 0 {
		t.Errorf("the wrong node got %v", got)
	}
	if got := e.claim(1, "on two", "s", 1); len(got) != 1 || got[0].Task != task {
		t.Errorf("its node got %v", got)
	}
}
