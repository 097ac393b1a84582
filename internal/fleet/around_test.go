package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// A command around a run is refused where it is given, with its field, by the program and by
// the SQL alike.
func TestCommandsAroundARunAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	for field, text := range map[string]string{
		"setup.argv":      `"setup": {"argv": []}`,
		"cleanup.argv":    `"cleanup": {"argv": [""]}`,
		"setup.timeout":   `"setup": {"argv": ["x"], "timeout": "2h"}`,
		"cleanup.timeout": `"cleanup": {"argv": ["x"], "timeout": "500ms"}`,
		"setup.shell":     `"setup": {"argv": ["x"], "shell": true}`,
	} {
		whole := fmt.Sprintf(`{"run": {"argv": ["x"]}, "target": {"all": true}, %s}`, text)
		_, err := ParseSpec([]byte(whole))
		if p := r.refused(problem.Invalid, err); p.Field != field {
			t.Errorf("%s: the program blames %s", text, p.Field)
		}
		_, err = r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', $1)`, whole)
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: the SQL says %v", text, err)
		}
	}
	_, err := r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('x', '{"run": {"argv": ["x"], "cleanup": {"argv": ["x"]}}, "target": {"all": true}}')`)
	if err == nil || !strings.Contains(err.Error(), "beside run") && !strings.Contains(err.Error(), "fields of the job") {
		t.Errorf("a clean-up inside run: %v", err)
	}
}

// The lease of a run lasts as long as its commands and itself, on each attempt. An agent gets
// the commands with the run.
func TestTheTimeOfCommandsIsAdded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 1)...)
	id := r.submit("around", func(s *Spec) {
		s.Timeout, s.Setup = node.Span(time.Minute), &node.Command{Argv: []string{"up"}, Timeout: node.Span(20 * time.Second)}
		s.Cleanup = &node.Command{Argv: []string{"down"}}
	})
	for attempt := 1; attempt <= 2; attempt++ {
		l := r.claim("PC-01", 1)[0]
		var got string
		r.scan(&got, `select concat_ws(' ', r.attempt, r.deadline - r.claimed_at, q.timeout, q.run #>> '{setup,argv,0}', q.run #>> '{cleanup,argv,0}')
			from weir.running r join weir.tasks q on q.id = r.task`)
		r.want("the lease", got, fmt.Sprintf("%d 00:06:30 00:06:30 up down", attempt))
		r.fail(l)
		r.wait(5 * time.Minute)
	}
	r.units(id, "1 retrying")
	if all, after := (node.Around{Setup: &node.Command{Timeout: node.Span(20 * time.Second)}, Cleanup: &node.Command{}}).Span(); all != 330*time.Second || after != 310*time.Second {
		t.Errorf("the agent counts %s and %s", all, after)
	}
}

// A failed clean-up makes the device suspect when the lease ends, although the run on it
// succeeded. Only the holder of the lease can say so, and the next attempt begins clean.
func TestAFailedCleanUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	r.submit("first", func(s *Spec) { s.Attempts = 3 })
	list := r.claim("PC-01", 2)
	unclean := func(l lease, token any, want string) {
		t.Helper()
		r.answer(want, `select weir.fleet_unclean($1, $2, $3, 'the app is still there')`, l.Task, l.Attempt, token)
	}
	unclean(list[0], list[1].Task, "lease_lost")
	r.want("another lease says nothing", r.count(`select count(*) from weir.fleet_units where unclean is not null`), 0)
	unclean(list[0], list[0].Token, "ok")
	r.done(list[0])
	d := r.health("a01", HealthSuspect)
	r.want("the reason", d.HealthNote, "the clean-up after first failed: the app is still there")
	r.want("the evidence", len(d.Evidence), 1)
	unclean(list[0], list[0].Token, "lease_lost")

	unclean(list[1], list[1].Token, "ok")
	r.fail(list[1])
	r.health("a02", HealthSuspect)
	r.wait(time.Minute)
	again := r.claim("PC-01", 1)[0]
	r.want("it is tried again", again.Attempt, 2)
	r.done(again)
	r.health("a02", HealthGood)
}

// A failed clean-up waits for who ends its lease, and for who takes its device out.
func TestACleanUpIsJudgedUnderLocks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("a", 2)...)
	r.submit("first", nil)
	list := r.claim("PC-01", 2)
	l := list[0]
	waited, n := r.behind(`select weir.fail($1, $2, $3, 'x')`, `select count(*) from weir.fleet_unclean($1, $2, $3, 'y') x where x = 'ok'`, l.Task, l.Attempt, l.Token)
	if !waited || n != 0 {
		t.Errorf("it waited for the end of the lease: %v, and was taken %d times", waited, n)
	}
	l = list[1]
	r.answer("ok", `select weir.fleet_unclean($1, $2, $3, 'y')`, l.Task, l.Attempt, l.Token)
	waited, _ = r.behind(`select weir.device_quarantine('a02', 'ann', 'broken ' || $1::uuid || $2::int || $3::uuid)`, `select count(*) from weir.fail($1, $2, $3, 'x')`, l.Task, l.Attempt, l.Token)
	if !waited {
		t.Error("it did not wait for the command")
	}
	r.health("a02", HealthQuarantined)
}
