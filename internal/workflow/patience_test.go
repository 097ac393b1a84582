package workflow

import (
	"testing"
	"time"
)

// age makes tasks look as if they had waited for the given time.
func (r *rig) age(span string) {
	r.exec(`update weir.available set opened_at = coalesce(opened_at, weir._id_time(task)) - $1::interval`, span)
	r.leader.bore = time.Time{}
}

func TestAPreferenceIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: a, service: s, labels: {os: linux}, prefer: {labels: {gpu: "true"}, for: 30s}}
  - {key: b, service: s, needs: [a], prefer: {labels: {gpu: "true"}}, timeout: {queue: 1h}, params: {x: "{{ .needs.a.result }}"}}`)
	r.labels = map[string]string{"os": "linux"}
	job := r.run("w", nil)
	r.age("29 s")
	r.tick()
	if r.work() {
		t.Error("a worker without the label took it at once")
	}
	r.age("2 s")
	r.tick()
	if !r.work() {
		t.Fatalf("nobody takes it\n%s", r.table())
	}
	r.tick()
	if r.work() {
		t.Error("a worker without the label took the second at once")
	}
	r.age("11 s")
	r.ends(job, "done", "a done, b done")
	r.leader.bore = time.Time{}
	r.tick()
	if got := r.count(`select count(*) from weir.patience`); got != 0 {
		t.Errorf("%d rows are left", got)
	}
}

func TestAStepThatNobodyTakesFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: nobody, timeout: {queue: 5m}}\n  - {key: b, service: s, needs: [a], rule: one_failed}")
	job := r.run("w", nil)
	r.age("4 min")
	r.tick()
	if got := r.states(job); got != "a available, b pending" {
		t.Fatal(got)
	}
	r.age("2 min")
	r.ends(job, "failed", "a failed, b done")
	if got := r.cause(job, "a"); got != "waited 5m for a worker: queue timeout" {
		t.Errorf("cause %q", got)
	}
}

func TestAStepStaysOnTheNodeOfAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(`
name: w
steps:
  - {key: a, service: s}
  - {key: soft, service: s, needs: [a], sticky: {to: a}}
  - {key: hard, service: s, needs: [a], sticky: {to: a, hard: true}}`)
	r.exec(`select weir.register_node('pc1', '{}', '{"s": 5}')`)
	r.exec(`select weir.register_worker('pc1/w', array['s'], node => 'pc1')`)
	job := r.run("w", nil)
	r.exec(`select weir.finish(task, attempt, token, '1') from weir.claim('pc1/w', array['s'], 1)`)
	r.tick()
	if got := r.text(`select string_agg(key || ' ' || labels::text, ', ' order by position) from weir.task where job = $1 and state = 'available'`, job); got != `soft {"node": "pc1"}, hard {"node": "pc1"}` {
		t.Errorf("they want %s", got)
	}
	r.age("1 min")
	r.tick()
	if got := r.text(`select string_agg(key || ' ' || labels::text, ', ' order by position) from weir.task where job = $1 and state = 'available'`, job); got != `soft {}, hard {"node": "pc1"}` {
		t.Errorf("after a while they want %s", got)
	}
	r.exec(`select weir.finish(task, attempt, token, '1') from weir.claim('pc1/w', array['s'], 5)`)
	r.ends(job, "done", "a done, soft done, hard done")
}
