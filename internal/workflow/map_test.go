package workflow

import (
	"errors"
	"strings"
	"testing"
)

func TestAMapRunsItsItems(t *testing.T) {
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
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: m, service: s, map: {over: [1, 2, 3, 4, 5, 6, 7], limit: 2}}")
	job := r.run("w", nil)
	r.tick()
	if got := r.count(`select count(*) from weir.task where job = $1 and state = 'available'`, job); got != 2 {
		t.Errorf("%d items may start, want 2", got)
	}
	// A pool, not pairs: when the second ends, the third starts though the first runs.
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
