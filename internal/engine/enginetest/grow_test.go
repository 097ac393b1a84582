package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testwait"
)

// add lets tasks join a job and returns them by key.
func (e *engine) add(sec float64, job string, tasks ...spec) map[string]string {
	e.Helper()
	ids := map[string]string{}
	for _, r := range all[struct{ Key, Task string }](e, `select key, task from weir.add_tasks($1, $2::jsonb, at => $3)`, job, encode(append([]spec{}, tasks...)), at(sec)) {
		ids[r.Key] = r.Task
	}
	return ids
}

// open opens a queued job that is due at once.
func (e *engine) open(sec float64, name string) string {
	e.Helper()
	return one[string](e, `select weir.open_job($1, at => $2)`, name, at(sec))
}

// TestGrowRules lets tasks join whose needs are done, failed or still live: each
// rule counts what has ended at once.
func TestGrowRules(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.submitJob(0, spec{"service": "a", "key": "good"}, spec{"service": "b", "key": "bad"}, spec{"service": "c", "key": "live"})
	e.finish(1, e.run(1, ids["good"]))
	e.fail(1, e.run(1, ids["bad"]), "no")
	needs := func(rule string, keys ...string) spec { return spec{"service": "d", "needs": keys, "rule": rule} }
	want := map[string]struct {
		spec  spec
		state string
	}{
		"success of done":          {needs("all_success", "good"), "available"},
		"success of done and live": {needs("all_success", "good", "live"), "pending"},
		"success of failed":        {needs("all_success", "bad", "live"), "skipped"},
		"done of failed":           {needs("all_done", "good", "bad"), "available"},
		"done of live":             {needs("all_done", "bad", "live"), "pending"},
		"failed of failed":         {needs("one_failed", "bad", "live"), "available"},
		"failed of done":           {needs("one_failed", "good"), "skipped"},
		"failed of live":           {needs("one_failed", "good", "live"), "pending"},
		"after what was skipped":   {needs("all_success", "success of failed"), "skipped"},
		"before what joins too":    {needs("all_success", "success of done"), "pending"},
		"held":                     {spec{"service": "d", "hold": "me", "needs": []string{"good"}}, "pending"},
	}
	var tasks []spec
	for key, w := range want {
		w.spec["key"] = key
		tasks = append(tasks, w.spec)
	}
	made := e.add(2, job, tasks...)
	for key, w := range want {
		if got := e.state(made[key]); got != w.state {
			t.Errorf("%s: %s, want %s", key, got, w.state)
		}
	}
	if got := e.cause(made["success of failed"]); got != "need bad is failed" {
		t.Errorf("skipped because %q", got)
	}
	if got := e.cause(made["failed of done"]); got != "no need failed" {
		t.Errorf("skipped because %q", got)
	}
	e.finish(3, e.run(3, ids["live"]))
	e.want(map[string]string{made["success of done and live"]: "available", made["done of live"]: "available", made["failed of live"]: "skipped"})
	if n := one[int](e, `select total from weir.job where id = $1`, job); n != 3+len(want) {
		t.Errorf("the job has %d tasks, want %d", n, 3+len(want))
	}
}

