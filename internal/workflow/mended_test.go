package workflow

import (
	"maps"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

// broken is a workflow whose last step fails; the tests mend it.
const broken = `
name: w
labels: {zone: eu}
steps:
  - {key: a, service: s, params: {x: "{{ .params.x }}"}}
  - {key: b, service: s, params: {y: "{{ .params.y }}"}}
  - {key: m, service: s, needs: [a], map: [p, q], params: {file: "{{ .item }}", z: "{{ .params.z }}"}}
  - {key: c, service: s, needs: [a, b, m], params: {got: "{{ .needs.a.result.x }}"}, run: {driver: func, env: {MODE: slow}}, timeout: {start: 10s}}`

// A rerun on another version, or with other params, reuses what was done and is not
// changed by them, and says why the rest runs.
func TestRerunOfAMendedWorkflow(t *testing.T) {
	t.Parallel()
	given := map[string]any{"x": 1, "y": 1, "z": 1}
	for _, c := range []struct {
		name string
		// mend replaces a text of the workflow, in pairs.
		mend []string
		ask  RerunBody
		// ran are the steps that ran again, codes those of all steps that are not reused.
		ran, codes string
	}{
		{"the failed step alone", []string{"slow", "fast"}, RerunBody{Failed: true, Newest: true}, "c", "c not_done"},
		{"a step before it too", []string{"{y: ", "{other: 1, y: "}, RerunBody{Failed: true, Newest: true}, "b c", "b changed, c not_done"},
		// A map whose items are the same keeps them, although a step before it ran again.
		{"what comes after a changed step", []string{"{x: ", "{other: 1, x: "}, RerunBody{Failed: true, Version: 2}, "a c", "a changed, m need, c not_done"},
		{"where, when and how often do not count", []string{"zone: eu", "zone: us", "params: {y", "retry: {max_attempts: 9}, priority: 5, delay: 1ms, timeout: {run: 9s}, description: new, params: {y"}, RerunBody{Failed: true, Newest: true}, "c", "c not_done"},
		{"a new step", []string{"  - {key: b", "  - {key: new, service: s, params: {}}\n  - {key: b"}, RerunBody{Failed: true, Newest: true}, "new c", "new new, c not_done"},
		{"a condition that it did not have", []string{"{key: b, ", "{key: b, when: 'true', "}, RerunBody{Failed: true, Newest: true}, "b c", "b changed, c not_done"},
		{"another param", nil, RerunBody{Failed: true, Params: map[string]any{"y": 2}}, "b c", "b values, c not_done"},
		{"a param of a map", nil, RerunBody{Failed: true, Params: map[string]any{"z": 2}}, "m[0] m[1] c", "m values, c not_done"},
		{"the same param again", nil, RerunBody{Failed: true, Params: map[string]any{"y": 1.0}}, "c", "c not_done"},
		{"from a step on the newest", []string{"slow", "fast"}, RerunBody{From: "b", Newest: true}, "b c", "b from, c not_done"},
		{"all of it", []string{"slow", "fast"}, RerunBody{Newest: true}, "a b m[0] m[1] c", "a all, b all, m all, c all"},
		{"another list", []string{"[p, q]", "[p, r]"}, RerunBody{Failed: true, Newest: true}, "m[0] m[1] c", "m changed, c not_done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.labels = map[string]string{"zone": "eu"}
			r.put(broken)
			r.does["a"], r.does["c"] = echoes, fails("boom")
			old := r.run("w", maps.Clone(given))
			r.ends(old, "failed", "a done, b done, m done, c failed, m[0] done, m[1] done")
			if len(c.mend) > 0 {
				r.put(strings.NewReplacer(c.mend...).Replace(broken))
			}
			if strings.Contains(strings.Join(c.mend, ""), "zone: us") {
				r.labels["zone"] = "us"
			}
			r.ran, r.does["c"] = nil, echoes
			plan, err := r.store.PlanRerun(t.Context(), old, RerunRequest{RerunBody: c.ask})
			if err != nil {
				t.Fatal(err)
			}
			job, steps, err := r.store.Rerun(t.Context(), old, RerunRequest{RerunBody: c.ask})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := codes(plan), codes(steps); a != c.codes || b != c.codes {
				t.Errorf("planned %s, said %s, want %s", a, b, c.codes)
			}
			r.until("it ends", func() bool { return r.text(`select state from weir.job where id = $1`, job) == "done" })
			if got := strings.Join(r.ran, " "); got != c.ran {
				t.Errorf("ran %s, want %s", got, c.ran)
			}
			if got := r.result(job, "c"); got != `{"got": 1}` {
				t.Errorf("c got %s", got)
			}
		})
	}
}

