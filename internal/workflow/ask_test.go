package workflow

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// sdk is a client on the database of the rig.
func (r *rig) sdk() *weir.Client {
	r.Helper()
	c, err := weir.New(r.db.Pool, &weir.Config{})
	if err != nil {
		r.Fatal(err)
	}
	return c
}

// held waits until a step stands at the gate hold.
func (r *rig) held(job weir.ID, key string) weir.ID {
	r.Helper()
	r.until(key+" is held", func() bool {
		return r.count(`select count(*) from weir.task where job = $1 and key = $2 and gate = 'hold'`, job, key) == 1
	})
	return r.task(job, key)
}

// why returns the reason of the hold of a task.
func (r *rig) why(task weir.ID) string {
	return r.text(`select coalesce((select reason from weir.why($1) where gate = 'hold'), 'none')`, task)
}

// later moves the time at which a task came to its gate into the past.
func (r *rig) later(task weir.ID) {
	r.Helper()
	r.exec(`update weir.pending set since = since - interval '1 day' where task = $1`, task)
}

func code(err error) string {
	if state, ok := errors.AsType[*pgconn.PgError](err); ok {
		return state.Code
	}
	return ""
}

const asking = `
name: w
steps:
  - {key: a, service: s}
  - {key: publish, service: s, needs: [a], approval: {text: the editor, by: [ann, "role:maintainer"], expires: 2h, then: THEN}}
  - {key: after, service: s, needs: [publish]}`

// Only those whom a step names decide about it, with a comment that stays.
func TestAnApprovalIsForItsPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(strings.Replace(asking, "THEN", "fail", 1))
	client := r.sdk()
	job := r.run("w", nil)
	task := r.held(job, "publish")
	if got := r.why(task); !strings.HasPrefix(got, "waits for approval: the editor; may decide: ann, role:maintainer; at ") || !strings.HasSuffix(got, " it fails") {
		t.Errorf("why: %s", got)
	}
	for _, names := range [][]string{{}, {"bob", "role:viewer", "role:operator"}} {
		d := weir.Decision{By: "bob", Reason: "mine", Names: names}
		if err := client.Approve(t.Context(), task, d); code(err) != "WR403" {
			t.Errorf("approved by %v: %v", names, err)
		}
		if err := client.Refuse(t.Context(), task, d); code(err) != "WR403" {
			t.Errorf("refused by %v: %v", names, err)
		}
	}
	// A hold of a person does not take the approval away.
	r.exec(`select weir.hold($1, 'bob', 'me first')`, task)
	if err := client.Approve(t.Context(), task, weir.Decision{By: "bob", Names: []string{"bob"}}); code(err) != "WR403" {
		t.Errorf("approved after a hold: %v", err)
	}
	if err := client.Refuse(t.Context(), task, weir.Decision{By: "ann", Names: []string{"ann"}}); code(err) != "WR422" {
		t.Errorf("refused without a reason: %v", err)
	}
	if err := client.Refuse(t.Context(), task, weir.Decision{By: "ann", Reason: "wrong numbers", Names: []string{"ann"}}); err != nil {
		t.Fatal(err)
	}
	r.ends(job, "failed", "a done, publish failed, after skipped")
	if got := r.cause(job, "publish"); got != "refused by ann: wrong numbers" {
		t.Errorf("cause: %s", got)
	}
	// What was refused is asked for again.
	r.exec(`select weir.retry($1)`, task)
	r.held(job, "publish")
	if err := client.Approve(t.Context(), task, weir.Decision{By: "bob", Names: []string{"bob"}}); code(err) != "WR403" {
		t.Errorf("approved by another after a retry: %v", err)
	}
	if err := client.Approve(t.Context(), task, weir.Decision{By: "cid", Reason: "checked again", Names: []string{"cid", "role:maintainer"}}); err != nil {
		t.Fatal(err)
	}
	r.ends(job, "done", "a done, publish done, after done")
	if got := r.text(`select source || ': ' || message from weir.events where task = $1 and type = 'released'`, task); got != "cid: checked again" {
		t.Errorf("the timeline has %s", got)
	}
	if err := client.Approve(t.Context(), task, weir.Decision{By: "ann"}); code(err) != "WR409" {
		t.Errorf("approved twice: %v", err)
	}
}

