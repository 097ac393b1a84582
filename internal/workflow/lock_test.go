package workflow

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testdb"
)

// Transactions that store, delete and open run one after the other, and the later one
// sees what the earlier one did.
func TestWorkflowsAreStoredOneByOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.put("name: w\nsteps: [{key: a, service: s}]")
	words := strings.NewReplacer("{w}", "'"+w.ID.String()+"'",
		"{id}", "'"+r.text(`select weir._id(clock_timestamp())::text`)+"'", "{seq}", r.text(`select nextval('weir.order_seq')::text`))
	r.db.Play(t, words,
		testdb.Overlap{
			Name:   "two insert the same job",
			First:  `insert into flow.jobs (id, workflow_id) values ({id}, {w})`,
			Second: `insert into flow.jobs (id, workflow_id) values ({id}, {w})`,
			Then:   `select count(*) = 1 from weir.jobs where id = {id}`,
		},
		testdb.Overlap{
			Name:   "two insert the same place in the order",
			First:  `insert into flow.jobs (order_seq, workflow_id) values ({seq}, {w})`,
			Second: `insert into flow.jobs (order_seq, workflow_id) values ({seq}, {w})`,
			Code:   "WR422",
		},
		testdb.Overlap{
			Name:   "two put a new version",
			First:  `select weir.put_workflow('x', '{"steps": [{"key": "a"}]}')`,
			Second: `select weir.put_workflow('x', '{"steps": [{"key": "b"}]}')`,
			Then:   `select max(version) = 2 from weir.workflows where name = 'x'`,
		},
		testdb.Overlap{
			Name:   "one puts a new version, one deletes all",
			First:  `select weir.put_workflow('x', '{"steps": [{"key": "c"}]}')`,
			Second: `select weir.drop_workflow('x')`,
			Then:   `select bool_and(deleted_at is not null) from weir.workflows where name = 'x'`,
		},
	)
}

// Two leaders at once give a job its tasks once: the second waits and finds it built.
func TestAJobIsBuiltOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`select weir.submit('s')`) // else the second would wait for the class of the service
	job := r.text(`select weir.open_job('j')::text`)
	build := `select weir.workflow_build('[{"job": "` + job + `", "tasks": [{"key": "a", "service": "s"}], "params": {}}]')`
	r.db.Play(t, strings.NewReplacer("{job}", "'"+job+"'"), testdb.Overlap{
		Name:   "two build the same job",
		First:  build,
		Second: `select 1 / (1 - built) from (` + build + `) x (built)`, // fails unless it has built nothing
		Then:   `select count(*) = 1 from weir.tasks where job = {job}`,
	})
}

// The leader locks the jobs of all tasks that it is about to move before it moves
// anything, or else the leader could deadlock with a finish that touches several of them.
func TestJobsAreLockedBeforeTheyArePlanned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now().Add(-time.Minute)
	// The tasks are in another order than their jobs.
	var first, second string
	for i, job := range []*string{&first, &second} {
		*job = r.text(`select weir.open_job('j', at => $1)::text`, now.Add(time.Duration(i)*time.Second))
	}
	tasks := map[string]string{}
	for i, job := range []string{second, first} {
		r.exec(`select weir.add_tasks($1, '[{"service": "nobody", "key": "waits"}, {"service": "s", "key": "plan", "plan": true}]', at => $2)`, job, now.Add(time.Duration(i+2)*time.Second))
		tasks[job] = r.text(`select id::text from weir.tasks where job = $1 and key = 'plan'`, job)
	}
	r.exec(`insert into weir.patience (task, fail) select id, '1 s' from weir.tasks where key = 'waits'`)
	words := strings.NewReplacer("{first}", "'"+first+"'", "{second}", "'"+second+"'", "{of first}", "'"+tasks[first]+"'", "{of second}", "'"+tasks[second]+"'")
	r.db.Play(t, words,
		testdb.Overlap{
			Name:   "patience",
			First:  `select from weir.job_live where job = {first} for update`,
			Second: `select weir.workflow_patience()`,
			Free:   `select from weir.job_live where job = {second} for update nowait`,
		},
		testdb.Overlap{
			Name:  "plan",
			First: `select from weir.job_live where job = {second} for update`,
			Second: `select weir.workflow_plan(jsonb_build_array(jsonb_build_object('task', {of first}, 'job', {first}, 'do', 'plan', 'params', '{}'::jsonb),
				jsonb_build_object('task', {of second}, 'job', {second}, 'do', 'plan', 'params', '{}'::jsonb)))`,
			Free: `select from weir.pending where task = {of first} for update nowait`,
		},
	)
}

// A unique index keeps a version from being stored twice, even if code forgets to check.
func TestAVersionIsThereOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps: [{key: a, service: s}]")
	_, err := r.db.Pool.Exec(t.Context(), `insert into weir.workflows select (jsonb_populate_record(w, jsonb_build_object('id', gen_random_uuid()))).* from weir.workflows w`)
	if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "23505" {
		t.Errorf("a second one: %v, want a unique violation", err)
	}
}
