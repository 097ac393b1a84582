package enginetest

import (
	"fmt"
	"strings"
	"testing"
)

// build is a queued job with its tasks, as weir.workflow_build takes it.
type build struct {
	Job    string         `json:"job"`
	Tasks  []spec         `json:"tasks"`
	Params map[string]any `json:"params,omitempty"`
}

const buildAll = `select weir.workflow_build($1::jsonb, at => $2)`

// TestBuildMany builds jobs in one call whose tasks have the same keys: each has
// its own needs, places, params and events, as if it had been built alone. One
// that was cancelled meanwhile is left alone, and a second call does nothing.
func TestBuildMany(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('narrow', 1, at => $1)`, at(0))
	chain, single, gone := e.open(0, "chain"), e.open(0, "single"), e.open(0, "gone")
	urgent := one[string](e, `select weir.open_job('urgent', priority => 9, params => '{"mine": true}', trace => 'trace', at => $1)`, at(0))
	e.exec(`select weir.cancel_job($1, at => $2)`, gone, at(1))
	list := encode([]build{
		{urgent, []spec{{"service": "s", "key": "b"}, {"service": "s", "key": "a", "priority": 3}}, map[string]any{"x": 1}},
		{single, []spec{{"service": "s", "key": "a", "pool": "narrow"}}, map[string]any{"x": 2}},
		{gone, []spec{{"service": "s", "key": "a"}}, nil},
		{chain, []spec{{"service": "s", "key": "a", "pool": "narrow"}, {"service": "other", "key": "b", "needs": []string{"a"}}, {"service": "s", "key": "c", "plan": true}}, nil},
	})
	if n := one[int](e, buildAll, list, at(2)); n != 3 {
		t.Fatalf("%d jobs were built, want 3", n)
	}
	if n := one[int](e, buildAll, list, at(3)); n != 0 {
		t.Errorf("%d jobs were built again", n)
	}
	for job, want := range map[string]string{
		urgent: `a 2 available 3 trace, b 1 available 9 trace`,
		single: `a 1 pending 0`,
		chain:  `a 1 available 0, b 2 pending 0, c 3 pending 0`,
		gone:   ``,
	} {
		got := one[string](e, `select coalesce(string_agg(concat_ws(' ', t.key, q.position, t.state, t.priority, t.trace), ', ' order by t.key), '') from weir.task t join weir.tasks q on q.id = t.id where t.job = $1`, job)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if n := one[int](e, `select count(*)::int from weir.tasks q join weir.jobs j on j.id = q.job where j.id = $1 and q.order_seq <> j.order_seq`, job); n != 0 {
			t.Errorf("%d tasks have another place than their job", n)
		}
	}
	for job, want := range map[string]string{urgent: `2 {"mine": true}`, single: `1 {"x": 2}`, chain: `3 none`} {
		if got := one[string](e, `select total || ' ' || coalesce(params::text, 'none') from weir.job where id = $1`, job); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for job, want := range map[string]string{urgent: "2 tasks", single: "1 tasks", chain: "3 tasks"} {
		if got := one[string](e, `select string_agg(message, ', ') from weir.event where job = $1 and type = 'built'`, job); got != want {
			t.Errorf("built: %q, want %q", got, want)
		}
	}
	if !one[bool](e, `select q.needs = array[(select a.id from weir.tasks a where a.job = q.job and a.key = 'a')] from weir.tasks q where q.job = $1 and q.key = 'b'`, chain) {
		t.Error("b of the chain does not need its own a")
	}
	first := e.claim(4, "w", "s", 10)
	if len(first) != 3 {
		t.Fatalf("%d tasks were claimed, want b and a of the urgent job and a of the chain", len(first))
	}
	for _, l := range first {
		e.finish(5, l)
	}
	e.finish(6, e.claimOne(6, "w", "other"))
	e.finish(7, e.claimOne(7, "w", "s"))
	e.exec(`select weir.decide(id, 'done', at => $2) from weir.task where job = $1 and key = 'c'`, chain, at(8))
	for _, job := range []string{chain, single, urgent} {
		if got := one[string](e, `select state from weir.job where id = $1`, job); got != "done" {
			t.Errorf("%s is %s", job, got)
		}
	}
}

// TestBuildManyRefusals: one that is refused refuses all, and nothing of them is
// there.
func TestBuildManyRefusals(t *testing.T) {
	t.Parallel()
	e := start(t)
	good, bad := e.open(0, "good"), e.open(0, "bad")
	fine := build{good, []spec{{"service": "s", "key": "a"}, {"service": "s", "key": "x"}}, nil}
	for what, c := range map[string]struct {
		tasks []spec
		says  string
	}{
		"no key":              {[]spec{{"service": "s"}}, "need one"},
		"doubled":             {[]spec{{"service": "s", "key": "a"}, {"service": "s", "key": "a"}}, "two tasks"},
		"a need of the other": {[]spec{{"service": "s", "key": "b", "needs": []string{"x"}}}, "not a task of this job"},
		"ring":                {[]spec{{"service": "s", "key": "a", "needs": []string{"b"}}, {"service": "s", "key": "b", "needs": []string{"a"}}}, "ring"},
		"no tasks":            {[]spec{}, "at least one task"},
		"null":                {nil, "expected objects"},
		"unknown pool":        {[]spec{{"service": "s", "key": "a", "pool": "none"}}, "no pool"},
	} {
		before := e.counts()
		if err := e.refused("WR422", buildAll, encode([]build{fine, {bad, c.tasks, nil}}), at(1)); !strings.Contains(err.Message, c.says) {
			t.Errorf("%s: %s", what, err.Message)
		}
		e.same(what, before)
	}
	if n := one[int](e, buildAll, `[]`, at(1)); n != 0 {
		t.Errorf("nothing built %d jobs", n)
	}
}

// TestBuildPlan: building reads no more than it builds, whatever else there is.
func TestBuildPlan(t *testing.T) {
	t.Parallel()
	e := start(t)
	x := e.explainer()
	var list []build
	for i := range 20 {
		list = append(list, build{e.open(0, fmt.Sprint("job", i)), []spec{{"service": "s", "key": "a"}, {"service": "s", "key": "b", "needs": []string{"a"}}}, nil})
	}
	run := func(when string, part []build) {
		x.do(buildAll, encode(part), at(2))
		x.indexed("workflow_build, " + when)
	}
	run("empty", list[:10])
	e.exec(`select weir.open_job('other', due => $1, at => $2) from generate_series(1, 3000)`, at(1000), at(1))
	e.exec(`analyze`)
	run("full", list[10:])
	if n := x.read("job_live"); n > 200 {
		t.Errorf("%d rows of job_live were read for ten jobs", n)
	}
}
