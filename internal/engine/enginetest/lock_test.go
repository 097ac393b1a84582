package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

// quoted are words for statements: names and the ids of a test, and the time.
func quoted(sec float64, ids map[string]string) *strings.Replacer {
	pairs := []string{"{t}", literal(sec)}
	for name, id := range ids {
		pairs = append(pairs, "{"+name+"}", "'"+id+"'")
	}
	return strings.NewReplacer(pairs...)
}

// TestWhatIsReadIsLocked plays pairs of calls of which the second must see what the
// first is about to commit: what it decides would be wrong otherwise.
func TestWhatIsReadIsLocked(t *testing.T) {
	t.Parallel()
	e := start(t)
	ids := map[string]string{"run": e.submit(0, spec{"service": "s"}), "queued": e.open(0, "queued")}
	e.exec(`update weir.job_live set due = $2 where job = $1`, ids["queued"], at(1000))
	e.run(1, ids["run"])
	for _, n := range []string{"held", "bound", "sleeps"} {
		e.exec(`select weir.register_node($1, capacity => '{"n": 9}', at => $2)`, n, at(0))
	}
	e.exec(`select weir.register_worker('h', '{n}', 'held', at => $1)`, at(0))
	e.submit(1, spec{"service": "n"})
	e.exec(`insert into weir.node_credentials (node, hash, created_at, services) values ('bound', sha256('bound'), $1, '{"n": 9}')`, at(0))
	e.exec(`select weir.set_wake('sleeps', 'http', '{"url": "http://localhost/wake"}', at => $1)`, at(0))
	e.exec(`select weir.set_schedule('nightly', '@daily', '{"service": "s"}', $1, at => $2)`, at(5000), at(0))
	_, planned := e.submitJob(0, spec{"service": "s", "key": "p", "plan": true})
	ids["plan"] = planned["p"]
	e.Play(t, quoted(100, ids),
		testdb.Overlap{
			Name:   "two cancel what runs",
			First:  `select weir.cancel({run}, at => {t})`,
			Second: `select weir.cancel({run}, at => {t})`,
			Then:   `select count(*) = 1 from weir.events where task = {run} and type = 'cancel_requested'`,
		},
		testdb.Overlap{
			Name:   "a node claims, it is dropped",
			First:  `select weir.claim('h', '{n}', at => {t})`,
			Second: `select weir.drop_node('held', at => {t})`,
			Code:   "WR409",
		},
		testdb.Overlap{
			Name:   "a node may do less, it registers",
			First:  `select weir.set_node('bound', capacity => '{"n": 1}', at => {t})`,
			Second: `select weir.register_node('bound', capacity => '{"n": 9}', at => {t})`,
			Then:   `select capacity = '{"n": 1}' from weir.nodes where name = 'bound'`,
		},
		testdb.Overlap{
			Name:   "two wake a node",
			First:  `select weir.note_wake('sleeps', 'waking', at => {t})`,
			Second: `select weir.note_wake('sleeps', 'waking', at => {t})`,
			Then:   `select wake_tries = 1 from weir.nodes where name = 'sleeps'`,
		},
		testdb.Overlap{
			Name:   "a job is built, it is put off",
			First:  `select weir.add_tasks({queued}, '[{"service": "s", "key": "only"}]', at => {t})`,
			Second: `select weir.reschedule_job({queued}, {t} + interval '1 h', at => {t})`,
			Code:   "WR409",
		},
		testdb.Overlap{
			Name:   "two change the schedule that both have read",
			First:  `select weir.set_schedule('nightly', '@hourly', '{"service": "s"}', {t}, at => {t})`,
			Second: `select weir.set_schedule('nightly', '@weekly', '{"service": "s"}', {t}, seen => (select changed_at from weir.schedules where name = 'nightly'), at => {t})`,
			Code:   "WR409",
		},
		testdb.Overlap{
			Name:   "who plans a task has its row",
			First:  `select weir._lock_at_plan({plan})`,
			Second: `select from weir.pending where task = {plan} for update`,
		},
	)
}

