package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
)

// One database, two versions: they start when somebody says so, one after the other.
func TestVersionsFollowOneAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	x := r.create(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(2), ddl(1)}})
	r.want(x.ID, "test/a/1 NOT_STARTED", "test/a/2 NOT_STARTED")
	r.state(x.ID, StateNotStarted)
	r.must(r.store.Start(t.Context(), "ann", x.ID))
	r.want(x.ID, "test/a/1 AVAILABLE", "test/a/2 PENDING")
	two := r.task(x.ID, "test/a/2")
	if two.Blocker != r.task(x.ID, "test/a/1").ID || !strings.Contains(two.Cause, "test/a/1") {
		t.Fatalf("cause: %+v", two)
	}
	r.done(r.claim("test/a/1"))
	r.want(x.ID, "test/a/1 DONE", "test/a/2 AVAILABLE")
	r.state(x.ID, StateRunning)
	r.done(r.claim("test/a/2"))
	r.state(x.ID, StateDone)
}

func TestStagesComeInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	r.register("prod", "c")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod", Approvals: 1, Promote: PromoteManual}}, Changes: []script.Change{ddl(1)}})
	r.want(x.ID, "test/a/1 AVAILABLE", "test/b/1 AVAILABLE", "prod/c/1 NOT_STARTED")
	all := r.claims(10)
	r.done(all["test/a/1"])
	r.want(x.ID, "test/a/1 DONE", "test/b/1 RUNNING", "prod/c/1 NOT_STARTED")
	r.done(all["test/b/1"])
	r.want(x.ID, "test/a/1 DONE", "test/b/1 DONE", "prod/c/1 PENDING")
	if out := r.state(x.ID, StateWaiting); !strings.HasPrefix(out.Waits, "waits for approval of stage prod (0 of 1): weir rollout approve ") {
		t.Fatal(out.Waits)
	}
	held := r.task(x.ID, "prod/c/1")
	var why, code string
	r.scan(&why, `select reason from weir.why($1) where gate = 'hold'`, held.ID)
	if want := "waits for approval of stage prod (0 of 1): weir rollout approve " + x.ID.String() + " prod"; why != want || held.Cause != want {
		t.Fatalf("why says %q, and the task %q", why, held.Cause)
	}
	r.scan(&code, `select code from weir.why($1) where gate = 'hold'`, held.ID)
	if stage := r.state(x.ID, StateWaiting).Stages[1]; code != "rollout_approval" || held.Reason.Code != code || stage.Reason.Code != code {
		t.Fatalf("why says %s, the task %v and its stage %v", code, held.Reason, stage.Reason)
	}
	if got := held.Reason.Without("do").In("ko", ""); got != "단계 prod: 승인을 기다립니다 (1건 중 0건)" {
		t.Errorf("in Korean: %s", got)
	}
	r.refused(r.store.Promote(t.Context(), "bob", x.ID, "prod"))
	r.must(r.store.Approve(t.Context(), "bob", x.ID, "prod", "looks right"))
	if out := r.state(x.ID, StateWaiting); !strings.HasPrefix(out.Waits, "waits for promotion of stage prod") {
		t.Fatal(out.Waits)
	}
	r.must(r.store.Promote(t.Context(), "bob", x.ID, "prod"))
	r.want(x.ID, "test/a/1 DONE", "test/b/1 DONE", "prod/c/1 AVAILABLE")
	r.done(r.claim("prod/c/1"))
	r.state(x.ID, StateDone)
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stage Stage
		state string
		want  []string
	}{
		"stop":          {Stage{}, StateFailed, []string{"test/a/1 FAILED", "test/b/1 PENDING", "test/c/1 PENDING"}},
		"continue":      {Stage{OnFailure: OnFailureContinue}, StateRunning, []string{"test/a/1 FAILED", "test/b/1 AVAILABLE", "test/c/1 PENDING"}},
		"at most one":   {Stage{OnFailure: OnFailureAtMost, MaxFailures: 1}, StateRunning, []string{"test/a/1 FAILED", "test/b/1 AVAILABLE", "test/c/1 PENDING"}},
		"canary fails":  {Stage{OnFailure: OnFailureContinue, Canary: 1}, StateFailed, []string{"test/a/1 FAILED", "test/b/1 PENDING", "test/c/1 PENDING"}},
		"canary passes": {Stage{Canary: 1}, StateRunning, []string{"test/a/1 DONE", "test/b/1 AVAILABLE", "test/c/1 PENDING"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.register("test", "a", "b", "c")
			c.stage.Name = "test"
			x := r.started(Plan{Stages: []Stage{c.stage}, Changes: []script.Change{ddl(1)}, Parallel: 1})
			l := r.claim("test/a/1")
			if strings.HasSuffix(c.want[0], "DONE") {
				r.done(l)
			} else {
				r.fail(l, "sql")
			}
			// With a limit of one the failure itself frees the place: what was next must not have it.
			if c.state == StateFailed {
				r.want(x.ID, c.want...)
			}
			r.open()
			r.want(x.ID, c.want...)
			r.state(x.ID, c.state)
		})
	}
}