// TestGrowKeepsTheOrder: what joins a job has the job's place in the global order, however late it comes, and no floor hides it.
func TestGrowKeepsTheOrder(t *testing.T) {
	t.Parallel()
	e := start(t)
	job := e.open(0, "first")
	for range 2 {
		e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's')), false, $1) from generate_series(1, 3000) i`, at(1))
		e.exec(`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token), at => $1) from weir.claim('w', '{s}', 2500, at => $1)`, at(2))
		e.tend(2)
	}
	// Open transactions of other tests may hold it back for a while.
	testwait.Until(t, "the floor rises", func() bool {
		e.tend(2)
		return one[int](e, `select max(floor)::int from weir.classes`) >= 1000
	})
	ids := e.add(3, job, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b"})
	if l := e.claimOne(4, "w", "s"); l.Task != ids["a"] {
		t.Errorf("the first one is %s, want a of the oldest job", l.Task)
	}
	more := e.add(5, job, spec{"service": "s", "key": "c"}, spec{"service": "s", "key": "urgent", "priority": 5})
	for i, want := range []string{more["urgent"], ids["b"], more["c"]} {
		if l := e.claimOne(6, "w", "s"); l.Task != want {
			t.Errorf("claim %d gave %s, want %s", i, l.Task, want)
		}
	}
}

// TestGrowTwice: a repeated call finds what is there, also after the job has ended.
func TestGrowTwice(t *testing.T) {
	t.Parallel()
	e := start(t)
	job := e.open(0, "job")
	first := e.add(1, job, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b"})
	again := e.add(2, job, spec{"service": "other", "key": "a"}, spec{"service": "s", "key": "c", "needs": []string{"b"}})
	if again["a"] != first["a"] || again["c"] == "" {
		t.Errorf("first %v, again %v", first, again)
	}
	if n := len(e.add(2, job)); n != 0 {
		t.Errorf("nothing gave %d tasks", n)
	}
	e.finish(3, e.run(3, first["a"]))
	e.finish(3, e.run(3, first["b"]))
	e.finish(3, e.run(3, again["c"]))
	if s := one[string](e, `select state from weir.job where id = $1`, job); s != "done" {
		t.Fatalf("the job is %s", s)
	}
	if after := e.add(4, job, spec{"service": "s", "key": "b"}); after["b"] != first["b"] {
		t.Errorf("after the end: %v", after)
	}
	e.refused("WR409", `select weir.add_tasks($1, '[{"service": "s", "key": "late"}]')`, job)
	e.refused("WR404", `select weir.add_tasks('00000000-0000-7000-8000-000000000000', '[{"service": "s", "key": "late"}]')`)
}

func TestGrowRefusals(t *testing.T) {
	t.Parallel()
	e := start(t)
	job := e.open(0, "job")
	for what, tasks := range map[string]string{
		"no key":       `[{"service": "s"}]`,
		"doubled":      `[{"service": "s", "key": "a"}, {"service": "s", "key": "a"}]`,
		"unknown need": `[{"service": "s", "key": "a", "needs": ["b"]}]`,
		"ring":         `[{"service": "s", "key": "a", "needs": ["b"]}, {"service": "s", "key": "b", "needs": ["a"]}]`,
		"no tasks":     `[]`,
		"own key":      `[{"service": "s", "key": "a", "unique_key": "u"}]`,
		"bad run":      `[{"service": "s", "key": "a", "run": [1]}]`,
	} {
		before := e.counts()
		e.refused("WR422", `select weir.add_tasks($1, $2)`, job, tasks)
		e.same(what, before)
	}
	ids := e.add(1, job, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b", "needs": []string{"a"}})
	e.exec(`update weir.job_live set total = 30000 where job = $1`, job)
	if err := e.refused("WR422", `select weir.add_tasks($1, '[{"service": "s", "key": "c"}]')`, job); !strings.Contains(err.Message, "limit of 30000") {
		t.Error(err.Message)
	}
	e.exec(`update weir.job_live set total = 2 where job = $1`, job)
	l := e.run(2, ids["a"])
	e.exec(`select weir.cancel_job($1, at => $2)`, job, at(3))
	if err := e.refused("WR409", `select weir.add_tasks($1, '[{"service": "s", "key": "c"}]')`, job); !strings.Contains(err.Message, "being canceled") {
		t.Error(err.Message)
	}
	e.exec(`select weir.confirm_cancel($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, at(4))
}

