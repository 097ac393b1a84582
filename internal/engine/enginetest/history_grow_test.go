package enginetest

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// live picks a job that something may join; an empty id when there is none.
func (h *history) live() (string, *twinJob) {
	var fit []string
	for _, id := range slices.Sorted(maps.Keys(h.w.jobs)) {
		if job := h.w.jobs[id]; job.outcome == "" && !job.canceled {
			fit = append(fit, id)
		}
	}
	if len(fit) == 0 {
		return "", nil
	}
	id := rapid.SampledFrom(fit).Draw(h.T, "job")
	return id, h.w.jobs[id]
}

// join draws tasks that join a job. They may need one another and what is there,
// but not what needs the task that keeps off.
func (h *history) join(id string, job *twinJob, off *twinTask) []*twinTask {
	var keys []string
	var tasks []*twinTask
	var specs []spec
	byKey := map[string]*twinTask{}
	for _, x := range job.tasks {
		if off == nil || !x.follows(off) {
			keys = append(keys, x.key)
			byKey[x.key] = x
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(h.T, "more") {
		x, s := h.draw(keys)
		x.key = fmt.Sprintf("k%d", len(job.tasks)+i)
		s["key"] = x.key
		if needs, ok := s["needs"].([]string); ok {
			for _, k := range needs {
				x.needs = append(x.needs, byKey[k])
			}
		}
		byKey[x.key] = x
		tasks, specs, keys = append(tasks, x), append(specs, s), append(keys, x.key)
	}
	h.did("join %s: %s", job.tasks[0].service, encode(specs))
	for range rapid.IntRange(1, 2).Draw(h.T, "times") { // a repeated call is harmless
		ids := h.must(`select task from weir.add_tasks($1, $2, at => $3)`, id, encode(specs), at(float64(h.now)))
		for i := range tasks {
			tasks[i].id = ids[i]
		}
	}
	h.w.grow(h.now, job, tasks...)
	return tasks
}

func (h *history) grow(*rapid.T) {
	if id, job := h.live(); job != nil {
		h.join(id, job, nil)
	}
}

// plan says what becomes of a task at the gate plan.
func (h *history) plan(*rapid.T) {
	var fit []*twinTask
	for _, x := range h.w.tasks {
		if x.state == "pending" && x.gate == "plan" {
			fit = append(fit, x)
		}
	}
	if len(fit) == 0 {
		return
	}
	x := rapid.SampledFrom(fit).Draw(h.T, "task")
	if x.job != nil && len(x.job.tasks) < 40 && rapid.IntRange(1, 3).Draw(h.T, "split") == 1 {
		for id, job := range h.w.jobs {
			if job == x.job {
				h.split(id, x)
			}
		}
		return
	}
	h.did("plan %s", h.name(x))
	h.must(`select weir.plan_task($1, at => $2)::text`, x.id, at(float64(h.now)))
	h.w.planTask(h.now, x)
}

func (h *history) split(id string, x *twinTask) {
	parts := h.join(id, x.job, x)
	var keys []string
	for _, p := range parts {
		keys = append(keys, p.key)
	}
	h.did("split %s into %v", h.name(x), keys)
	if got := h.must(`select weir.wait_for($1, $2, at => $3)::text`, x.id, keys, at(float64(h.now))); got[0] != "true" {
		h.fatal("wait_for answered %s", got[0])
	}
	h.w.split(x, parts)
}

// decide ends a task that waits.
func (h *history) decide(*rapid.T) {
	if x := h.pick("pending", "available"); x != nil {
		outcome := rapid.SampledFrom([]string{"done", "failed", "skipped"}).Draw(h.T, "outcome")
		passes := outcome == "skipped" && rapid.Bool().Draw(h.T, "passes")
		h.did("decide %s is %s, passes %t", h.name(x), outcome, passes)
		h.must(`select weir.decide($1, $2, cause => 'known', passes => $3, at => $4)::text`, x.id, outcome, passes, at(float64(h.now)))
		h.w.decide(h.now, x, outcome, passes)
	}
}

func (h *history) retryJob(*rapid.T) {
	for _, id := range slices.Sorted(maps.Keys(h.w.jobs)) {
		job := h.w.jobs[id]
		if len(job.broken()) > 0 && (job.outcome != "" || !job.canceled) && rapid.Bool().Draw(h.T, "which") {
			h.did("retry job of %s", h.name(job.tasks[0]))
			h.must(`select weir.retry_job($1, at => $2)::text`, id, at(float64(h.now)))
			h.w.retryJob(h.now, job)
			return
		}
	}
}