// Nothing of a stopped stage starts, whoever opens gates meanwhile, until somebody
// has decided.
func TestDecisionAfterFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b", "c")
	r.register("prod", "d")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod"}}, Changes: []script.Change{ddl(1)}, Parallel: 2})
	all := r.claims(10)
	if len(all) != 2 {
		t.Fatalf("the limit is 2, %d were available", len(all))
	}
	r.fail(all["test/a/1"], "sql")
	r.fail(all["test/b/1"], "sql")
	r.want(x.ID, "test/a/1 FAILED", "test/b/1 FAILED", "test/c/1 PENDING", "prod/d/1 NOT_STARTED")
	// Whoever retries one has decided about that one alone.
	r.must(r.store.Retry(t.Context(), "bob", r.task(x.ID, "test/a/1").ID))
	r.want(x.ID, "test/a/1 AVAILABLE", "test/b/1 FAILED", "test/c/1 PENDING", "prod/d/1 NOT_STARTED")
	r.done(r.claim("test/a/1"))
	r.want(x.ID, "test/a/1 DONE", "test/b/1 FAILED", "test/c/1 PENDING", "prod/d/1 NOT_STARTED")
	r.must(r.store.Skip(t.Context(), "bob", r.task(x.ID, "test/b/1").ID, "not needed there"))
	r.open()
	r.want(x.ID, "test/a/1 DONE", "test/b/1 SKIPPED", "test/c/1 AVAILABLE", "prod/d/1 NOT_STARTED")
	r.done(r.claim("test/c/1"))
	r.open()
	r.want(x.ID, "test/a/1 DONE", "test/b/1 SKIPPED", "test/c/1 DONE", "prod/d/1 AVAILABLE")
	r.done(r.claim("prod/d/1"))
	r.state(x.ID, StateDone)
}

// A version of one rollout comes before a higher one of another on the same database:
// also when it failed or nobody knows, until it is skipped.
func TestOrderAcrossRollouts(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(r *rig, l lease){
		"failed":  func(r *rig, l lease) { r.fail(l, "sql") },
		"unknown": func(r *rig, l lease) { r.lose(l, "sent") },
		"canceled": func(r *rig, l lease) {
			r.brief(l)
			r.must(r.store.Cancel(r.Context(), "bob", l.task, "wrong one"))
			r.exec(`select weir.confirm_cancel($1, $2, $3)`, l.task, l.attempt, l.token)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.register("test", "a", "b")
			stage := []Stage{{Name: "test", Databases: []string{"a"}}}
			low := r.started(Plan{Stages: stage, Changes: []script.Change{ddl(7)}})
			high := r.started(Plan{Stages: stage, Changes: []script.Change{ddl(10)}})
			beside := r.started(Plan{Stages: []Stage{{Name: "test", Databases: []string{"b"}}}, Changes: []script.Change{ddl(10)}})
			r.want(high.ID, "test/a/10 PENDING")
			r.want(beside.ID, "test/b/10 AVAILABLE")
			all := r.claims(10)
			l := all["test/a/7"]
			ends(r, l)
			r.open()
			r.want(high.ID, "test/a/10 PENDING")
			if got := r.task(high.ID, "test/a/10"); got.Blocker != l.task {
				t.Fatalf("blocker of %+v", got)
			}
			if name == "unknown" {
				r.want(low.ID, "test/a/7 UNKNOWN")
				r.refused(r.store.Retry(t.Context(), "bob", l.task))
				r.refused(r.store.Skip(t.Context(), "bob", l.task, "no"))
				r.must(r.store.Resolve(t.Context(), "bob", l.task, false, "looked: the table is not there"))
				r.want(low.ID, "test/a/7 FAILED")
			}
			r.must(r.store.Skip(t.Context(), "bob", l.task, "not for this one"))
			r.open()
			r.want(high.ID, "test/a/10 AVAILABLE")
			r.want(low.ID, "test/a/7 SKIPPED")
			r.done(r.claim("test/a/10"))
			r.done(all["test/b/10"])
		})
	}
}