// TestQueuedJob: from its opening to its end in each way.
func TestQueuedJob(t *testing.T) {
	t.Parallel()
	e := start(t)
	type row struct {
		State     string
		Total     int
		Progress  float64
		Due, When *time.Time
		Cause     *string
	}
	look := func(job string) row {
		return one[row](e, `select state, total, progress, due, scheduled_at, cause from weir.job where id = $1`, job)
	}
	job := one[string](e, `select weir.open_job('later', 'workflow', 7, '{"x": 1}', $1, 'key', options => '{"o": 1}', schedule => 'nightly', at => $2)`, at(100), at(0))
	if again := one[string](e, `select weir.open_job('later', due => $1, idempotency_key => 'key', at => $2)`, at(100), at(1)); again != job {
		t.Errorf("the same key gave %s and %s", job, again)
	}
	if r := look(job); r.State != "queued" || r.Total != 0 || r.Progress != 0 || !r.Due.Equal(at(100)) || !r.When.Equal(at(100)) {
		t.Errorf("%+v", r)
	}
	whyJob := func(sec float64) string {
		return one[string](e, `select string_agg(gate || ' ' || case when open then 'open' else 'closed' end || ': ' || reason, ' | ') from weir.why_job($1, $2)`, job, at(sec))
	}
	if got := whyJob(40); !strings.Contains(got, "in 1m | build closed: it is built when it is due") {
		t.Error(got)
	}
	e.exec(`select weir.set_job_note($1, '2 of 2 run already')`, job)
	if got := whyJob(101); got != "time open: its time has come | build closed: 2 of 2 run already" {
		t.Error(got)
	}
	e.refused("WR409", `select weir.retry_job($1)`, job)
	ids := e.add(101, job, spec{"service": "s", "key": "a"})
	if r := look(job); r.State != "running" || r.Total != 1 || r.Due != nil {
		t.Errorf("%+v", r)
	}
	e.refused("WR409", `select weir.close_job($1, 'failed', 'no')`, job)
	if got := whyJob(102); !strings.Contains(got, "worker closed: 1 task: a: no live worker serves s") {
		t.Error(got)
	}
	if p := one[int](e, `select priority from weir.task where id = $1`, ids["a"]); p != 7 {
		t.Errorf("priority %d, want the job's", p)
	}
	e.finish(103, e.run(103, ids["a"]))
	if got := whyJob(104); got != "ended open: done" {
		t.Error(got)
	}
	closed, canceled := e.open(0, "no template"), e.open(0, "no wish")
	e.exec(`select weir.close_job($1, 'failed', 'there is no file', at => $2)`, closed, at(1))
	if r := look(closed); r.State != "failed" || r.Progress != 1 || *r.Cause != "there is no file" {
		t.Errorf("%+v", r)
	}
	if r := one[struct{ Canceled, Requested int }](e, `select * from weir.cancel_job($1, 'ann', 'never mind', at => $2)`, canceled, at(1)); r.Canceled != 0 || r.Requested != 0 {
		t.Errorf("%+v", r)
	}
	if r := look(canceled); r.State != "canceled" || *r.Cause != "canceled by ann: never mind" {
		t.Errorf("%+v", r)
	}
	e.exec(`select weir.cancel_job($1, at => $2)`, canceled, at(2)) // again: the same
	e.refused("WR409", `select weir.retry_job($1)`, canceled)
	e.refused("WR409", `select weir.add_tasks($1, '[{"service": "s", "key": "a"}]')`, closed)
	e.refused("WR404", `select weir.close_job('00000000-0000-7000-8000-000000000000', 'failed', 'no')`)
	e.refused("WR422", `select weir.close_job($1, 'skipped', 'no')`, closed)
	e.refused("WR404", `select weir.open_job('child', parent => '00000000-0000-7000-8000-000000000000')`)
	if got := all[string](e, `select type from weir.event where job = $1 and kind = 'job' order by seq`, job); fmt.Sprint(got) != "[queued built done]" {
		t.Errorf("%v", got)
	}
}

