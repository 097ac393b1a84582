package rollout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/testdb"
)

// own is the plan of twoStages for databases of its own.
func (r *rig) own(name string) Plan {
	r.Helper()
	r.register("test", "a"+name, "b"+name)
	p := twoStages()
	p.Name, p.Stages[0].Databases, p.Stages[1].Databases = name, []string{"a" + name}, []string{"b" + name}
	return p
}

// A command about a rollout waits for whoever has its job, and has taken nothing of the
// rollout meanwhile: else two such wait for one another.
func TestTheJobIsLockedBeforeItsRollout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ready := r.started(r.own("ready"))
	r.done(r.claim("test/aready/1"))
	r.done(r.claim("test/aready/2"))
	r.must(r.store.Approve(t.Context(), "bob", ready.ID, "prod", ""))
	lost := r.started(r.own("lost"))
	l := r.claim("test/alost/1")
	r.lose(l, "sent")
	approved := r.create(r.own("approved"))
	r.must(r.store.Approve(t.Context(), "bob", approved.ID, "prod", ""))
	paused := r.started(r.own("paused"))
	r.must(r.store.Pause(t.Context(), "bob", paused.ID, ""))
	created, started := r.create(r.own("created")), r.started(r.own("started"))

	for _, c := range []struct {
		id                       weir.ID
		name, call, table, where string
	}{
		{created.ID, "start", `rollout_start({id}, 'bob')`, "rollouts", "job"},
		{created.ID, "approve", `rollout_approve({id}, 'prod', 'bob')`, "rollout_approvals", "rollout"},
		{approved.ID, "revoke", `rollout_revoke({id}, 'prod', 'bob')`, "rollout_approvals", "rollout"},
		{ready.ID, "promote", `rollout_promote({id}, 'prod', 'bob')`, "rollout_stages", "rollout"},
		{started.ID, "pause", `rollout_pause({id}, 'bob')`, "rollouts", "job"},
		{paused.ID, "resume", `rollout_resume({id}, 'bob')`, "rollouts", "job"},
		{lost.ID, "applied", fmt.Sprintf(`rollout_resolve('%s', true, 'seen', 'bob')`, l.task), "rollout_runs", "task in (select x.task from weir.rollout_tasks x where x.rollout = {id}) and {id}"},
		{lost.ID, "not applied", fmt.Sprintf(`rollout_resolve('%s', false, 'seen', 'bob')`, l.task), "rollout_runs", "task in (select x.task from weir.rollout_tasks x where x.rollout = {id}) and {id}"},
	} {
		r.db.Play(t, strings.NewReplacer("{id}", "'"+c.id.String()+"'::uuid"), testdb.Overlap{
			Name:   c.name,
			First:  `select from weir.job_live where job = {id} for update`,
			Second: `select weir.` + c.call,
			Free:   `select from weir.` + c.table + ` where ` + c.where + ` = {id} for update nowait`,
		})
	}
}

// A lease does not end while its run is written down: whoever ends it sees how far it came.
func TestALeaseLastsUntilItsRunIsWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.started(r.own("x")).ID
	l := r.claim("test/ax/1")
	r.brief(l)
	words := strings.NewReplacer("{lease}", fmt.Sprintf("'%s', %d, '%s'", l.task, l.attempt, l.token), "{task}", "'"+l.task.String()+"'")
	for _, call := range []string{`rollout_phase({lease}, 'sent')`, `rollout_ended({lease}, 'sql')`} {
		r.db.Play(t, words, testdb.Overlap{Name: call, First: `select weir.` + call, Second: `delete from weir.running where task = {task}`})
	}
	r.must(r.store.Abort(t.Context(), "bob", id, ""))
}

// The sweep waits for nobody: whoever has the job of a rollout settles it.
func TestTheSweepWaitsForNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.create(r.own("x")).ID
	r.exec(`update weir.pending set hold = 'wrong', hold_reason = null where job = $1`, id)
	r.db.Play(t, strings.NewReplacer("{id}", "'"+id.String()+"'"), testdb.Overlap{
		Name:   "command, sweep",
		Passes: true,
		First:  `select from weir.job_live where job = {id} for update`,
		Second: `select weir.rollout_sweep()`,
		Then:   `select bool_and(hold = 'wrong') from weir.pending where job = {id}`,
	})
	r.exec(`select weir.rollout_sweep()`)
}

// A rollout that starts keeps higher versions of its databases waiting. Whoever opens one
// of their lanes at this moment has done so before, or sees its ranks.
func TestAStartWaitsForWhoOpensItsLanes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a")
	// Nothing of it may run yet, so that starting it opens nothing.
	id := r.create(Plan{Name: "x", Stages: []Stage{{Name: "all", Databases: []string{"a"}, Approvals: 1}}, Changes: []script.Change{ddl(1)}}).ID
	r.db.Play(t, strings.NewReplacer("{id}", "'"+id.String()+"'"), testdb.Overlap{
		Name:   "open a lane, start",
		First:  `select weir._hold_keys(array[lane], true) from weir.tasks where job = {id}`,
		Second: `select weir.rollout_start({id}, 'bob')`,
	})
}

// What is said of a database is said of the row as it is.
func TestDatabasesAreJudgedUnderTheirLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "moved")
	if err := r.vault.Put(t.Context(), "ann", secretFor("shared"), nowhere("postgres", 1), ""); err != nil {
		t.Fatal(err)
	}
	r.exec(`select weir.rollout_put_database('shared', 'postgres', 'test', $1)`, secretFor("shared"))
	r.db.Play(t, strings.NewReplacer("{secret}", "'"+secretFor("shared")+"'"),
		testdb.Overlap{
			Name:   "it gets another address, a look at the old one ends",
			First:  `select weir.rollout_put_database('moved', 'postgres', 'test', 'NONE', moved => true)`,
			Second: `select weir.rollout_checked('moved', 'old', 'x', seen => (select changed_at from weir.databases where name = 'moved'))`,
			Then:   `select identity is null from weir.databases where name = 'moved'`,
		},
		testdb.Overlap{
			Name:   "another one takes its secret, it is dropped",
			First:  `select weir.rollout_put_database('second', 'postgres', 'test', {secret})`,
			Second: `select weir.rollout_drop_database('shared')`,
			Then:   `select exists (select from weir.secrets where name = {secret})`,
		},
	)
}