// Data changes without a version run beside each other, DDL alone.
func TestExclusion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	stage := []Stage{{Name: "test"}}
	data := func(n string) script.Change {
		return script.Change{Name: n, Kind: script.Data, SQL: "update t set x = 1 where y = '" + n + "'", Transaction: true}
	}
	one := r.started(Plan{Stages: stage, Changes: []script.Change{data("one"), data("two")}})
	r.want(one.ID, "test/a/one AVAILABLE", "test/a/two AVAILABLE")
	two := r.started(Plan{Stages: stage, Changes: []script.Change{ddl(1)}})
	r.want(two.ID, "test/a/1 PENDING")
	all := r.claims(10)
	r.done(all["test/a/one"])
	r.want(two.ID, "test/a/1 PENDING")
	r.done(all["test/a/two"])
	r.want(two.ID, "test/a/1 AVAILABLE")
	r.done(r.claim("test/a/1"))
}

func TestPauseTakesBackWhatMayStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}, Parallel: 1})
	r.want(x.ID, "test/a/1 AVAILABLE", "test/b/1 PENDING")
	r.must(r.store.Pause(t.Context(), "bob", x.ID, "lunch"))
	r.open()
	r.want(x.ID, "test/a/1 PENDING", "test/b/1 PENDING")
	if got := r.task(x.ID, "test/a/1").Cause; got != "waits to be resumed: paused by bob: lunch" {
		t.Fatal(got)
	}
	if len(r.claims(10)) > 0 {
		t.Fatal("something started in a pause")
	}
	r.state(x.ID, StatePaused)
	r.must(r.store.Resume(t.Context(), "bob", x.ID))
	l := r.claim("test/a/1")
	r.must(r.store.Pause(t.Context(), "bob", x.ID, ""))
	r.done(l) // what runs goes on
	r.open()
	r.want(x.ID, "test/a/1 DONE", "test/b/1 PENDING")
	r.must(r.store.Resume(t.Context(), "bob", x.ID))
	r.done(r.claim("test/b/1"))
	r.state(x.ID, StateDone)
}

func TestAbort(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1), ddl(2)}})
	all := r.claims(10)
	r.brief(all["test/a/1"])
	r.fail(all["test/b/1"], "sql")
	r.must(r.store.Abort(t.Context(), "bob", x.ID, "wrong plan"))
	r.want(x.ID, "test/a/1 RUNNING", "test/a/2 CANCELED", "test/b/1 FAILED", "test/b/2 CANCELED")
	if !r.task(x.ID, "test/a/1").Stopping {
		t.Fatal("what runs was not asked to stop")
	}
	r.state(x.ID, StateCanceled)
	if a, err := r.store.Abort(t.Context(), "bob", x.ID, "again"); err != nil || a.Changed {
		t.Fatal(a, err)
	}
	if _, err := r.store.ended(t.Context(), all["test/a/1"], "canceled", false, "canceled", "", nil); err != nil {
		t.Fatal(err)
	}
	r.exec(`select weir.confirm_cancel($1, $2, $3)`, all["test/a/1"].task, all["test/a/1"].attempt, all["test/a/1"].token)
	r.want(x.ID, "test/a/1 CANCELED", "test/a/2 CANCELED", "test/b/1 FAILED", "test/b/2 CANCELED")
	r.refused(r.store.Retry(t.Context(), "bob", all["test/b/1"].task))
	// What was given up blocks nobody, what failed neither.
	y := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(3)}})
	r.want(y.ID, "test/a/3 AVAILABLE", "test/b/3 AVAILABLE")
	r.must(r.store.Abort(t.Context(), "bob", y.ID, ""))
}