// codes are the steps that run again, each with why.
func codes(steps []Verdict) string {
	var out []string
	for _, v := range steps {
		if v.Reused != (v.Code == "again_kept") || v.Reason == "" {
			out = append(out, "wrong: "+v.Step)
		}
		if !v.Reused {
			out = append(out, v.Step+" "+strings.TrimPrefix(v.Code, "again_"))
		}
	}
	return strings.Join(out, ", ")
}

// A map of which one item failed runs that item again on a version that mends something
// else, and all items on one that mends the map.
func TestItemsOfAMendedMap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, to, ran string }{
		{"something else", "{key: last, ", "{key: last, params: {}, ", "m[1] last"},
		{"the map", "{n: 1}", "{n: 2}", "m[0] m[1] last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			text := "name: w\nsteps:\n  - {key: m, service: s, map: [{n: 1}, {n: 1}], params: {item: '{{ .item }}'}}\n  - {key: last, service: s, needs: [m]}"
			r.put(text)
			r.does["m[1]"] = fails("boom")
			old := r.run("w", nil)
			r.until("it failed", func() bool { return r.text(`select state from weir.job where id = $1`, old) == "failed" })
			r.put(strings.ReplaceAll(text, c.from, c.to))
			r.ran, r.does["m[1]"] = nil, nil
			job, _, err := r.store.Rerun(t.Context(), old, RerunRequest{RerunBody: RerunBody{Failed: true, Newest: true}})
			if err != nil {
				t.Fatal(err)
			}
			r.until("it is done", func() bool { return r.text(`select state from weir.job where id = $1`, job) == "done" })
			if got := strings.Join(r.ran, " "); got != c.ran {
				t.Errorf("ran %s, want %s", got, c.ran)
			}
		})
	}
}

func TestMendedRerunsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nparams: {x: {type: integer, required: true}, old: {type: integer}}\nsteps:\n  - {key: a, service: s}")
	job := r.run("w", map[string]any{"x": 1, "old": 2})
	r.ends(job, "done", "a done")
	r.put("name: w\nparams: {x: {type: integer, required: true}}\nsteps:\n  - {key: b, service: s}")
	refused := func(field string, ask RerunBody) {
		t.Helper()
		_, _, err := r.store.Rerun(t.Context(), job, RerunRequest{RerunBody: ask})
		if err == nil || problem.Explain(err).Field != field {
			t.Errorf("%+v: %v, want a fault of %s", ask, err, field)
		}
	}
	refused("version", RerunBody{Newest: true, Version: 2})
	refused("from", RerunBody{Newest: true, From: "a", Params: map[string]any{"old": nil}})
	refused("params", RerunBody{Newest: true})
	refused("params.x", RerunBody{Params: map[string]any{"x": "text"}})
	refused("params", RerunBody{Params: map[string]any{"x": nil}})
	if _, _, err := r.store.Rerun(t.Context(), job, RerunRequest{RerunBody: RerunBody{Version: 7}}); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("no such version: %v", err)
	}
	again, _, err := r.store.Rerun(t.Context(), job, RerunRequest{RerunBody: RerunBody{Failed: true, Newest: true, Params: map[string]any{"old": nil}}})
	if err != nil {
		t.Fatal("a done job on another version:", err)
	}
	r.ends(again, "done", "b done")
}
