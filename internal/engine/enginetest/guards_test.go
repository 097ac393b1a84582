package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// waits plays two calls in two transactions and says whether the second waits
// for the first to commit. Both must work.
func (e *engine) waits(first, second string) bool {
	e.Helper()
	s := e.newSessions(2)
	for _, sql := range []string{"begin", first} {
		s[0].send(sql)
		if err := s[0].result(); err != nil {
			e.Fatalf("%s: %v", sql, err)
		}
	}
	s[1].send(second)
	waited := !s[1].ready()
	s[0].send("commit")
	if err := s[0].result(); err != nil {
		e.Fatal(err)
	}
	if err := s[1].result(); err != nil {
		e.Fatalf("%s: %v", second, err)
	}
	return waited
}

// literal is a time of the test's clock in a statement.
func literal(sec float64) string {
	return "timestamptz '" + at(sec).Format("2006-01-02T15:04:05Z") + "'"
}

// TestALeaseBelongsToItsNode asks for a live lease in the name of another node.
func TestALeaseBelongsToItsNode(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, n := range []string{"own", "other"} {
		e.exec(`select weir.register_node($1, capacity => '{"s": 9}', at => $2)`, n, at(0))
	}
	e.exec(`select weir.register_worker('w', '{s}', 'own', at => $1)`, at(0))
	l := e.run(1, e.submit(0, spec{"service": "s"}))
	e.exec(`select weir.leased('own', $1, $2, $3)`, l.Task, l.Attempt, l.Token)
	for _, f := range []string{"leased", "inputs"} {
		e.refused("WR410", `select weir.`+f+`('other', $1, $2, $3)`, l.Task, l.Attempt, l.Token)
		e.refused("WR410", `select weir.`+f+`('nowhere', $1, $2, $3)`, l.Task, l.Attempt, l.Token)
	}
	foreign := func(node, token string) int {
		return one[int](e, `select count(*)::int from weir.foreign_leases($1, array[$2::uuid], array[$3::int], array[$4::uuid])`, node, l.Task, l.Attempt, token)
	}
	for node, want := range map[string]int{"own": 0, "other": 1, "nowhere": 1} {
		if got := foreign(node, l.Token); got != want {
			t.Errorf("%d leases are foreign to node %s, want %d", got, node, want)
		}
	}
	// Nobody's lease is not somebody else's: it is refused where it is used.
	if got := foreign("other", "00000000-0000-4000-8000-000000000000"); got != 0 {
		t.Errorf("%d leases with a stale token are foreign", got)
	}
}

// TestALeaseIsNeverCutShort renews a lease for less than it has.
func TestALeaseIsNeverCutShort(t *testing.T) {
	t.Parallel()
	e := start(t)
	l := e.run(0, e.submit(0, spec{"service": "s"}))
	e.exec(`select weir.renew('w', array[$1::uuid], array[$2::int], array[$3::uuid], '1 s', at => $4)`, l.Task, l.Attempt, l.Token, at(1))
	e.exec(`select weir.expire(at => $1)`, at(5))
	e.want(map[string]string{l.Task: "running"})
}

// TestClaimsTakeWhatOthersDoNot has a second worker claim while the first has not
// committed: it waits for nobody and gets the next task.
func TestClaimsTakeWhatOthersDoNot(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.submit(0, spec{"service": "s"})
	e.submit(0, spec{"service": "s"})
	e.exec(`select weir.register_worker(w, '{s}', at => $1) from unnest(array['a', 'b']) w`, at(0))
	if e.waits(`select weir.claim('a', '{s}', at => `+literal(1)+`)`, `select weir.claim('b', '{s}', at => `+literal(1)+`)`) {
		t.Error("a claim waits for another one")
	}
	if n := one[int](e, `select count(distinct worker)::int from weir.running`); n != 2 {
		t.Errorf("%d workers have a task, want 2", n)
	}
}

