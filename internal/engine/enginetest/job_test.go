package enginetest

import (
	"fmt"
	"strings"
	"testing"
)

// progress is a job as people see it.
type progress struct {
	State                                  string
	Total, Done, Failed, Canceled, Skipped int
	Cause                                  *string
}

func (e *engine) job(id string) progress {
	e.Helper()
	return one[progress](e, `select state, total, done, failed, canceled, skipped, cause from weir.job where id = $1`, id)
}

// counted wants the job in a state, with these counts.
func (e *engine) counted(job, want string) {
	e.Helper()
	p := e.job(job)
	if got := fmt.Sprintf("%s %d/%d done %d failed %d canceled %d skipped", p.State, p.Done, p.Total, p.Failed, p.Canceled, p.Skipped); got != want {
		e.Errorf("job is %q, want %q", got, want)
	}
}

func (e *engine) cause(task string) string {
	e.Helper()
	return one[string](e, `select coalesce(cause, '') from weir.task where id = $1`, task)
}

// TestJobRules has one task for each rule behind a need that ends each way.
func TestJobRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end  string
		want map[string]string
	}{
		{"done", map[string]string{"all_success": "available", "all_done": "available", "one_failed": "skipped"}},
		{"failed", map[string]string{"all_success": "skipped", "all_done": "available", "one_failed": "available"}},
		{"canceled", map[string]string{"all_success": "skipped", "all_done": "available", "one_failed": "available"}},
		{"skipped", map[string]string{"all_success": "available", "all_done": "available", "one_failed": "skipped"}},
	} {
		t.Run(c.end, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			tasks := []spec{{"service": "s", "key": "need"}}
			for rule := range c.want {
				tasks = append(tasks, spec{"service": "d", "key": rule, "rule": rule, "needs": []string{"need"}})
			}
			_, ids := e.submitJob(0, tasks...)
			switch c.end {
			case "done":
				e.finish(2, e.run(1, ids["need"]))
			case "failed":
				e.fail(2, e.run(1, ids["need"]), "no")
			case "canceled":
				e.exec(`select weir.cancel($1, at => $2)`, ids["need"], at(1))
			case "skipped":
				e.exec(`select weir.skip($1, 'a person decided', at => $2)`, ids["need"], at(1))
			}
			for rule, want := range c.want {
				if got := e.state(ids[rule]); got != want {
					t.Errorf("%s after a need that is %s: %s, want %s", rule, c.end, got, want)
				}
			}
		})
	}
}

// TestOneFailedDoesNotWait goes on at the first failure; all_success is skipped
// at the first failure.
func TestOneFailedDoesNotWait(t *testing.T) {
	t.Parallel()
	e := start(t)
	needs := []string{"a", "b"}
	_, ids := e.submitJob(0, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b"},
		spec{"service": "d", "key": "one", "needs": needs, "rule": "one_failed"}, spec{"service": "d", "key": "all", "needs": needs}, spec{"service": "d", "key": "done", "needs": needs, "rule": "all_done"})
	e.fail(2, e.run(1, ids["a"]), "no")
	e.want(map[string]string{ids["one"]: "available", ids["all"]: "skipped", ids["done"]: "pending"})
	e.finish(4, e.run(3, ids["b"]))
	e.want(map[string]string{ids["one"]: "available", ids["all"]: "skipped", ids["done"]: "available"})
}

