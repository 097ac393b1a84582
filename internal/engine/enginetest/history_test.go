package enginetest

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// history is a random history, played on the engine and on its twin at once.
type history struct {
	*rapid.T
	e      *engine
	w      *twin
	now    int
	leases map[*twinTask]lease
	calls  []string
}

// did notes a call, so that a failure shows the whole history.
func (h *history) did(format string, args ...any) {
	h.calls = append(h.calls, fmt.Sprintf("%4d  ", h.now)+fmt.Sprintf(format, args...))
}

func (h *history) fatal(format string, args ...any) {
	h.Fatalf("%s\nhistory:\n%s", fmt.Sprintf(format, args...), strings.Join(h.calls, "\n"))
}

// must runs a statement on the engine and returns its rows as strings.
func (h *history) must(sql string, args ...any) []string {
	got, err := ask[string](h.e.Pool, sql, args...)
	if err != nil {
		h.fatal("%s %v: %v", sql, args, err)
	}
	return got
}

func (h *history) name(x *twinTask) string {
	return fmt.Sprintf("%s/%d", x.service, x.order*100+x.position)
}

// pick draws a task in one of the states; nil when there is none.
func (h *history) pick(states ...string) *twinTask {
	var fit []*twinTask
	for _, x := range h.w.tasks {
		if slices.Contains(states, x.state) {
			fit = append(fit, x)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return rapid.SampledFrom(fit).Draw(h.T, "task")
}

// draw makes a task with random gates, for both sides.
func (h *history) draw(keys []string) (*twinTask, spec) {
	x := &twinTask{
		service: rapid.SampledFrom([]string{"red", "blue"}).Draw(h.T, "service"), priority: rapid.IntRange(-1, 1).Draw(h.T, "priority"),
		maxAttempts: rapid.IntRange(1, 3).Draw(h.T, "max"), rule: "all_success",
	}
	s := spec{"service": x.service, "priority": x.priority, "max_attempts": x.maxAttempts, "backoff": "0 s"}
	odds := func(what string, n int) bool { return rapid.IntRange(1, n).Draw(h.T, what) == 1 }
	if odds("timed", 6) {
		x.runAt = h.now + rapid.IntRange(1, 40).Draw(h.T, "wait")
		s["run_at"] = at(float64(x.runAt))
	}
	if odds("held", 8) {
		x.hold, x.approval = "approval", "approval"
		s["hold"] = x.hold
	}
	if odds("planned later", 4) {
		x.plan = true
		s["plan"] = true
	}
	if odds("limited", 8) {
		x.timeout = rapid.IntRange(5, 50).Draw(h.T, "timeout")
		s["timeout"] = fmt.Sprintf("%d s", x.timeout)
	}
	if odds("in a lane", 3) {
		x.lane = rapid.SampledFrom([]string{"north", "south"}).Draw(h.T, "lane")
		x.exclusive = rapid.Bool().Draw(h.T, "exclusive")
		s["lane"], s["exclusive"] = x.lane, x.exclusive
		if odds("ranked", 2) {
			rank := rapid.IntRange(1, 4).Draw(h.T, "rank")
			x.rank = &rank
			s["rank"] = rank
		}
	}
	if odds("in a pool", 3) {
		x.pool = rapid.SampledFrom([]string{"small", "large"}).Draw(h.T, "pool")
		s["pool"] = x.pool
	}
	if len(keys) > 0 && rapid.Bool().Draw(h.T, "has needs") {
		needs := rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, min(3, len(keys)), rapid.ID).Draw(h.T, "needs")
		x.rule = rapid.SampledFrom([]string{"all_success", "all_success", "all_done", "one_failed"}).Draw(h.T, "rule")
		s["needs"], s["rule"] = needs, x.rule
	}
	return x, s
}

func (h *history) submit(*rapid.T) {
	x, s := h.draw(nil)
	x.id = h.must(`select task from weir.submit_many(jsonb_build_array($1::jsonb), true, $2)`, encode(s), at(float64(h.now)))[0]
	h.w.submit(h.now, nil, x)
	h.did("submit %s %s", h.name(x), encode(s))
}

func (h *history) submitJob(*rapid.T) {
	var tasks []*twinTask
	var specs []spec
	var keys []string
	for i := range rapid.IntRange(1, 6).Draw(h.T, "size") {
		x, s := h.draw(keys)
		x.key = fmt.Sprintf("k%d", i)
		s["key"] = x.key
		if needs, ok := s["needs"].([]string); ok {
			for _, k := range needs {
				x.needs = append(x.needs, tasks[slices.Index(keys, k)])
			}
		}
		tasks, specs, keys = append(tasks, x), append(specs, s), append(keys, s["key"].(string))
	}
	id := h.must(`select weir.submit_job($1, 'job', at => $2)`, encode(specs), at(float64(h.now)))[0]
	for i, task := range h.must(`select id from weir.tasks where job = $1 order by position`, id) {
		tasks[i].id = task
	}
	job := &twinJob{}
	h.w.jobs[id] = job
	h.w.submit(h.now, job, tasks...)
	h.did("submit job from %s %s", h.name(tasks[0]), encode(specs))
}

func (h *history) claim(*rapid.T) {
	n := rapid.IntRange(1, 5).Draw(h.T, "n")
	services := rapid.SampledFrom([][]string{{"red"}, {"blue"}, {"red", "blue"}}).Draw(h.T, "services")
	got, err := ask[lease](h.e.Pool, `select task, attempt, token from weir.claim('w', $1, $2, at => $3)`, services, n, at(float64(h.now)))
	if err != nil {
		h.fatal("claim: %v", err)
	}
	want := h.w.claim(h.now, n, 30, services)
	h.did("claim %d of %v: %d", n, services, len(want))
	if len(got) != len(want) {
		h.fatal("claim gave %d tasks, the twin %d", len(got), len(want))
	}
	for i, x := range want {
		if got[i].Task != x.id || got[i].Attempt != x.attempt {
			h.fatal("claim gave %v at %d, the twin %s#%d (%s)", got[i], i, x.id, x.attempt, h.name(x))
		}
		h.leases[x] = got[i]
	}
}

// end ends some running task in some way.
func (h *history) end(*rapid.T) {
	x := h.pick("running")
	if x == nil {
		return
	}
	l, when := h.leases[x], at(float64(h.now))
	switch how := rapid.SampledFrom([]string{"finish", "finish", "fail", "fail for good", "return", "snooze"}).Draw(h.T, "how"); how {
	case "finish":
		h.must(`select weir.finish($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, when)
		h.w.end(h.now, "done", x)
		h.did("finish %s", h.name(x))
	case "fail", "fail for good":
		wait := rapid.SampledFrom([]int{0, 7}).Draw(h.T, "wait")
		h.must(`select weir.fail($1, $2, $3, 'no', $4, $5, at => $6)`, l.Task, l.Attempt, l.Token, how != "fail", at(float64(h.now+wait)), when)
		h.w.fail(h.now, x, how != "fail", h.now+wait)
		h.did("%s %s, again in %d", how, h.name(x), wait)
	case "return":
		h.must(`select task::text from weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`, l.Task, l.Attempt, l.Token, when)
		h.w.giveBack(h.now, x, -1)
		h.did("return %s", h.name(x))
	case "snooze":
		h.must(`select task::text from weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], $4, at => $5)`, l.Task, l.Attempt, l.Token, at(float64(h.now+9)), when)
		h.w.giveBack(h.now, x, h.now+9)
		h.did("snooze %s", h.name(x))
	}
}

// command gives some task some command that its state allows.
func (h *history) command(*rapid.T) {
	type choice struct {
		name, sql string
		states    []string
		do        func(*twinTask)
	}
	waits := []string{"pending", "available"}
	c := rapid.SampledFrom([]choice{
		{"cancel", `select weir.cancel($1, at => $2)`, []string{"pending", "available", "running"}, func(x *twinTask) { h.w.cancel(h.now, x) }},
		{"hold", `select weir.hold($1, 'me', at => $2)::text`, waits, func(x *twinTask) { h.w.holdBack(x, "me") }},
		{"raise", `select weir.set_priority($1, 1, at => $2)::text`, waits, func(x *twinTask) { x.priority = 1 }},
		{"retry", `select weir.retry($1, at => $2)::text`, []string{"failed", "canceled", "skipped"}, func(x *twinTask) { h.w.retry(h.now, x) }},
		{"retry", `select weir.retry($1, at => $2)::text`, []string{"failed"}, func(x *twinTask) { h.w.retry(h.now, x) }},
		{"skip", `select weir.skip($1, 'fine', at => $2)::text`, []string{"pending", "available", "failed"}, func(x *twinTask) { h.w.skip(h.now, x) }},
	}).Draw(h.T, "command")
	if x := h.pick(c.states...); x != nil {
		h.did("%s %s (%s %s)", c.name, h.name(x), x.state, x.gate)
		h.must(c.sql, x.id, at(float64(h.now)))
		c.do(x)
	}
}

func (h *history) release(*rapid.T) {
	for _, x := range h.w.tasks {
		if x.state == "pending" && x.hold != "" {
			h.did("release %s", h.name(x))
			h.must(`select weir.release($1, at => $2)::text`, x.id, at(float64(h.now)))
			h.w.release(h.now, x)
			return
		}
	}
}

func (h *history) cancelJob(*rapid.T) {
	for _, id := range slices.Sorted(maps.Keys(h.w.jobs)) {
		job := h.w.jobs[id]
		if job.outcome == "" && rapid.IntRange(1, 4).Draw(h.T, "which") == 1 {
			h.did("cancel job of %s", h.name(job.tasks[0]))
			h.must(`select canceled::text from weir.cancel_job($1, at => $2)`, id, at(float64(h.now)))
			h.w.cancelJob(h.now, job)
			return
		}
	}
}

func (h *history) resize(*rapid.T) {
	pool, size := rapid.SampledFrom([]string{"small", "large"}).Draw(h.T, "pool"), rapid.IntRange(0, 3).Draw(h.T, "size")
	h.did("pool %s size %d", pool, size)
	h.must(`select weir.set_pool($1, $2, at => $3)::text`, pool, size, at(float64(h.now)))
	h.w.sizes[pool] = size
}

func (h *history) wait(*rapid.T) {
	h.now += rapid.SampledFrom([]int{1, 5, 31}).Draw(h.T, "seconds")
	h.did("tend")
	h.must(`select (weir.tend(true, at => $1)).expired::text`, at(float64(h.now)))
	h.w.tend(h.now)
}

// crash lets workers take what there is and never be heard of again.
func (h *history) crash(rt *rapid.T) {
	h.claim(rt)
	h.now += 31
	h.did("all workers are lost")
	h.must(`select (weir.tend(true, at => $1)).expired::text`, at(float64(h.now)))
	h.w.tend(h.now)
}

// compare sweeps the gates on both sides and then wants everything equal.
func (h *history) compare(*rapid.T) {
	h.must(`select weir.open_gates(at => $1)::text`, at(float64(h.now)))
	h.w.openGates()
	type row struct {
		ID, State, Gate, Hold string
		Attempt, Priority     int
	}
	rows, err := ask[row](h.e.Pool, `select id, state::text, coalesce(gate::text, ''), coalesce(hold, ''), attempt, priority::int from weir.task`)
	if err != nil {
		h.fatal("%v", err)
	}
	got := map[string]row{}
	for _, r := range rows {
		got[r.ID] = r
	}
	for _, x := range h.w.tasks {
		if want := (row{x.id, x.state, x.gate, x.hold, x.attempt, x.priority}); got[x.id] != want {
			h.fatal("%s\nengine %+v\ntwin   %+v", h.name(x), got[x.id], want)
		}
	}
	jobs, err := ask[struct{ ID, State string }](h.e.Pool, `select id, case when state in ('running', 'canceling') then '' else state end from weir.job`)
	if err != nil {
		h.fatal("%v", err)
	}
	for _, j := range jobs {
		if h.w.jobs[j.ID].outcome != j.State {
			h.fatal("job of %s: engine %q, twin %q", h.name(h.w.jobs[j.ID].tasks[0]), j.State, h.w.jobs[j.ID].outcome)
		}
	}
}

// wipe empties the database for the next history.
const wipe = `delete from weir.pending; delete from weir.available; delete from weir.running; delete from weir.finished; delete from weir.tasks; delete from weir.edges;
	delete from weir.lane_blocks; delete from weir.forgiven; delete from weir.jobs; delete from weir.job_live; delete from weir.job_finished; delete from weir.events;
	delete from weir.class_moves; delete from weir.pool_moves; update weir.pools set held = null, mark = 0`

// TestTwin plays random histories on the engine and on its twin. A failure
// prints the seed and the shortest history that rapid found.
func TestTwin(t *testing.T) {
	e := start(t)
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.steps": "35", "rapid.nofailfile": "true"} {
		if !set[name] {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		e.exec(wipe)
		h := &history{T: rt, e: e, w: &twin{jobs: map[string]*twinJob{}, sizes: map[string]int{"small": 1, "large": 2}}, leases: map[*twinTask]lease{}}
		for pool, size := range h.w.sizes {
			h.must(`select weir.set_pool($1, $2, at => $3)::text`, pool, size, epoch)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"submit": h.submit, "submit a job": h.submitJob, "claim": h.claim, "claim more": h.claim, "end": h.end, "end more": h.end, "end still more": h.end,
			"command": h.command, "release": h.release, "cancel a job": h.cancelJob, "resize": h.resize, "wait": h.wait, "crash": h.crash, "crash again": h.crash,
			"grow": h.grow, "plan": h.plan, "plan more": h.plan, "decide": h.decide, "retry a job": h.retryJob, "": h.compare,
		})
		for _, broken := range h.must(`select name || ': ' || detail from weir.doctor(true, $1) where not ok and level = 'invariant'`, at(float64(h.now))) {
			h.fatal("doctor: %s", broken)
		}
		for _, gap := range h.must(incomplete) {
			h.fatal("the life of a task has a gap: %s", gap)
		}
	})
}

// TestBatchesChangeNothing runs the same work with claims and reports of 1 and
// of 100: every task must end the same way.
func TestBatchesChangeNothing(t *testing.T) {
	t.Parallel()
	outcomes := func(batch int) map[string]string {
		e := start(t)
		var tasks []spec
		for i := range 120 {
			s := spec{"service": "s", "key": fmt.Sprintf("k%03d", i), "max_attempts": 2, "backoff": "0 s", "priority": i % 3}
			if i >= 10 {
				s["needs"] = []string{fmt.Sprintf("k%03d", i/3), fmt.Sprintf("k%03d", i-4)}
				s["rule"] = []string{"all_success", "all_done", "one_failed"}[i%3]
			}
			if i%4 == 0 {
				s["lane"], s["exclusive"] = fmt.Sprintf("lane%d", i%5), true
			}
			tasks = append(tasks, s)
		}
		job, _ := e.submitJob(0, tasks...)
		for now := 1.0; one[bool](e, `select state = 'running' from weir.job where id = $1`, job); now++ {
			if now > 1000 {
				t.Fatal("the job does not end")
			}
			e.tend(now)
			// What becomes of a task hangs on its key and its attempt alone.
			e.exec(`with c as materialized (select * from weir.claim('w', '{s}', $1, at => $2)), bad as (
					select array_agg(task) as tasks, array_agg(attempt) as attempts, array_agg(token) as tokens, array_agg('no'::text) as errors from c
					where right(key, 1) in ('3', '8') or right(key, 1) = '5' and attempt = 1
				), good as (
					select array_agg(task) as tasks, array_agg(attempt) as attempts, array_agg(token) as tokens from c
					where not (right(key, 1) in ('3', '8') or right(key, 1) = '5' and attempt = 1)
				)
				select (select count(*) from weir.fail_many(bad.tasks, bad.attempts, bad.tokens, bad.errors, at => $2)), (select count(*) from weir.finish_many(good.tasks, good.attempts, good.tokens, at => $2))
				from bad, good`, batch, at(now))
		}
		out := map[string]string{}
		for _, r := range all[struct{ Key, State string }](e, `select key, state::text || ' after ' || attempt from weir.task`) {
			out[r.Key] = r.State
		}
		return out
	}
	single, many := outcomes(1), outcomes(100)
	kinds := map[string]int{}
	for key, want := range single {
		kinds[want]++
		if many[key] != want {
			t.Errorf("%s: %s one by one, %s in batches", key, want, many[key])
		}
	}
	if len(kinds) < 4 {
		t.Errorf("the work is too simple: %v", kinds)
	}
}