// TestARepeatedClaimGetsItsOwnLeases repeats a claim of a worker that has other
// leases, too, and of a worker whose claim has the same id as another's.
func TestARepeatedClaimGetsItsOwnLeases(t *testing.T) {
	t.Parallel()
	e := start(t)
	for range 4 {
		e.submit(0, spec{"service": "s"})
	}
	claim := func(worker, id string) string {
		return one[string](e, `select coalesce(string_agg(task::text, ' '), '') from weir.claim($1, '{s}', 1, claim_id => $2, at => $3)`, worker, id, at(1))
	}
	const first, second = "0190a000-0000-7000-8000-000000000001", "0190a000-0000-7000-8000-000000000002"
	claim("a", first)
	own, others := claim("a", second), claim("b", second)
	if own == "" || others == "" || own == others {
		t.Fatalf("two workers got %q and %q", own, others)
	}
	if got := claim("a", second); got != own {
		t.Errorf("the repeat gave %q, want %q", got, own)
	}
	if got := claim("b", second); got != others {
		t.Errorf("the repeat of the other worker gave %q, want %q", got, others)
	}
}

// TestAPausedNodeClaimsNothing asks for work in every mode of a node.
func TestAPausedNodeClaimsNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.register_node('n', capacity => '{"s": 9}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('w', '{s}', 'n', at => $1)`, at(0))
	e.submit(0, spec{"service": "s"})
	for mode, want := range map[string]int{"paused": 0, "draining": 0} {
		e.exec(`select weir.set_node_mode('n', $1, at => $2)`, mode, at(1))
		if got := len(e.claim(2, "w", "s", 1)); got != want {
			t.Errorf("a node that is %s got %d tasks", mode, got)
		}
	}
	e.exec(`select weir.set_node_mode('n', 'active', at => $1)`, at(3))
	if got := len(e.claim(4, "w", "s", 1)); got != 1 {
		t.Errorf("an active node got %d tasks", got)
	}
}

// TestTwoProcessesOfOneName registers one name from two processes at once: one of
// them is refused.
func TestTwoProcessesOfOneName(t *testing.T) {
	t.Parallel()
	e := start(t)
	register := func(holder string) string {
		return fmt.Sprintf(`select weir.register_worker('w', '{s}', holder => '%s', at => %s)`, holder, literal(100))
	}
	e.exec(`select weir.register_worker('w', '{s}', holder => 'gone', at => $1)`, at(0))
	s := e.newSessions(2)
	for _, sql := range []string{"begin", register("one")} {
		s[0].send(sql)
		if err := s[0].result(); err != nil {
			t.Fatal(err)
		}
	}
	s[1].send(register("two"))
	s[0].send("commit")
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	if code := sqlstate(s[1].result()); code != "WR409" {
		t.Errorf("the second process of a name: %q, want WR409", code)
	}
	if got := one[string](e, `select holder from weir.workers where name = 'w'`); got != "one" {
		t.Errorf("the name belongs to %s", got)
	}
}

// TestOneNameWithoutAHolder registers a name that a process has without saying which
// process asks: that is another one, and must not make room for a third. Where
// nobody ever said, as in plain SQL, the name is everybody's as before.
func TestOneNameWithoutAHolder(t *testing.T) {
	t.Parallel()
	e := start(t)
	register := func(name, holder string, sec float64) string {
		_, err := e.Pool.Exec(context.Background(), `select weir.register_worker($1, '{s}', holder => nullif($2, ''), at => $3)`, name, holder, at(sec))
		return sqlstate(err)
	}
	for i, c := range []struct {
		name, holder string
		sec          float64
		want         string
	}{
		{"w", "A", 0, ""},
		{"w", "", 1, "WR409"},
		{"w", "B", 2, "WR409"},
		{"w", "A", 3, ""},
		{"w", "", 34, ""}, // silent for 30 s: the place is free
		{"w", "B", 35, ""},
		{"plain", "", 0, ""},
		{"plain", "", 1, ""},
		{"plain", "A", 2, ""},
	} {
		if got := register(c.name, c.holder, c.sec); got != c.want {
			t.Errorf("%d: %s registers as %q at %v: %q, want %q", i, c.name, c.holder, c.sec, got, c.want)
		}
	}
	e.exec(`select weir.stop_worker('w', at => $1)`, at(36))
	if got := register("w", "", 37); got != "" {
		t.Errorf("after the process has stopped: %q", got)
	}
}

