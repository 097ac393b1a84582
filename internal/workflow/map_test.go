package workflow

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func TestAMapRunsItsItems(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: scan, service: s}
  - {key: render, service: t, needs: [scan], map: {over: needs.scan.result.files}, params: {file: "{{ .item }}", n: "{{ .index }}"}}
  - {key: join, service: s, needs: [render], params: {all: "{{ .needs.render.items }}"}}`)
	r.does["scan"] = gives(map[string]any{"files": []string{"a", "b", "c"}})
	r.does["render"] = func(params map[string]any) (any, error) { return params["file"].(string) + "!", nil }
	r.does["join"] = echoes
	job := r.run("w", nil)
	r.ends(job, "done", "scan done, render done, join done, render[0] done, render[1] done, render[2] done")
	if got := r.result(job, "render"); got != `{"items": ["a!", "b!", "c!"], "failed": 0}` {
		t.Errorf("render gave %s", got)
	}
	if got := r.result(job, "join"); got != `{"all": ["a!", "b!", "c!"]}` {
		t.Errorf("join got %s", got)
	}
}

func TestAMapToleratesSoManyFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, bad    string
		state, tasks string
	}{
		{"one", "b", "done", "m done, after done, m[0] done, m[1] skipped, m[2] done"},
		{"two", "bc", "failed", "m failed, after skipped, m[0] done, m[1] failed, m[2] failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.put("name: w\nsteps:\n  - {key: m, service: s, map: {over: [a, b, c], tolerate: 1}, params: {x: '{{ .item }}'}}\n  - {key: after, service: s, needs: [m]}")
			r.does["m"] = func(params map[string]any) (any, error) {
				if x := params["x"].(string); strings.Contains(c.bad, x) {
					return nil, errors.New("broken " + x)
				}
				return params["x"], nil
			}
			job := r.run("w", nil)
			r.ends(job, c.state, c.tasks)
			if c.name == "one" {
				if got := r.result(job, "m"); got != `{"items": ["a", null, "c"], "failed": 1}` {
					t.Errorf("the map gave %s", got)
				}
				if got := r.cause(job, "m[1]"); !containsAll(got, "tolerated", "broken b") {
					t.Errorf("the item's cause is %q", got)
				}
			} else if got := r.cause(job, "m"); !containsAll(got, "2 of 3 items failed", "m[1]", "broken b") {
				t.Errorf("the map's cause is %q", got)
			}
		})
	}
}

func TestAMapWithALimitRunsSoManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: m, service: s, map: {over: [1, 2, 3, 4, 5, 6, 7], limit: 2}}")
	job := r.run("w", nil)
	r.tick()
	if got := r.count(`select count(*) from weir.task where job = $1 and state = 'available'`, job); got != 2 {
		t.Errorf("%d items may start, want 2", got)
	}
	if got := r.text(`select reason from weir.why($1) where not open`, r.task(job, "m[4]")); got != "the limit of m is full: 2 of 2 places are taken" {
		t.Errorf("why: %s", got)
	}
	// The limit is a pool, not pairs: when the second item ends, the third starts
	// although the first still runs.
	r.exec(`select weir.claim('other', array['s'], 1)`)
	r.exec(`select weir.finish(task, attempt, token, '1') from weir.claim('third', array['s'], 1)`)
	if got := r.count(`select count(*) from weir.task where job = $1 and state = 'available'`, job); got != 1 {
		t.Errorf("%d items may start, want 1", got)
	}
	r.exec(`select weir.finish(r.task, r.attempt::int, r.token, '1') from weir.running r`)
	r.ends(job, "done", "m done, m[0] done, m[1] done, m[2] done, m[3] done, m[4] done, m[5] done, m[6] done")
	r.tick()
	if got := r.count(`select count(*) from weir.pools`); got != 0 {
		t.Errorf("%d pools are left", got)
	}
}

func TestThePoolOfACanceledMapIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: m, service: s, map: {over: [1, 2, 3], limit: 1}}")
	job := r.run("w", nil)
	r.tick()
	if got := r.count(`select count(*) from weir.pools`); got != 1 {
		t.Fatalf("%d pools", got)
	}
	r.exec(`select weir.cancel_job($1)`, job)
	r.leader.tidied = r.leader.tidied.Add(-2 * tidyEvery)
	r.tick()
	if got := r.count(`select count(*) from weir.pools`); got != 0 {
		t.Errorf("%d pools are left", got)
	}
}

func TestARetriedMapRunsWhatFailed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: m, service: s, map: {over: [a, b, c], limit: 2}, params: {x: '{{ .item }}'}}\n  - {key: after, service: s, needs: [m]}")
	broken := true
	r.does["m"] = func(params map[string]any) (any, error) {
		if broken && params["x"] == "b" {
			return nil, errors.New("boom")
		}
		return params["x"], nil
	}
	job := r.run("w", nil)
	r.ends(job, "failed", "m failed, after skipped, m[0] done, m[1] failed, m[2] done")
	r.ran = nil
	r.exec(`select weir.retry($1)`, r.task(job, "m"))
	r.ends(job, "failed", "m failed, after skipped, m[0] done, m[1] failed, m[2] done")
	broken = false
	r.exec(`select weir.retry($1)`, r.task(job, "m[1]"))
	r.ends(job, "done", "m done, after done, m[0] done, m[1] done, m[2] done")
	if got := strings.Join(r.ran, " "); got != "m[1] m[1] after" {
		t.Errorf("ran %s", got)
	}
}

func TestARetriedMapKeepsItsLimit(t *testing.T) {
	t.Parallel()
	const text = "name: w\nsteps:\n  - {key: m, service: s, map: {over: [1, 2, 3, 4, 5], limit: 2}}"
	for name, again := range map[string]func(r *rig, job weir.ID){
		"the job":  func(r *rig, job weir.ID) { r.exec(`select weir.retry_job($1)`, job) },
		"the step": func(r *rig, job weir.ID) { r.exec(`select weir.retry($1)`, r.task(job, "m")) },
		"every item": func(r *rig, job weir.ID) {
			r.exec(`select weir.retry(id) from weir.task where job = $1 and key <> 'm'`, job)
		},
		"a canceled one": nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(text)
			r.does["m"] = fails("boom")
			job := r.run("w", nil)
			if again == nil {
				r.tick()
				r.exec(`select weir.cancel_job($1)`, job)
				r.ends(job, "canceled", "m canceled, m[0] canceled, m[1] canceled, m[2] canceled, m[3] canceled, m[4] canceled")
				r.leader.tidied = time.Time{}
				r.tick()
				again = func(r *rig, job weir.ID) { r.exec(`select weir.retry_job($1)`, job) }
			} else {
				r.ends(job, "failed", "m failed, m[0] failed, m[1] failed, m[2] failed, m[3] failed, m[4] failed")
			}
			if got := r.count(`select count(*) from weir.pools`); got != 0 {
				t.Fatalf("%d pools are left", got)
			}
			again(r, job)
			most := 0
			r.does["m"] = func(map[string]any) (any, error) {
				most = max(most, r.count(`select count(*) from weir.task where job = $1 and state in ('available', 'running')`, job))
				return nil, nil
			}
			r.ends(job, "done", "m done, m[0] done, m[1] done, m[2] done, m[3] done, m[4] done")
			if most != 2 {
				t.Errorf("%d ran at once, want 2", most)
			}
			if got := r.count(`select count(*) from weir.pools`); got != 0 {
				t.Errorf("%d pools are left", got)
			}
		})
	}
}

func TestAMapOverAWorkflowKeepsItsLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: inner\nsteps:\n  - {key: work, service: s}")
	r.put("name: outer\nsteps:\n  - {key: each, workflow: inner, map: {over: [1, 2, 3, 4, 5], limit: 2}}")
	most, bad := 0, true
	r.does["work"] = func(map[string]any) (any, error) {
		most = max(most, r.count(`select count(*) from weir.job where name = 'inner' and state = 'running'`))
		if bad {
			return nil, errors.New("boom")
		}
		return nil, nil
	}
	job := r.run("outer", nil)
	r.tick()
	r.tick()
	if got := r.text(`select string_agg(coalesce(note, state), ', ' order by order_seq) from weir.job where name = 'inner'`); got != "running, running"+strings.Repeat(", waits for its turn: at most 2 items of its map run at once", 3) {
		t.Errorf("the jobs of the items: %s", got)
	}
	r.ends(job, "failed", "each failed, each[0] failed, each[1] failed, each[2] failed, each[3] failed, each[4] failed")
	bad = false
	r.exec(`select weir.retry_job($1)`, job)
	r.ends(job, "done", "each done, each[0] done, each[1] done, each[2] done, each[3] done, each[4] done")
	if most != 2 {
		t.Errorf("%d ran at once, want 2", most)
	}
}

func TestTheItemsOfAMapCountAgainstThePoolOfTheStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`select weir.set_pool('few', 3)`)
	r.put("name: w\nsteps:\n  - {key: m, service: s, pool: few, map: {over: [1, 2, 3, 4, 5]}}")
	job := r.run("w", nil)
	r.tick()
	if got := r.count(`select count(*) from weir.task where job = $1 and state = 'available'`, job); got != 3 {
		t.Errorf("%d items may start, want 3", got)
	}
	r.ends(job, "done", "m done, m[0] done, m[1] done, m[2] done, m[3] done, m[4] done")
}

// A map counts with the number of its items in the progress of the job.
func TestTheProgressOfAJobCountsItems(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s}\n  - {key: m, service: s, needs: [a], map: {over: [1, 2, 3, 4, 5, 6, 7, 8], limit: 4}}\n  - {key: z, service: t, needs: [m]}")
	job := r.run("w", nil)
	for _, want := range []string{"0.0 a", "9.1 m", "45.5 m", "90.9 z"} {
		r.tick()
		r.tick()
		if got := r.text(`select progress || ' ' || current_task_key from flow.jobs where id = $1`, job); got != want {
			t.Errorf("the job stands at %s, want %s", got, want)
		}
		r.work()
	}
	r.ends(job, "done", "a done, m done, z done, m[0] done, m[1] done, m[2] done, m[3] done, m[4] done, m[5] done, m[6] done, m[7] done")
	if got := r.text(`select progress || coalesce(current_task_key, ' nowhere') from flow.jobs where id = $1`, job); got != "100.0 nowhere" {
		t.Errorf("the job stands at %s", got)
	}
}