// TestLocksAreTakenInOrder has somebody hold what a call needs first. It waits, and has
// not taken yet what comes later: else two such wait for one another.
func TestLocksAreTakenInOrder(t *testing.T) {
	t.Parallel()
	e := start(t)
	_, ids := e.submitJob(0, spec{"service": "s", "key": "a"}, spec{"service": "x", "key": "b", "needs": []string{"a"}}, spec{"service": "x", "key": "c", "needs": []string{"a"}})
	a := e.run(1, ids["a"])
	e.exec(`select weir.register_node('n', at => $1)`, at(0))
	e.exec(`insert into weir.node_credentials (node, hash, created_at) values ('n', sha256('n'), $1)`, at(0))
	for _, name := range []string{"b", "a"} {
		e.exec(`select weir.set_schedule($1, '@daily', '{"service": "s"}', $2, at => $2)`, name, at(0))
	}
	e.Play(t, quoted(100, ids),
		testdb.Overlap{
			Name:   "schedules by name",
			First:  `select from weir.schedules where name = 'a' for update`,
			Second: `select weir.fire_schedules((select jsonb_agg(jsonb_build_object('name', n, 'was', ` + literal(0) + `, 'due', array[` + literal(0) + `], 'next_at', {t})) from unnest(array['b', 'a']) n), at => {t})`,
			Free:   `select from weir.schedules where name = 'b' for update nowait`,
		},
		testdb.Overlap{
			Name:   "dependents before their edges",
			First:  `select from weir.pending where task = {b} for update`,
			Second: fmt.Sprintf(`select weir.finish('%s', %d, '%s', at => {t})`, a.Task, a.Attempt, a.Token),
			Free:   `select from weir.edges where need = {a} for update nowait`,
		},
		testdb.Overlap{
			Name:   "a credential before its node",
			First:  `select from weir.node_credentials where node = 'n' for update`,
			Second: `select weir.drop_node('n', at => {t})`,
			Free:   `select from weir.nodes where name = 'n' for update nowait`,
		},
	)
	// Jobs by id, whatever the order of their tasks in the call.
	var jobs, tasks, attempts, tokens []string
	for range 6 {
		job, ids := e.submitJob(2, spec{"service": "many", "key": "k"})
		jobs = append(jobs, job)
		l := e.run(3, ids["k"])
		tasks, attempts, tokens = append(tasks, l.Task), append(attempts, fmt.Sprint(l.Attempt)), append(tokens, l.Token)
	}
	slices.Sort(jobs)
	for i, job := range jobs[:5] {
		e.Play(t, quoted(4, nil), testdb.Overlap{
			Name:   fmt.Sprintf("job %d of many", i),
			First:  `select from weir.job_live where job = '` + job + `' for update`,
			Second: fmt.Sprintf(`select weir.finish_many('{%s}', '{%s}', '{%s}', at => {t})`, strings.Join(tasks, ","), strings.Join(attempts, ","), strings.Join(tokens, ",")),
			Free:   `select from weir.job_live where job = any ('{` + strings.Join(jobs[i+1:], ",") + `}') for update nowait`,
		})
	}
}

