package workflow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const oneStep = "name: w\nsteps:\n  - {key: a, service: s}"

func TestAJobIsBuiltWhenItIsDue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	at := time.Now().Add(time.Hour)
	job, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", At: at})
	if err != nil {
		t.Fatal(err)
	}
	r.tick()
	if got := r.text(`select state from weir.job where id = $1`, job); got != "queued" {
		t.Errorf("the job is %s", got)
	}
	if left := time.Until(r.leader.due()); left < 58*time.Minute || left > time.Hour {
		t.Errorf("the leader looks again in %s", left)
	}
	r.exec(`update weir.job_live set due = clock_timestamp()`)
	r.ends(job, "done", "a done")
}

func TestNoMoreThanMaxRunningRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nmax_running: 2\nsteps:\n  - {key: a, service: s, params: {n: '{{ .params.n }}'}}")
	var jobs []weir.ID
	for n := range 5 {
		jobs = append(jobs, r.run("w", map[string]any{"n": n}))
	}
	// Jobs of another version count as well.
	r.put("name: w\nmax_running: 2\nsteps:\n  - {key: a, service: s, params: {n: '{{ .params.n }}', v: 2}}")
	jobs = append(jobs, r.run("w", map[string]any{"n": 5}))
	r.tick()
	if got := r.count(`select count(*) from weir.job where state = 'running'`); got != 2 {
		t.Fatalf("%d jobs run, want 2\n%s", got, r.table())
	}
	if got := r.count(`select count(*) from weir.job where state = 'queued' and note = 'waits for its turn: at most 2 of w run at once'`); got != 4 {
		t.Errorf("%d jobs say what they wait for\n%s", got, r.table())
	}
	var order []string
	r.does["a"] = func(params map[string]any) (any, error) {
		order = append(order, fmt.Sprint(params["n"]))
		if live := r.count(`select count(*) from weir.job where state = 'running'`); live > 2 {
			t.Errorf("%d jobs run", live)
		}
		return nil, nil
	}
	for _, job := range jobs {
		r.ends(job, "done", "a done")
	}
	if got := strings.Join(order, ""); got != "012345" {
		t.Errorf("order %s", got)
	}
}

func TestJobsOfAScheduleTakeTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	r.exec(`select weir.set_schedule('s', '@every 1h', null, clock_timestamp() - interval '3 h', workflow => 'w', overlap => 'queue_all')`)
	r.exec(`select weir.fire_schedule('s', next_at, array[next_at, next_at + interval '1 h', next_at + interval '2 h'], clock_timestamp() + interval '1 h') from weir.schedules`)
	most := 0
	r.does["a"] = func(map[string]any) (any, error) {
		most = max(most, r.count(`select count(*) from weir.job where state = 'running'`))
		return nil, nil
	}
	r.tick()
	if got := r.count(`select count(*) from weir.job where state = 'queued' and note like 'waits for the run of schedule s before it%'`); got != 2 {
		t.Errorf("%d jobs say what they wait for\n%s", got, r.table())
	}
	r.until("all are done", func() bool { return r.count(`select count(*) from weir.job where state = 'done'`) == 3 })
	if most != 1 {
		t.Errorf("%d ran at once", most)
	}
	if r.count(`select count(distinct scheduled_at) from weir.job where note is null`) != 3 {
		t.Error("the runs have no times of their own, or a note is left")
	}
	// A run that a user asks for takes its turn as well.
	for range 2 {
		if _, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Schedule: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	r.until("all are done", func() bool { return r.count(`select count(*) from weir.job where state = 'done'`) == 5 })
	if most != 1 {
		t.Errorf("%d ran at once", most)
	}
}

func TestOneBadJobFailsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(oneStep)
	id := r.text(`select id::text from weir.workflows`)
	insert := func(name, definition string) {
		r.exec(`insert into weir.workflows (id, name, version, definition, created_at, updated_at) values (gen_random_uuid(), $1, 1, $2, now(), now())`, name, definition)
	}
	insert("ring", `{"steps": [{"key": "a", "service": "s", "needs": ["b"]}, {"key": "b", "service": "s", "needs": ["a"]}]}`)
	insert("words", `{"steps": "none"}`)
	insert("pool", `{"steps": [{"key": "a", "service": "s", "pool": "gone"}]}`)
	insert("list", `[{"key": "a", "service": "s", "depends_on": [], "default_params": {"x": 1}}]`)
	open := func(name string) {
		r.exec(`select weir.open_job(name, kind => 'workflow', definition => id) from weir.workflows where name = $1`, name)
	}
	for _, name := range []string{"ring", "w", "words", "pool", "list"} {
		open(name)
	}
	r.exec(`select weir.open_job('options', kind => 'workflow', definition => $1, options => '[1]')`, id)
	r.exec(`select weir.open_job('gone', kind => 'workflow', definition => gen_random_uuid())`)
	r.until("all have ended", func() bool { return r.count(`select count(*) from weir.job_live`) == 0 })
	if got := r.text(`select string_agg(name || ' ' || state, ', ' order by order_seq) from weir.job`); got != "ring failed, w done, words failed, pool failed, list done, options failed, gone failed" {
		t.Errorf("jobs: %s", got)
	}
	for name, want := range map[string]string{"ring": "ring", "words": "steps", "pool": "there is no pool 'gone'", "options": "options", "gone": "is gone"} {
		if got := r.text(`select cause from weir.job where name = $1`, name); !strings.Contains(got, want) {
			t.Errorf("%s: cause %q, want %q", name, got, want)
		}
	}
}