// TestSkipCascade skips a chain behind a failure, each with the reason before
// it, and brings it back when the failure is retried.
func TestSkipCascade(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.submitJob(0, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b", "needs": []string{"a"}}, spec{"service": "s", "key": "c", "needs": []string{"b"}})
	e.fail(2, e.run(1, ids["a"]), "disk full")
	e.want(map[string]string{ids["b"]: "skipped", ids["c"]: "skipped"})
	if got := e.cause(ids["b"]); got != "need a is failed" {
		t.Errorf("b: %q", got)
	}
	if got := e.cause(ids["c"]); got != "need b is skipped" {
		t.Errorf("c: %q", got)
	}
	e.counted(job, "failed 0/3 done 1 failed 0 canceled 2 skipped")
	if p := e.job(job); p.Cause == nil || !strings.Contains(*p.Cause, "disk full") {
		t.Errorf("the job does not say why: %+v", p)
	}
	e.exec(`select weir.retry($1, 'ann', $2)`, ids["a"], at(3))
	e.want(map[string]string{ids["a"]: "available", ids["b"]: "pending", ids["c"]: "pending"})
	e.counted(job, "running 0/3 done 0 failed 0 canceled 0 skipped")
	for i, key := range []string{"a", "b", "c"} {
		e.finish(float64(5+2*i), e.run(float64(4+2*i), ids[key]))
	}
	e.counted(job, "done 3/3 done 0 failed 0 canceled 0 skipped")
}

// TestRetryOfOneOfTwoFailures leaves skipped what still has a failed need.
func TestRetryOfOneOfTwoFailures(t *testing.T) {
	t.Parallel()
	e := start(t)
	_, ids := e.submitJob(0, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b"}, spec{"service": "s", "key": "x", "needs": []string{"a", "b"}})
	e.fail(2, e.run(1, ids["a"]), "no")
	e.fail(2, e.run(1, ids["b"]), "no")
	e.exec(`select weir.retry($1, at => $2)`, ids["a"], at(3))
	e.finish(5, e.run(4, ids["a"]))
	e.want(map[string]string{ids["x"]: "skipped"})
	e.exec(`select weir.retry($1, at => $2)`, ids["b"], at(6))
	e.finish(8, e.run(7, ids["b"]))
	e.want(map[string]string{ids["x"]: "available"})
}

// TestSkipOfAFailureGoesOn is the decision of a person: what was skipped because
// of the failure comes back and runs.
func TestSkipOfAFailureGoesOn(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.submitJob(0, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b", "needs": []string{"a"}})
	e.fail(2, e.run(1, ids["a"]), "no")
	e.exec(`select weir.skip($1, 'done by hand', 'ann', $2)`, ids["a"], at(3))
	e.want(map[string]string{ids["a"]: "skipped", ids["b"]: "available"})
	if got := e.cause(ids["a"]); got != "skipped by ann: done by hand" {
		t.Errorf("cause %q", got)
	}
	e.finish(5, e.run(4, ids["b"]))
	e.counted(job, "done 1/2 done 0 failed 0 canceled 1 skipped")
}

// TestCancelJob cancels a job in every phase, whatever the order its tasks were
// listed in.
func TestCancelJob(t *testing.T) {
	t.Parallel()
	backwards := []spec{{"service": "s", "key": "b", "needs": []string{"a"}}, {"service": "s", "key": "a"}}
	cancel := func(e *engine, job string, sec float64) string {
		r := one[struct{ Canceled, Requested int }](e, `select * from weir.cancel_job($1, 'ann', 'wrong branch', $2)`, job, at(sec))
		return fmt.Sprintf("%d canceled, %d requested", r.Canceled, r.Requested)
	}
	t.Run("waiting", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		job, ids := e.submitJob(0, backwards...)
		if got := cancel(e, job, 1); got != "2 canceled, 0 requested" {
			t.Error(got)
		}
		e.counted(job, "canceled 0/2 done 0 failed 2 canceled 0 skipped")
		if got := e.cause(ids["b"]); got != "canceled by ann: wrong branch" {
			t.Errorf("cause %q", got)
		}
		if got := cancel(e, job, 2); got != "0 canceled, 0 requested" {
			t.Errorf("again: %s", got)
		}
	})
	t.Run("running", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		job, ids := e.submitJob(0, backwards...)
		l := e.run(1, ids["a"])
		if got := cancel(e, job, 2); got != "1 canceled, 1 requested" {
			t.Error(got)
		}
		e.counted(job, "canceling 0/2 done 0 failed 1 canceled 0 skipped")
		if got := one[string](e, `select refusal from weir.renew('w', array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`, l.Task, l.Attempt, l.Token, at(3)); got != "cancel" {
			t.Errorf("renew says %q", got)
		}
		if got := one[string](e, `select weir.confirm_cancel($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, at(4)); got != "ok" {
			t.Errorf("confirm says %q", got)
		}
		e.counted(job, "canceled 0/2 done 0 failed 2 canceled 0 skipped")
	})
	t.Run("finished meanwhile", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		job, ids := e.submitJob(0, spec{"service": "s", "key": "a"})
		l := e.run(1, ids["a"])
		cancel(e, job, 2)
		if got := e.finish(3, l); got != "ok" {
			t.Errorf("finish says %q", got)
		}
		e.counted(job, "done 1/1 done 0 failed 0 canceled 0 skipped")
		e.refused("WR409", `select weir.cancel_job($1, at => $2)`, job, at(4))
	})
	t.Run("worker lost", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		job, ids := e.submitJob(0, spec{"service": "s", "key": "a"})
		e.run(1, ids["a"])
		cancel(e, job, 2)
		e.exec(`select weir.expire(at => $1)`, at(60))
		e.counted(job, "canceled 0/1 done 0 failed 1 canceled 0 skipped")
	})
}

// TestIdempotency answers the same key with the same id.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	e := start(t)
	first := e.submit(0, spec{"service": "s", "idempotency_key": "k"})
	if again := e.submit(1, spec{"service": "s", "idempotency_key": "k"}); again != first {
		t.Errorf("two tasks for one key: %s and %s", first, again)
	}
	ids := all[string](e, `select task from weir.submit_many('[{"service": "s", "idempotency_key": "x"}, {"service": "s", "idempotency_key": "x"}]', at => $1)`, at(2))
	if ids[0] != ids[1] {
		t.Errorf("two tasks for one key in one call: %v", ids)
	}
	job := one[string](e, `select weir.submit_job('[{"service": "s"}]', 'j', idempotency_key => 'j', at => $1)`, at(3))
	if again := one[string](e, `select weir.submit_job('[{"service": "s"}]', 'j', idempotency_key => 'j', at => $1)`, at(4)); again != job {
		t.Errorf("two jobs for one key: %s and %s", job, again)
	}
	if n := one[int](e, `select count(*)::int from weir.tasks`); n != 3 {
		t.Errorf("%d tasks, want 3", n)
	}
	// A key names a task or a job, not both.
	if id, err := ask[string](e.Pool, `select task from weir.submit_many('[{"service": "s", "idempotency_key": "j"}]', at => $1)`, at(5)); err == nil && id[0] == job {
		t.Errorf("the key of a job gave the job as a task")
	}
	if id, err := ask[string](e.Pool, `select weir.submit_job('[{"service": "s"}]', 'j', idempotency_key => 'k', at => $1)`, at(5)); err == nil && id[0] == first {
		t.Errorf("the key of a task gave the task as a job")
	}
}

// TestUniqueKey lets one task of a key live at a time.
func TestUniqueKey(t *testing.T) {
	t.Parallel()
	e := start(t)
	u := spec{"service": "s", "unique_key": "nightly"}
	first := e.submit(0, u)
	if again := e.submit(1, u); again != first {
		t.Errorf("two live tasks for one key")
	}
	l := e.run(2, first)
	if again := e.submit(3, u); again != first {
		t.Errorf("two live tasks for one key while one runs")
	}
	e.fail(4, l, "no")
	second := e.submit(5, u)
	if second == first {
		t.Errorf("the key of an ended task is not free")
	}
	e.refused("WR409", `select weir.retry($1, at => $2)`, first, at(6))
	e.exec(`select weir.cancel($1, at => $2)`, second, at(7))
	e.exec(`select weir.retry($1, at => $2)`, first, at(8))
	if again := e.submit(9, u); again != first {
		t.Errorf("a retried task does not hold its key")
	}
}

// TestKeysBelongToARoleAndABody: in SQL a key is that of the role that calls, and stands for
// what was asked for; when, and for which trace, is not part of that.
func TestKeysBelongToARoleAndABody(t *testing.T) {
	t.Parallel()
	e := start(t)
	const task = `select weir.submit('s', '{"n": 1}', idempotency_key => 'k')`
	first := one[string](e, task)
	for _, same := range []string{task, `select weir.submit('s', '{"n": 1}', run_at => now() + interval '1 h', trace => 't', idempotency_key => 'k')`} {
		if again := one[string](e, same); again != first {
			t.Errorf("%s: %s, then %s", same, first, again)
		}
	}
	client := e.as("weir_client")
	theirs, err := ask[string](client, task)
	if err != nil || theirs[0] == first {
		t.Fatalf("the key of the owner is the client's: %s, %v", theirs, err)
	}
	if again, err := ask[string](client, task); err != nil || again[0] != theirs[0] {
		t.Errorf("the client again: %s, %v", again, err)
	}
	e.exec(`select weir.submit_job('[{"service": "s"}]', 'j', idempotency_key => 'j')`)
	e.exec(`select weir.open_job('o', params => '{"n": 1}', idempotency_key => 'o')`)
	for _, other := range []string{
		`select weir.submit('s', '{"n": 2}', idempotency_key => 'k')`, `select weir.submit('other', '{"n": 1}', idempotency_key => 'k')`,
		`select task from weir.submit_many('[{"service": "s"}, {"service": "s", "params": {"n": 3}, "idempotency_key": "k"}]')`,
		`select task from weir.submit_many('[{"service": "s", "idempotency_key": "x"}, {"service": "t", "idempotency_key": "x"}]')`,
		`select weir.submit_job('[{"service": "t"}]', 'j', idempotency_key => 'j')`, `select weir.submit_job('[{"service": "s"}]', 'i', idempotency_key => 'j')`,
		`select weir.open_job('o', params => '{"n": 2}', idempotency_key => 'o')`,
	} {
		_, err := ask[string](e.Pool, other)
		if sqlstate(err) != "WR422" || !strings.Contains(err.Error(), "idempotency_key: it was used before with another body") {
			t.Errorf("%s: %v", other, err)
		}
	}
	// A key of before: nobody's, and for any body.
	e.exec(`update weir.idempotency set body = null where key = 'k'`)
	if id, err := ask[string](client, `select weir.submit('s', '{"n": 9}', idempotency_key => 'k')`); err != nil || id[0] != first {
		t.Errorf("an old key: %s, %v", id, err)
	}
}

// TestTheSweepCancelsWhatIsLeft has a canceled job of which a task still waits, as one
// does that changed hands while its job was canceled. The sweep ends it.
func TestTheSweepCancelsWhatIsLeft(t *testing.T) {
	t.Parallel()
	e := start(t)
	job, ids := e.submitJob(0, spec{"service": "s", "key": "a"}, spec{"service": "s", "key": "b", "needs": []string{"a"}})
	e.exec(`update weir.job_live set cancel_at = $2 where job = $1`, job, at(1))
	e.tend(2)
	e.want(map[string]string{ids["a"]: "canceled", ids["b"]: "canceled"})
	if got := one[string](e, `select outcome::text from weir.job_finished where job = $1`, job); got != "canceled" {
		t.Errorf("the job is %s", got)
	}
}