// TestWhoTendsWaitsForNobody has somebody hold what a pass would move. The pass leaves it
// and goes on.
func TestWhoTendsWaitsForNobody(t *testing.T) {
	t.Parallel()
	e := start(t)
	ids := map[string]string{"due": e.submit(0, spec{"service": "s", "run_at": at(10)}), "run": e.submit(0, spec{"service": "r"})}
	e.run(1, ids["run"])
	chain := []spec{{"service": "c", "key": "0", "max_attempts": 1}}
	for i := range 110 {
		chain = append(chain, spec{"service": "c", "key": fmt.Sprint(i + 1), "needs": []string{fmt.Sprint(i)}})
	}
	job, steps := e.submitJob(0, chain...)
	ids["chain"] = job
	e.fail(2, e.run(1, steps["0"]), "no")
	ids["canceled"], _ = e.submitJob(0, spec{"service": "x", "run_at": at(5000)})
	e.exec(`update weir.job_live set cancel_at = $2 where job = $1`, ids["canceled"], at(3))
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	const untouched = `not exists (select from weir.set_aside)`
	e.Play(t, quoted(20, ids),
		testdb.Overlap{
			Name: "a chain of a job", Passes: true,
			First:  `select from weir.job_live where job = {chain} for update`,
			Second: `select weir.tend(at => {t} - interval '15 s')`,
			Then:   `select exists (select from weir.unsettled where job = {chain}) and ` + untouched,
		},
		testdb.Overlap{
			Name: "a task that is due", Passes: true,
			First:  `select from weir.pending where task = {due} for update`,
			Second: `select weir.tend(at => {t})`,
			Then:   `select gate = 'time' and ` + untouched + ` from weir.pending where task = {due}`,
		},
		testdb.Overlap{
			Name: "this task that is due", Passes: true,
			First:  `select from weir.pending where task = {due} for update`,
			Second: `select weir._open_due(1, {t}, {due})`,
		},
		testdb.Overlap{
			Name: "what is left of a canceled job", Passes: true,
			First:  `select from weir.job_live where job = {canceled} for update`,
			Second: `select weir.tend(true, at => {t})`,
			Then:   `select exists (select from weir.pending where job = {canceled})`,
		},
		testdb.Overlap{
			Name: "a key that was left", Passes: true,
			First:  `select weir._defer_keys(false, '{p}', {t}); commit; begin; select weir._hold_keys('{p}', false)`,
			Second: `select weir.tend(at => {t})`,
			Then:   `select bool_and(busy) from weir.left_keys where key = 'p'`,
		},
		testdb.Overlap{
			Name: "a lane that was left", Passes: true,
			First:  `select weir._defer_keys(true, '{p}', {t}); commit; begin; select weir._hold_keys('{p}', true)`,
			Second: `select weir.tend(at => {t})`,
			Then:   `select bool_and(busy) from weir.left_keys where lane and key = 'p'`,
		},
		testdb.Overlap{
			Name: "another one who tends", Passes: true,
			First:  `select pg_advisory_xact_lock(86, 0)`,
			Second: `select weir.tend(true, at => {t} + interval '1 s')`,
			Then:   `select exists (select from weir.pending where job = {canceled})`,
		},
		testdb.Overlap{
			Name: "a lease that is just ending", Passes: true,
			First:  `select from weir.running where task = {run} for update`,
			Second: `select weir._ask_to_stop(array[{run}]::uuid[], 'me', 'enough', true, {t})`,
		},
	)
	for range 5 {
		e.tend(21)
	}
	e.want(map[string]string{ids["due"]: "available", steps["110"]: "skipped"})
}

// TestOneTakesTheHorizon has somebody use the horizon while another one would take it.
func TestOneTakesTheHorizon(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select setval('weir.order_seq', 5000)`)
	e.Play(t, quoted(0, nil), testdb.Overlap{
		Name: "raise floors, take the horizon", Passes: true,
		First:  `select pg_advisory_xact_lock(86, 1)`,
		Second: `select weir._take_horizon()`,
		Then:   `select xid = 0 from weir.horizon`,
	})
	late := e.transaction()
	in[string](e, late, `select pg_current_xact_id()::text`)
	in[string](e, late, `select weir._take_horizon()::text`)
	if !in[bool](e, late, `select xid = 0 from weir.horizon`) {
		t.Error("who has an id already takes the horizon: a number may be drawn by a newer one")
	}
	e.commit(late)
	e.exec(`select weir._take_horizon()`)
	if one[bool](e, `select xid = 0 from weir.horizon`) {
		t.Error("nobody takes the horizon")
	}
}