// Two leaders, four workers and a user who cancels, all at once: every job ends, nothing
// is made twice, and there is no deadlock.
func TestTwoLeadersAtOnceAreHarmless(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: inner\nsteps:\n  - {key: x, service: s}")
	r.put(`
name: w
max_running: 50
steps:
  - {key: a, service: s, when: "true", map: {over: [1, 2, 3], limit: 2}}
  - {key: b, service: s, needs: [a], params: {x: "{{ .needs.a.result }}"}}
  - {key: sub, workflow: inner, needs: [a]}
  - {key: c, service: s, needs: [b, sub]}`)
	jobs, err := r.store.RunMany(t.Context(), RunRequest{Workflow: "w"}, make([]definition.Options, 20))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	var all sync.WaitGroup
	other := newLeader(Config{Pool: r.db.Pool, Store: New(r.db.Pool, Options{})}, r.leader.term)
	for _, l := range []*leader{r.leader, other} {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := l.tick(ctx, time.Now()); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				var tasks, tokens []weir.ID
				var attempts []int
				err := r.db.Pool.QueryRow(ctx, `select array_agg(task), array_agg(attempt), array_agg(token) from weir.claim($1, array['s'], 7)`, fmt.Sprint("w", n)).Scan(&tasks, &attempts, &tokens)
				if err == nil && len(tasks) > 0 {
					_, err = r.db.Pool.Exec(ctx, `select weir.finish_many($1, $2, $3)`, tasks, attempts, tokens)
				}
				if err == nil {
					_, err = r.db.Pool.Exec(ctx, `select weir.tend()`)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for r.count(`select count(*) from weir.task where key = 'sub' and gate = 'plan'`) == 0 && ctx.Err() == nil && !t.Failed() {
		loop.Wait(ctx, time.Millisecond, nil)
	}
	for _, job := range jobs[len(jobs)-5:] {
		if _, err := r.db.Pool.Exec(ctx, `select weir.cancel_job($1)`, job); err != nil && problem.Explain(err).Kind != problem.Conflict {
			t.Error(err) // a conflict: it was faster
		}
	}
	for r.count(`select count(*) from weir.job_live`) > 0 && ctx.Err() == nil && !t.Failed() {
		loop.Wait(ctx, 5*time.Millisecond, nil)
	}
	stop()
	all.Wait()
	if got := r.count(`select count(*) from weir.job where state in ('done', 'canceled') and name = 'w'`); got != len(jobs) {
		t.Errorf("%d of %d jobs have ended well\n%s", got, len(jobs), r.table())
	}
	if got := r.count(`select count(*) from weir.job where state = 'done' and name = 'w'`); got < len(jobs)-5 {
		t.Errorf("%d jobs are done, want %d or more", got, len(jobs)-5)
	}
	if got := r.count(`select count(*) from (select from weir.task group by job, key having count(*) > 1) x`); got != 0 {
		t.Errorf("%d tasks were made twice", got)
	}
}

func TestALeaderOfAnOldTermBuildsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nmax_running: 1\nsteps:\n  - {key: a, service: s}")
	job := r.run("w", nil)
	r.exec(`update weir.system_locks set holder_id = 'another', epoch = epoch + 1`)
	if _, err := r.leader.tick(t.Context(), time.Now()); err == nil {
		t.Error("an old term built a job")
	}
	if got := r.text(`select state from weir.job where id = $1`, job); got != "queued" {
		t.Errorf("the job is %s", got)
	}
}

// Fields of the options that Weir gives no meaning to are kept, read by steps, and taken over by a rerun.
func TestStepsReadFreeOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s, params: {who: '{{ .job.options.customer }}', none: '{{ .job.options.x | default \"-\" }}'}}")
	r.exec(`insert into flow.jobs (workflow_id, options) select id, '{"customer": 7, "preset": "720p", "params": {"n": 1}}' from flow.workflows`)
	var got []string
	r.does["a"] = func(params map[string]any) (any, error) {
		got = append(got, fmt.Sprint(params["who"], params["none"]))
		return nil, nil
	}
	var job weir.ID
	if err := r.db.Pool.QueryRow(t.Context(), `select id from weir.jobs`).Scan(&job); err != nil {
		t.Fatal(err)
	}
	r.ends(job, "done", "a done")
	again, _, err := r.store.Rerun(t.Context(), job, RerunRequest{MaySkip: func() error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	r.ends(again, "done", "a done")
	if len(got) != 2 || got[0] != "7-" && got[0] != "7 -" || got[0] != got[1] {
		t.Errorf("the steps read %q", got)
	}
	if text := r.text(`select options - 'rerun' - 'by' from flow.jobs where id = $1`, again); text != `{"params": {"n": 1}, "preset": "720p", "customer": 7}` {
		t.Errorf("the rerun has %s", text)
	}
}