// TestRetryJobInOrder: what was canceled together runs again in the order of its
// needs, and what was skipped comes back.
func TestRetryJobInOrder(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.submitJob(0, spec{"service": "a", "key": "a"}, spec{"service": "b", "key": "b", "needs": []string{"a"}}, spec{"service": "c", "key": "c", "needs": []string{"b"}})
	e.refused("WR409", `select weir.retry_job($1)`, job)
	e.exec(`select weir.cancel_job($1, at => $2)`, job, at(1))
	e.want(map[string]string{ids["a"]: "canceled", ids["b"]: "canceled", ids["c"]: "canceled"})
	if n := one[int](e, `select weir.retry_job($1, 'ann', 'by mistake', at => $2)`, job, at(2)); n != 3 {
		t.Errorf("%d tasks were retried", n)
	}
	e.want(map[string]string{ids["a"]: "available", ids["b"]: "pending", ids["c"]: "pending"})
	e.fail(3, e.run(3, ids["a"]), "no")
	e.want(map[string]string{ids["a"]: "failed", ids["b"]: "skipped", ids["c"]: "skipped"})
	e.exec(`select weir.retry_job($1, at => $2)`, job, at(4))
	for i, key := range []string{"a", "b", "c"} {
		e.finish(float64(5+i), e.run(float64(5+i), ids[key]))
	}
	if s := one[string](e, `select state from weir.job where id = $1`, job); s != "done" {
		t.Errorf("the job is %s", s)
	}
	e.refused("WR409", `select weir.retry_job($1)`, job)
	e.refused("WR404", `select weir.retry_job('00000000-0000-7000-8000-000000000000')`)
	said := one[string](e, `select source || ': ' || message from weir.event where job = $1 and kind = 'job' and type = 'retried' order by seq limit 1`, job)
	if said != "ann: by mistake" {
		t.Errorf("the timeline says %q", said)
	}
}

// TestRetentionKeepsWhatLives: neither a queued job nor the ended tasks of a live
// one are dropped, however old.
func TestRetentionKeepsWhatLives(t *testing.T) {
	t.Parallel()
	e := start(t)
	ctx := context.Background()
	old := time.Now().Add(-40 * 24 * time.Hour)
	for _, table := range []string{"tasks", "finished", "jobs", "job_finished"} {
		if _, err := e.Pool.Exec(ctx, fmt.Sprintf(`create table weir.%s_old partition of weir.%[1]s for values from ('%s') to ('%s')`, table,
			one[string](e, `select weir._id_at($1)`, old.Add(-24*time.Hour)), one[string](e, `select weir._id_at($1)`, old.Add(24*time.Hour)))); err != nil {
			t.Fatal(err)
		}
	}
	gone := one[string](e, `select weir.submit('s', at => $1)`, old)
	e.exec(`insert into weir.patience (task, fail) values ($1, '1 h')`, gone)
	e.exec(`select weir.cancel($1, at => $2)`, gone, old)
	queued := one[string](e, `select weir.open_job('queued', due => now() + interval '1 h', idempotency_key => 'k', at => $1)`, old)
	job := one[string](e, `select weir.submit_job('[{"service": "s", "key": "a"}]', 'lives', at => $1)`, old)
	task := one[string](e, `select id from weir.task where job = $1`, job)
	e.exec(`select weir.add_tasks($1, '[{"service": "s", "key": "young"}]')`, job)
	e.exec(`select weir.decide($1, 'done', at => $2)`, task, old.Add(time.Minute))
	drop := func() []string {
		return one[[]string](e, `select array(select unnest(weir.drop_partitions('30 days')) order by 1)`)
	}
	if got := drop(); len(got) != 0 {
		t.Errorf("dropped %v", got)
	}
	e.want(map[string]string{task: "done"})
	e.exec(`select weir.cancel_job($1)`, job)
	e.exec(`update weir.job_finished set at = $2 where job = $1`, job, old)
	if got := drop(); fmt.Sprint(got) != "[finished_old tasks_old]" {
		t.Errorf("dropped %v, want the tasks and not the queued job", got)
	}
	if n := one[int](e, `select (select count(*) from weir.patience)::int + (select count(*) from weir.idempotency where id <> $1)::int`, queued); n != 0 {
		t.Errorf("%d rows are left behind", n)
	}
	if again := one[string](e, `select weir.open_job('queued', idempotency_key => 'k')`); again != queued {
		t.Error("the key of the queued job is forgotten")
	}
}