// TestResignEndsOneTerm has an old leader resign late, when it leads again, and
// one resign that does not lead.
func TestResignEndsOneTerm(t *testing.T) {
	t.Parallel()
	e := start(t)
	lead := func(sec float64, who string) bool {
		return one[*string](e, `select weir.lead('coordinator', $1, at => $2)::text`, who, at(sec)) != nil
	}
	if !lead(0, "a") || !lead(20, "b") || !lead(40, "a") {
		t.Fatal("nobody leads")
	}
	e.exec(`select weir.resign('coordinator', 'a', 1)`) // its first term; now it has the third
	e.exec(`select weir.resign('coordinator', 'b', 3)`) // the term of another
	if lead(41, "b") {
		t.Error("a term was ended by somebody else's word")
	}
}

// TestALeaderAddsItsAbsence lets a server lead after others were away. A lease of a node
// that held then gets 30 s to be renewed, also if it has run out. One that was over before
// is over, a worker without a node can renew without a server, after a short absence
// nothing is added, and no other transaction is waited for.
func TestALeaderAddsItsAbsence(t *testing.T) {
	t.Parallel()
	e := start(t)
	lead := func(sec float64, who string) { e.exec(`select weir.lead('coordinator', $1, at => $2)`, who, at(sec)) }
	until := func(task string) string {
		return one[string](e, `select round(extract(epoch from until - $2))::text from weir.running where task = $1`, task, at(0))
	}
	e.exec(`select weir.register_node('n', capacity => '{"s": 9}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('w', '{s}', node => 'n', at => $1)`, at(0))
	claim := func(worker string, sec float64) string {
		task := e.submit(sec, spec{"service": "s"})
		if got := one[string](e, `select task::text from weir.claim($1, '{s}', at => $2)`, worker, at(sec)); got != task {
			t.Fatalf("%s claimed %s, want %s", worker, got, task)
		}
		return task
	}
	lead(0, "a")
	over := claim("w", 1)
	for _, sec := range []float64{14, 28, 42} {
		lead(sec, "a")
	}
	held, locked, alone := claim("w", 43), claim("w", 43), claim("sdk", 43)
	lead(65, "b") // 23 s after a was last there
	if got := until(held); got != "73" {
		t.Errorf("after a short absence the lease ends at %s", got)
	}
	s := e.newSessions(1)
	s[0].send(`begin; update weir.running set started = true where task = '` + locked + `'`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	lead(200, "c") // without a wait for what another transaction holds
	s[0].send(`rollback`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	for task, want := range map[string]string{over: "31", held: "230", locked: "73", alone: "73"} {
		if got := until(task); got != want {
			t.Errorf("the lease of %s ends at %s, want %s", task, got, want)
		}
	}
	if got := one[string](e, `select data ->> 'extended' from weir.events where type = 'leads' order by seq desc limit 1`); got != "1" {
		t.Errorf("the event counts %q", got)
	}
	e.exec(`select weir.tend(at => $1)`, at(205))
	if got := one[int](e, `select count(*) from weir.running`); got != 1 {
		t.Errorf("%d leases are left", got)
	}
}

// TestLocksAreHeld plays pairs of calls of which the second must wait for the
// first: what each reads is true only under that lock.
func TestLocksAreHeld(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	e.submit(0, spec{"service": "s", "pool": "p"})
	job := e.open(0, "job")
	e.add(0, job, spec{"service": "s", "key": "a"})
	planned := one[string](e, `select weir.submit_job('[{"service": "s", "key": "p", "plan": true}]', 'job', at => $1)`, at(0))
	task := one[string](e, `select id from weir.tasks where job = $1`, planned)
	words := strings.NewReplacer("{job}", "'"+job+"'", "{planned}", "'"+planned+"'", "{task}", "'"+task+"'", "{t}", literal(1))
	for _, c := range []struct{ name, first, second string }{
		{"open a pool, resize it", `select weir.open_gates(pools => '{p}', at => {t})`, `select weir.set_pool('p', 2, at => {t})`},
		{"make partitions, make partitions", `select weir.ensure_partitions()`, `select weir.ensure_partitions()`},
		{"make partitions, drop partitions", `select weir.ensure_partitions()`, `select weir.drop_partitions('300 days')`},
		{"join a job, join it", `select weir.add_tasks({job}, '[{"service": "s", "key": "a"}]', at => {t})`, `select weir.add_tasks({job}, '[{"service": "s", "key": "a"}]', at => {t})`},
		{"hold a task, plan it", `select from weir.pending where task = {task} for update`, `select weir.plan_task({task}, '{}', at => {t})`},
	} {
		if !e.waits(words.Replace(c.first), words.Replace(c.second)) {
			t.Errorf("%s: the second did not wait for the first", c.name)
		}
	}
}

// TestATaskIsPlannedUnderItsJobsLock plans a task of a job that somebody else
// has: it waits, and has taken nothing meanwhile.
func TestATaskIsPlannedUnderItsJobsLock(t *testing.T) {
	t.Parallel()
	e := start(t)
	job := one[string](e, `select weir.submit_job('[{"service": "s", "key": "p", "plan": true}]', 'job', at => $1)`, at(0))
	s := e.newSessions(2)
	for _, sql := range []string{"begin", `select from weir.job_live where job = '` + job + `' for update`} {
		s[0].send(sql)
		if err := s[0].result(); err != nil {
			t.Fatal(err)
		}
	}
	s[1].send(`select weir.plan_task(id, '{}', at => ` + literal(1) + `) from weir.tasks where job = '` + job + `'`)
	if s[1].ready() {
		t.Error("a task was planned while somebody else had its job")
	}
	// Whoever waits for the job has no row of it: else two such wait for one another.
	if _, err := e.Pool.Exec(context.Background(), `select from weir.pending where job = $1 for update nowait`, job); err != nil {
		t.Errorf("the row of the task is taken before the job: %v", err)
	}
	s[0].send("commit")
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	if err := s[1].result(); err != nil {
		t.Fatal(err)
	}
}

// TestTheEndOfATaskFreesItsUniqueKey submits again after a success.
func TestTheEndOfATaskFreesItsUniqueKey(t *testing.T) {
	t.Parallel()
	e := start(t)
	u := spec{"service": "s", "unique_key": "nightly"}
	first := e.submit(0, u)
	e.finish(2, e.run(1, first))
	if again := e.submit(3, u); again == first {
		t.Error("the key of a task that is done is not free")
	}
}

// TestTheTailStaysBehindOpenTransactions takes the tail while a transaction has
// written and not committed: what it wrote comes after the tail.
func TestTheTailStaysBehindOpenTransactions(t *testing.T) {
	t.Parallel()
	e := start(t)
	s := e.newSessions(1)
	for _, sql := range []string{"begin", `select weir.submit('slow')`} {
		s[0].send(sql)
		if err := s[0].result(); err != nil {
			t.Fatal(err)
		}
	}
	e.exec(`select weir.submit('fast')`)
	tail := one[string](e, `select weir.events_tail()`)
	s[0].send("commit")
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	e.Settle(t)
	n := one[int](e, `select count(*)::int from weir.events_after($1) x join weir.task q on q.id = x.task where q.service = 'slow'`, tail)
	if n != 1 {
		t.Errorf("%d events of the slow transaction come after the tail, want 1", n)
	}
}

// TestR8EveryMoveHasItsEvent walks a task through each move and reads the event
// that came with it.
func TestR8EveryMoveHasItsEvent(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	e.giveBack(2, e.run(1, id))
	e.failRetry(4, e.run(3, id), 5)
	e.tend(6)
	e.run(7, id)
	e.exec(`select weir.expire(at => $1)`, at(50))
	e.finish(52, e.run(51, id))
	got := one[string](e, `select string_agg(type, ' ' order by seq) from weir.event where task = $1`, id)
	want := "submitted claimed returned claimed retrying opened claimed expired claimed done"
	if got != want {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestTheJobIsLockedBeforeItsTasks sends commands for tasks of a job that somebody
// else has. Each waits for the job and has taken no row of a task meanwhile: else
// two such wait for one another.
func TestTheJobIsLockedBeforeItsTasks(t *testing.T) {
	t.Parallel()
	e := start(t)
	_, ids := e.submitJob(0, spec{"service": "s", "key": "failed", "max_attempts": 1}, spec{"service": "s", "key": "waits", "needs": []string{"failed"}, "rule": "all_done"}, spec{"service": "s", "key": "other", "needs": []string{"waits"}})
	e.fail(2, e.run(1, ids["failed"]), "no")
	job := one[string](e, `select job from weir.tasks where id = $1`, ids["failed"])
	s := e.newSessions(2)
	do := func(i int, sql string) {
		t.Helper()
		s[i].send(sql)
		if err := s[i].result(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, call := range []string{
		`weir.retry('` + ids["failed"] + `', at => ` + literal(3) + `)`,
		`weir.retry_job('` + job + `', at => ` + literal(3) + `)`,
		`weir.skip('` + ids["failed"] + `', 'why not', at => ` + literal(3) + `)`,
		`weir.hold('` + ids["other"] + `', 'me', at => ` + literal(3) + `)`,
		`weir.plan_task('` + ids["other"] + `', '{}', at => ` + literal(3) + `)`,
	} {
		do(0, "begin")
		do(0, `select from weir.job_live where job = '`+job+`' for update`)
		do(1, "begin")
		s[1].send("select " + call)
		if s[1].ready() {
			t.Errorf("%s does not wait for the job", call)
		}
		for _, table := range []string{"pending", "finished"} {
			if _, err := e.Pool.Exec(context.Background(), `select from weir.`+table+` where task = any (array(select id from weir.tasks where job = $1)) for update nowait`, job); err != nil {
				t.Errorf("%s has taken a row of weir.%s before the job: %v", call, table, err)
			}
		}
		do(0, "commit")
		if err := s[1].result(); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		do(1, "rollback")
	}
}

// TestExpiryWaitsForNobody has two look for leases that are over at once.
func TestExpiryWaitsForNobody(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.run(0, e.submit(0, spec{"service": "s"}))
	expire := `select weir.expire(at => ` + literal(60) + `)`
	if e.waits(expire, expire) {
		t.Error("who looks for leases that are over waits for another one that does")
	}
}

// TestAttemptsAreCounted ends attempts in each way and counts which are spent.
func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 2})
	e.run(1, id)
	e.exec(`select weir.expire(at => $1)`, at(40)) // a lost worker spends none
	e.failRetry(42, e.run(41, id), 43)
	e.tend(44)
	e.want(map[string]string{id: "available"})
	e.failRetry(46, e.run(45, id), 47)
	e.want(map[string]string{id: "failed"})

	late := e.submit(0, spec{"service": "late", "timeout": "10 s", "max_attempts": 1})
	l := e.run(50, late)
	e.exec(`select weir.renew('w', array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`, l.Task, l.Attempt, l.Token, at(55))
	e.exec(`select weir.expire(at => $1)`, at(65)) // the lease is alive, the attempt's time is over
	e.want(map[string]string{late: "failed"})

	stopped := e.submit(0, spec{"service": "stopped"})
	l = e.run(70, stopped)
	e.exec(`select weir.cancel($1, at => $2)`, stopped, at(71))
	e.failRetry(72, l, 73)
	e.want(map[string]string{stopped: "canceled"})
}

// TestEachGateAlone shuts each gate by one thing and opens it by its end.
func TestEachGateAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second spec }{
		"an exclusive task behind one that runs": {spec{"lane": "l"}, spec{"lane": "l", "exclusive": true}},
		"one behind an exclusive task":           {spec{"lane": "l", "exclusive": true}, spec{"lane": "l"}},
		"a rank behind a lower one":              {spec{"lane": "l", "rank": 1}, spec{"lane": "l", "rank": 2}},
		"a pool of one":                          {spec{"pool": "p"}, spec{"pool": "p"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
			c.first["service"], c.second["service"] = "s", "s"
			first := e.submit(0, c.first)
			e.tend(1)
			second := e.submit(2, c.second)
			e.tend(3) // the first may start and has not
			e.want(map[string]string{first: "available", second: "pending"})
			l := e.run(4, first)
			e.tend(5)
			e.want(map[string]string{second: "pending"})
			e.finish(6, l)
			e.tend(7)
			e.want(map[string]string{second: "available"})
		})
	}
}

// TestAFailedRankNeedsADecision shuts a ranked lane behind a failure, and an
// exclusive one behind what waits for a pool.
func TestAFailedRankNeedsADecision(t *testing.T) {
	t.Parallel()
	e := start(t)
	first := e.submit(0, spec{"service": "s", "lane": "l", "rank": 1, "max_attempts": 1})
	second := e.submit(0, spec{"service": "s", "lane": "l", "rank": 2})
	e.tend(1)
	e.fail(3, e.run(2, first), "no")
	e.tend(4)
	e.want(map[string]string{second: "pending"})
	e.exec(`select weir.skip($1, 'fine', at => $2)`, first, at(5))
	e.tend(6)
	e.want(map[string]string{second: "available"})

	waits := e.submit(10, spec{"service": "s", "lane": "l2", "rank": 1, "run_at": at(20)})
	behind := e.submit(10, spec{"service": "s", "lane": "l2", "rank": 2})
	e.tend(11)
	e.want(map[string]string{waits: "pending", behind: "pending"})

	e.exec(`select weir.set_pool('p', 0, at => $1)`, at(12))
	beside := e.submit(12, spec{"service": "s", "lane": "l3", "pool": "p"})
	alone := e.submit(12, spec{"service": "s", "lane": "l3", "exclusive": true})
	e.tend(13)
	e.want(map[string]string{beside: "pending", alone: "pending"})
}

// TestAPoolIsDroppedWhenNobodyIsInIt drops a pool while somebody else's task is
// just getting into it.
func TestAPoolIsDroppedWhenNobodyIsInIt(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	s := e.newSessions(2)
	for _, sql := range []string{"begin", `select weir.submit('s', pool => 'p', at => ` + literal(1) + `)`, `select weir.open_gates(pools => '{p}', at => ` + literal(1) + `)`} {
		s[0].send(sql)
		if err := s[0].result(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	s[1].send(`select weir.drop_pool('p', at => ` + literal(2) + `)`)
	s[0].send("commit")
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	if code := sqlstate(s[1].result()); code != "WR409" {
		t.Errorf("a pool with a task in it was dropped: %q, want WR409", code)
	}
}

// TestANodeIsBoundByItsToken registers a node for more than the token said that it
// joined with.
func TestANodeIsBoundByItsToken(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`insert into weir.node_credentials (node, hash, services, created_at) values ('n', sha256('x'), '{"s": 2}', $1)`, at(0))
	e.exec(`select weir.register_node('n', capacity => '{"s": 9, "other": 1}', at => $1)`, at(1))
	if got := one[string](e, `select capacity::text from weir.nodes where name = 'n'`); got != `{"s": 2, "other": 0}` {
		t.Errorf("the node may run %s", got)
	}
}