// An edit is another plan, and approvals of the old one are worth nothing for it.
func TestEditLosesApprovals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("prod", "a")
	plan := Plan{Name: "p", Stages: []Stage{{Name: "prod", Approvals: 1}}, Changes: []script.Change{ddl(1)}}
	x := r.create(plan)
	r.must(r.store.Approve(t.Context(), "bob", x.ID, "prod", ""))
	if _, err := r.store.Replace(t.Context(), "ann", x.ID, plan); err == nil {
		t.Fatal("the same plan again is no edit")
	}
	plan.Changes = append(plan.Changes, ddl(2))
	y, err := r.store.Replace(t.Context(), "ann", x.ID, plan)
	if err != nil {
		t.Fatal(err)
	}
	if y.Hash == x.Hash || y.Revision != 2 || y.Replaces != x.ID || len(y.Stages[0].Approved) != 0 {
		t.Fatalf("%+v", y)
	}
	if old := r.state(x.ID, StateCanceled); old.ReplacedBy != y.ID {
		t.Fatalf("%+v", old)
	}
	r.refused(r.store.Start(t.Context(), "ann", x.ID))
	r.must(r.store.Start(t.Context(), "ann", y.ID))
	r.want(y.ID, "prod/a/1 PENDING", "prod/a/2 PENDING")
	r.must(r.store.Approve(t.Context(), "bob", y.ID, "prod", ""))
	l := r.claim("prod/a/1")
	r.done(l)
	plan.Changes = append(plan.Changes, ddl(3))
	if _, err := r.store.Replace(t.Context(), "ann", y.ID, plan); err == nil {
		t.Fatal("a rollout that has begun was edited")
	}
	r.done(r.claim("prod/a/2"))
}

func TestIdempotentCreate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	plan := Plan{Name: "p", Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}, Parallel: 3}
	x, err := r.store.Create(t.Context(), "ann", plan, "key")
	if err != nil {
		t.Fatal(err)
	}
	y, err := r.store.Create(t.Context(), "ann", plan, "key")
	if err != nil || y.ID != x.ID {
		t.Fatal(y.ID, err)
	}
	plan.Parallel = 4
	if _, err := r.store.Create(t.Context(), "ann", plan, "key"); err == nil {
		t.Fatal("another plan under the same key")
	}
}

func TestRunAt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	x := r.create(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(1)}, RunAt: &at})
	r.want(x.ID, "test/a/1 NOT_STARTED")
	r.must(r.store.Start(t.Context(), "ann", x.ID))
	if got := r.task(x.ID, "test/a/1"); got.Status != Pending || got.Cause != "not before "+at.UTC().Format("2006-01-02 15:04:05 UTC") {
		t.Fatalf("%+v", got)
	}
	r.must(r.store.Pause(t.Context(), "ann", x.ID, ""))
	r.exec(`select weir.tend(at => $1)`, at.Add(time.Second))
	r.want(x.ID, "test/a/1 PENDING") // its time has come, and it is still kept
	r.must(r.store.Resume(t.Context(), "ann", x.ID))
	r.exec(`select weir.tend(at => $1)`, at.Add(time.Second))
	r.want(x.ID, "test/a/1 AVAILABLE")
	r.must(r.store.Abort(t.Context(), "ann", x.ID, ""))
}