// An approval that nobody gives in time ends as the step says.
func TestAnApprovalExpires(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ then, state, tasks, said string }{
		{"fail", "failed", "a done, publish failed, after skipped", "failed: no decision within 2h"},
		{"release", "done", "a done, publish done, after done", "released: no decision within 2h"},
	} {
		t.Run(c.then, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.put(strings.Replace(asking, "THEN", c.then, 1))
			job := r.run("w", nil)
			task := r.held(job, "publish")
			if got := r.count(`select weir.settle_asks()`); got != 0 {
				t.Errorf("%d moved before the time", got)
			}
			r.later(task)
			r.leader.asked = r.leader.asked.AddDate(0, 0, -1)
			r.ends(job, c.state, c.tasks)
			if got := r.text(`select type || ': ' || message from weir.events where task = $1 and source = 'expiry'`, task); got != c.said {
				t.Errorf("the timeline has %q", got)
			}
			// A task that a person holds later does not expire.
			if got := r.count(`select count(*) from weir.asks where open`); got != 0 {
				t.Errorf("%d questions are open", got)
			}
		})
	}
}

const forPayment = `
name: w
steps:
  - {key: order, service: s}
  - {key: paid, needs: [order], wait: {timeout: 2h, then: THEN}}
  - {key: ship, service: s, needs: [paid], params: {amount: "{{ .needs.paid.result.amount | default 0 }}"}}`

var payment = json.RawMessage(`{"amount": 12}`)

// An event ends the step that waits for it, also one that came before; the second of the
// same changes nothing.
func TestAStepWaitsForAnEvent(t *testing.T) {
	t.Parallel()
	text := strings.Replace(forPayment, ", then: THEN", "", 1)
	for _, c := range []struct {
		name  string
		early bool
	}{{"while it waits", false}, {"before it waits", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.put(text)
			client := r.sdk()
			r.does["ship"] = echoes
			job := r.run("w", nil)
			if !c.early {
				task := r.held(job, "paid")
				if got := r.why(task); !strings.HasPrefix(got, "waits for the event paid; at ") || !strings.HasSuffix(got, " it fails") {
					t.Errorf("why: %s", got)
				}
				if err := client.Approve(t.Context(), task, weir.Decision{By: "ann"}); code(err) != "WR409" {
					t.Errorf("a person released it: %v", err)
				}
				if err := client.Refuse(t.Context(), task, weir.Decision{By: "ann", Reason: "no"}); code(err) != "WR409" {
					t.Errorf("a person refused it: %v", err)
				}
			}
			for i, want := range []int{1, 0} {
				if c.early {
					want = 0
				}
				if n, err := client.Signal(t.Context(), job, "paid", payment, "shop"); err != nil || n != want {
					t.Errorf("signal %d: %d tasks, %v", i, n, err)
				}
			}
			if _, err := client.Signal(t.Context(), job, "paid", json.RawMessage(`{"amount": 13}`), "shop"); code(err) != "WR409" {
				t.Errorf("another payload: %v", err)
			}
			r.ends(job, "done", "order done, paid done, ship done")
			if got := r.result(job, "ship"); got != `{"amount": 12}` {
				t.Errorf("ship got %s", got)
			}
			if got := r.count(`select count(*) from weir.events where job = $1 and type = 'signaled'`, job); got != 1 {
				t.Errorf("%d events in the timeline", got)
			}
			if n, err := client.Signal(t.Context(), job, "paid", payment, "shop"); err != nil || n != 0 {
				t.Errorf("the same after the end: %d, %v", n, err)
			}
			if _, err := client.Signal(t.Context(), job, "other", payment, "shop"); code(err) != "WR409" {
				t.Errorf("another one after the end: %v", err)
			}
		})
	}
}

// What waits without a limit names no time at which it fails.
func TestWhatHasNoLimitNamesNone(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		"{key: a, wait: paid}": "waits for the event paid",
		"{key: a, service: s, approval: {text: the editor, by: [ann]}}": "waits for approval: the editor; may decide: ann, and none of them is a user here",
	} {
		r := newRig(t)
		r.put("name: w\nsteps:\n  - " + step)
		if got := r.why(r.held(r.run("w", nil), "a")); got != want {
			t.Errorf("%s: %s", step, got)
		}
	}
}