// The limit of a rollout goes with its job, and is there again when a task is retried.
func TestLimitComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b", "c")
	x := r.started(Plan{Stages: []Stage{{Name: "test", OnFailure: OnFailureContinue}}, Changes: []script.Change{ddl(1)}, Parallel: 1})
	for _, key := range []string{"test/a/1", "test/b/1", "test/c/1"} {
		r.fail(r.claim(key), "sql")
	}
	r.state(x.ID, StateFailed)
	if _, err := r.leads().tick(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	var pools int
	r.scan(&pools, `select count(*) from weir.pools`)
	if pools != 0 {
		t.Fatalf("%d pools are left", pools)
	}
	for _, key := range []string{"test/a/1", "test/b/1"} {
		r.must(r.store.Retry(t.Context(), "ann", r.task(x.ID, key).ID))
	}
	r.open()
	r.want(x.ID, "test/a/1 AVAILABLE", "test/b/1 PENDING", "test/c/1 FAILED")
	if got := r.task(x.ID, "test/b/1").Cause; got != "waits for room: at most 1 run of this rollout at once" {
		t.Fatal(got)
	}
}

// Whoever gets round the refusal and releases a held task opens no gate of the rollout.
func TestReleasedByHand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	r.register("prod", "b")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod"}}, Changes: []script.Change{ddl(1)}})
	r.exec(`with mine as materialized (select weir._act_as_owner('rollout')) select weir.release($1, 'eve') from mine`, r.task(x.ID, "prod/b/1").ID)
	r.open()
	all := r.claims(10)
	if o := r.brief(all["prod/b/1"]); o.code != CodeDrift || !strings.Contains(o.problem, "released the task by hand") {
		t.Fatalf("%+v", o)
	}
	r.fail(all["prod/b/1"], CodeDrift)
	r.done(all["test/a/1"])
}

// A stage goes on when those who must have said yes to the plan that they saw.
func TestAStageNeedsItsApprovals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	x := r.started(r.own("x"))
	r.done(r.claim("test/ax/1"))
	r.done(r.claim("test/ax/2"))
	r.refused(r.store.Promote(t.Context(), "bob", x.ID, "prod"))
	if _, err := r.db.Pool.Exec(t.Context(), `select weir.rollout_approve($1, 'prod', 'bob', hash => 'another')`, x.ID); err == nil || problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("the approval of another plan: %v", err)
	}
	r.refused(r.store.Promote(t.Context(), "bob", x.ID, "prod"))
	r.must(r.store.Approve(t.Context(), "bob", x.ID, "prod", ""))
	r.must(r.store.Promote(t.Context(), "bob", x.ID, "prod"))
}

// The last look before a run: what it depended on is as it was when the plan was made.
func TestARunLooksAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	x := r.create(Plan{Name: "x", Stages: []Stage{{Name: "all", Databases: []string{"a"}, Approvals: 1}}, Changes: []script.Change{ddl(1)}})
	r.must(r.store.Approve(t.Context(), "bob", x.ID, "all", ""))
	r.must(r.store.Start(t.Context(), "ann", x.ID))
	l := r.claim("all/a/1")
	for change, says := range map[string]string{
		`select`: "",
		`update weir.rollouts set plan = plan || '{"parallel": 9}'`:     "not the one that was frozen",
		`update weir.databases set environment = 'prod'`:                "belongs to environment prod",
		`update weir.changes set sql = 'drop table t1'`:                 "not the one of its checksum",
		`delete from weir.rollout_approvals`:                            "has 0 of 1 approvals",
		`update weir.rollouts set aborted_at = now(), aborted_by = 'x'`: "was aborted",
	} {
		tx, err := r.db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), change); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		var problem string
		if err := tx.QueryRow(t.Context(), `select coalesce(problem, '') from weir.rollout_brief($1, $2, $3)`, l.task, l.attempt, l.token).Scan(&problem); err != nil {
			t.Fatal(err)
		}
		if problem == "" != (says == "") || !strings.Contains(problem, says) {
			t.Errorf("%s: %q, want %q", change, problem, says)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.done(l)
}