// A wait that is over fails or goes on without a result; a late event finds a step that
// was retried.
func TestAWaitForAnEventEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(strings.Replace(forPayment, "THEN", "fail", 1))
	job := r.run("w", nil)
	task := r.held(job, "paid")
	r.later(task)
	r.leader.asked = r.leader.asked.AddDate(0, 0, -1)
	r.ends(job, "failed", "order done, paid failed, ship skipped")
	if got := r.cause(job, "paid"); got != "the event paid did not come within 2h" {
		t.Errorf("cause: %s", got)
	}
	r.exec(`select weir.retry($1)`, task)
	r.held(job, "paid")
	if n, err := r.sdk().Signal(t.Context(), job, "paid", payment, ""); err != nil || n != 1 {
		t.Errorf("after a retry: %d, %v", n, err)
	}
	r.ends(job, "done", "order done, paid done, ship done")

	r.put(strings.Replace(forPayment, "THEN", "release", 1))
	job = r.run("w", nil)
	r.later(r.held(job, "paid"))
	r.leader.asked = r.leader.asked.AddDate(0, 0, -1)
	r.ends(job, "done", "order done, paid done, ship done")
	if got := r.result(job, "paid"); got != "none" {
		t.Errorf("a wait without its event gave %s", got)
	}
}

// The events that a job keeps are bounded, in number and in size.
func TestSignalsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(strings.Replace(forPayment, "THEN", "fail", 1))
	job := r.run("w", nil)
	r.exec(`select weir.signal($1, 'e' || n, null) from generate_series(1, 100) n`, job)
	for _, c := range []struct{ code, sql string }{
		{"WR429", `select weir.signal($1, 'one_more')`},
		{"WR422", `select weir.signal($1, 'a b')`},
		{"WR422", `select weir.signal($1, repeat('x', 101))`},
		{"WR422", `select weir.signal($1, null)`},
		{"WR422", `select weir.signal($1, 'big', to_jsonb((select string_agg(md5(n::text), '') from generate_series(1, 20000) n)))`},
		{"WR404", `select weir.signal('01900000-0000-7000-8000-000000000000', 'e'), $1::uuid`},
	} {
		if _, err := r.db.Pool.Exec(t.Context(), c.sql, job); code(err) != c.code {
			t.Errorf("%s: %v, want %s", c.sql, err, c.code)
		}
	}
	r.exec(`select weir.cancel_job($1)`, job)
}

// An event, a decision and the expiry of one step come one after the other.
func TestAskedOneByOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put(strings.Replace(forPayment, "THEN", "fail", 1))
	r.put(strings.Replace(strings.Replace(asking, "THEN", "fail", 1), "name: w", "name: v", 1))
	job, other := r.run("w", nil), r.run("v", nil)
	task, asks := r.held(job, "paid"), r.held(other, "publish")
	words := strings.NewReplacer("{job}", "'"+job.String()+"'", "{task}", "'"+task.String()+"'", "{other}", "'"+other.String()+"'", "{asks}", "'"+asks.String()+"'")
	r.db.Play(t, words,
		testdb.Overlap{
			Name:   "two events of one name",
			First:  `select weir.signal({job}, 'paid', '1')`,
			Second: `select weir.signal({job}, 'paid', '2')`,
			Code:   "WR409",
			Then:   `select result = '1' from weir.task where id = {task}`,
		},
		testdb.Overlap{
			Name:   "a decision locks the job before what it asks",
			First:  `select from weir.job_live where job = {other} for update`,
			Second: `select weir.release({asks})`,
			Free:   `select from weir.asks where task = {asks} for update nowait`,
		},
		testdb.Overlap{
			Name:   "the expiry leaves a job that another holds",
			First:  `select from weir.job_live where job = {other} for update`,
			Second: `select weir.settle_asks(at => now() + interval '1 day')`,
			Passes: true,
		},
		testdb.Overlap{
			Name:   "approved and refused",
			First:  `select weir.release({asks}, 'ann', names => '{ann}')`,
			Second: `select weir.refuse({asks}, 'no', 'cid', names => '{role:maintainer}')`,
			Code:   "WR409",
			Then:   `select state = 'available' from weir.task where id = {asks}`,
		},
	)
}

// A step whose people do not exist says so, because nobody will decide.
func TestAnApprovalOfNobodySaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps:\n  - {key: a, service: s, approval: {text: the editor, by: [ann, bob]}}")
	task := r.held(r.run("w", nil), "a")
	if got, want := r.why(task), "waits for approval: the editor; may decide: ann, bob, and none of them is a user here"; got != want {
		t.Errorf("why: %s", got)
	}
	r.user("bob")
	if got, want := r.why(task), "waits for approval: the editor; may decide: ann, bob"; got != want {
		t.Errorf("why: %s", got)
	}
}
