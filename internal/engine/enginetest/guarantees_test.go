package enginetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestR2NoTaskIsLost cuts connections in the middle of claims and finishes, and
// has workers claim and never come back. Every task that was acknowledged still
// ends.
func TestR2NoTaskIsLost(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'max_attempts', 100))) from generate_series(1, 200)`)
	for i := range 20 {
		conn := e.connect()
		ctx := context.Background()
		if _, err := conn.Exec(ctx, `begin`); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, `select weir.finish(c.task, c.attempt, c.token) from weir.claim($1, '{s}', 5) c`, fmt.Sprintf("w%d", i)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			e.exec(`select pg_terminate_backend($1)`, conn.PgConn().PID())
		} else if _, err := conn.Exec(ctx, `commit`); err != nil {
			t.Fatal(err)
		}
	}
	e.exec(`select count(*) from weir.claim('gone', '{s}', 20, lease => '1 us')`)
	if n := one[int](e, `select weir.expire()`); n != 20 {
		t.Errorf("%d leases ran out, want 20", n)
	}
	e.drain("s")
	if n := one[int](e, `select count(*)::int from weir.task where state = 'done'`); n != 200 {
		t.Errorf("%d of 200 tasks are done", n)
	}
}

// TestR3OneLeasePerTask has eight workers claim from the same backlog at once:
// no task is given to two, and none is left.
func TestR3OneLeasePerTask(t *testing.T) {
	t.Parallel()
	e := start(t)
	const tasks = 400
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'priority', i % 5)), false, $1) from generate_series(1, $2::int) i`, at(0), tasks)
	pool := e.widePool(8)
	var everyone sync.WaitGroup
	var mu sync.Mutex
	owners := map[string][]string{}
	for i := range 8 {
		everyone.Go(func() {
			for {
				got, err := ask[lease](pool, `select task, attempt, token from weir.claim($1, '{s}', 7, at => $2)`, fmt.Sprintf("w%d", i), at(1))
				if err != nil {
					t.Error(err)
				}
				if len(got) == 0 && one[int](e, `select count(*)::int from weir.available`) == 0 {
					return
				}
				mu.Lock()
				for _, l := range got {
					owners[l.Task] = append(owners[l.Task], fmt.Sprintf("w%d", i))
				}
				mu.Unlock()
			}
		})
	}
	everyone.Wait()
	for task, who := range owners {
		if len(who) != 1 {
			t.Errorf("%s was leased to %v", task, who)
		}
	}
	if len(owners) != tasks {
		t.Errorf("%d of %d tasks were leased", len(owners), tasks)
	}
}

// TestR3LostReply repeats a claim whose reply was lost: the same leases again,
// also when the first one is still under way.
func TestR3LostReply(t *testing.T) {
	t.Parallel()
	e := start(t)
	for range 3 {
		e.submit(0, spec{"service": "s"})
	}
	const claim = `select string_agg(task::text, ' ') from weir.claim('w', '{s}', 2, claim_id => '0190a000-0000-7000-8000-000000000001', at => $1)`
	first, again := one[string](e, claim, at(1)), one[string](e, claim, at(2))
	if first == "" || first != again {
		t.Errorf("the claim gave %q, its repeat %q", first, again)
	}
	if n := one[int](e, `select count(*)::int from weir.running`); n != 2 {
		t.Errorf("%d leases, want 2", n)
	}
	s := e.newSessions(2)
	other := strings.ReplaceAll(strings.ReplaceAll(claim, "0001'", "0002'"), "$1", "'"+at(3).Format(time.RFC3339)+"'")
	s[0].send(`begin`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	s[0].send(other)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	s[1].send(other) // waits for the first
	if s[1].ready() {
		t.Error("the repeat of a claim under way did not wait for it")
	}
	s[0].send(`commit`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	if err := s[1].result(); err != nil {
		t.Fatal(err)
	}
	if n := one[int](e, `select count(*)::int from weir.running`); n != 3 {
		t.Errorf("%d leases, want 3", n)
	}
}

// TestR5OneTerminalTransition lets two attempts of one task report. The live one
// wins, its result stays, and there is one terminal event.
func TestR5OneTerminalTransition(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	first := e.run(1, id)
	e.exec(`select weir.expire(at => $1)`, at(40))
	second := e.run(41, id)
	report := func(l lease, from string) string {
		return one[string](e, `select weir.finish($1, $2, $3, jsonb_build_object('from', $4::text), at => $5)`, l.Task, l.Attempt, l.Token, from, at(42))
	}
	if got := report(first, "the ghost"); got != "lease_lost" {
		t.Errorf("the first attempt: %s", got)
	}
	if got := report(second, "the winner"); got != "ok" {
		t.Errorf("the second attempt: %s", got)
	}
	if got := report(first, "the ghost"); got != "lease_lost" {
		t.Errorf("the first attempt, later: %s", got)
	}
	e.refused("WR409", `select weir.cancel($1)`, id)
	if got := one[string](e, `select result ->> 'from' from weir.task where id = $1`, id); got != "the winner" {
		t.Errorf("the result is from %s", got)
	}
	if n := one[int](e, `select count(*)::int from weir.event where task = $1 and type in ('done', 'failed', 'canceled', 'skipped')`, id); n != 1 {
		t.Errorf("%d terminal events", n)
	}
}

// TestR6AtLeastOneRun runs a task with one attempt again when its worker dies
// before it could report: an attempt that nobody heard of is not spent.
func TestR6AtLeastOneRun(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 1})
	e.run(1, id)
	e.exec(`select weir.expire(at => $1)`, at(40))
	e.giveBack(42, e.run(41, id))
	if got := e.finish(44, e.run(43, id)); got != "ok" {
		t.Errorf("finish: %s", got)
	}
}

// TestR9OldEpochIsRefused moves the lead and holds the old leader off.
func TestR9OldEpochIsRefused(t *testing.T) {
	t.Parallel()
	e := start(t)
	lead := func(sec float64, who string) *string {
		return one[*string](e, `select weir.lead('coordinator', $1, at => $2)::text`, who, at(sec))
	}
	is := func(got *string, want string) {
		t.Helper()
		if got == nil && want != "" || got != nil && *got != want {
			t.Errorf("epoch %v, want %q", got, want)
		}
	}
	is(lead(0, "a"), "1")
	is(lead(5, "a"), "1")  // renewed
	is(lead(10, "b"), "")  // a leads until 20
	is(lead(21, "b"), "2") // a was paused
	is(lead(22, "a"), "")
	e.exec(`select weir.fenced('coordinator', 2)`)
	e.refused("WR410", `select weir.fenced('coordinator', 1)`)
	e.exec(`select weir.resign('coordinator', 'a', 1)`) // not its term any more
	is(lead(23, "a"), "")
	e.exec(`select weir.resign('coordinator', 'b', 2)`)
	is(lead(24, "a"), "3")

	// A write of the leader holds the next term off until it has committed.
	s := e.newSessions(2)
	s[0].send(`begin`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	s[0].send(`select weir.fenced('coordinator', 3)`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	s[1].send(`select weir.lead('coordinator', 'b', at => '` + at(100).Format(time.RFC3339) + `')`)
	if s[1].ready() {
		t.Error("a new term began in the middle of a write of the old one")
	}
	s[0].send(`commit`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	if err := s[1].result(); err != nil {
		t.Fatal(err)
	}
}

// TestR9OneLeader has eight candidates ask at once: one term, one leader.
func TestR9OneLeader(t *testing.T) {
	t.Parallel()
	e := start(t)
	pool := e.widePool(8)
	for round := range 20 {
		var everyone sync.WaitGroup
		got := make([]bool, 8)
		for i := range 8 {
			everyone.Go(func() {
				r, err := ask[*string](pool, `select weir.lead('coordinator', $1, at => $2)::text`, fmt.Sprintf("c%d", i), at(float64(round*20)))
				if err != nil {
					t.Error(err)
					return
				}
				got[i] = r[0] != nil
			})
		}
		everyone.Wait()
		n := 0
		for _, leads := range got {
			if leads {
				n++
			}
		}
		if n != 1 {
			t.Errorf("round %d has %d leaders", round, n)
		}
	}
}

// TestR12DrainsWithinTwoLeases loses every worker with its hands full. When the
// faults stop, everything has ended two leases later.
func TestR12DrainsWithinTwoLeases(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 3, at => $1)`, at(0))
	for i := range 30 {
		e.submit(0, spec{"service": "s", "pool": "p"})
		e.submit(0, spec{"service": "s", "lane": fmt.Sprintf("l%d", i%4), "exclusive": true})
		e.submit(0, spec{"service": "s"})
	}
	e.tend(1)
	e.claim(2, "lost", "s", 100)
	for sec := 3.0; sec <= 62; sec++ {
		e.tend(sec)
		e.exec(`select weir.finish(c.task, c.attempt, c.token, at => $1) from weir.claim('well', '{s}', 10, at => $1) c`, at(sec))
	}
	if n := one[int](e, `select count(*)::int from weir.task where state <> 'done'`); n != 0 {
		t.Errorf("%d tasks have not ended two leases later", n)
	}
}

// TestR13HintsAreHints runs gated work with every notification withheld: the
// sweep alone gets it done.
func TestR13HintsAreHints(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1)`)
	e.exec(`select weir.submit_many('[{"service": "s"}, {"service": "s", "pool": "p"}, {"service": "s", "pool": "p"}, {"service": "s", "lane": "l", "exclusive": true}, {"service": "s", "lane": "l", "exclusive": true}]', hint => false)`)
	e.drain("s")
}

// TestR14DatabaseClock makes leases without a time: it is the database's, and
// nobody hands one in.
func TestR14DatabaseClock(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.submit('s')`)
	e.exec(`select weir.claim('w', '{s}')`)
	fits := one[bool](e, `select until > clock_timestamp() + interval '20 s' and until <= clock_timestamp() + interval '30 s' from weir.running`)
	if !fits {
		t.Error("the lease does not end 30 s from now on the database's clock")
	}
	e.exec(`select weir.expire()`)
	if n := one[int](e, `select count(*)::int from weir.running`); n != 1 {
		t.Error("a lease ended before its time")
	}
	// Only the owner of the schema may set another time.
	for role, sql := range map[string]string{"weir_client": `select weir.submit('s', at => now())`, "weir_worker": `select weir.claim('w', '{s}', at => now())`} {
		if _, err := e.as(role).Exec(context.Background(), sql); sqlstate(err) != "WR422" {
			t.Errorf("%s may set the clock: %v", role, err)
		}
	}
}

// TestR15PoisonIsQuarantined ends a task that kills its workers after the third,
// however many attempts it has, and leaves the decision to a person.
func TestR15PoisonIsQuarantined(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 100})
	for i := range 3 {
		e.want(map[string]string{id: "available"})
		e.run(float64(100*i), id)
		e.exec(`select weir.expire(at => $1)`, at(float64(100*i+50)))
	}
	e.want(map[string]string{id: "failed"})
	if got := e.cause(id); !strings.Contains(got, "poison") || !strings.Contains(got, "3 workers") {
		t.Errorf("cause %q", got)
	}
	e.exec(`select weir.retry($1, at => $2)`, id, at(400))
	e.run(401, id)
	e.exec(`select weir.expire(at => $1)`, at(500))
	e.want(map[string]string{id: "available"}) // the count began anew
}

// TestOrphanStop ends a task that must not run again by itself at the first loss.
func TestOrphanStop(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "orphan": "stop"})
	e.run(1, id)
	e.exec(`select weir.expire(at => $1)`, at(50))
	e.want(map[string]string{id: "failed"})
}

// TestNodeCapacity lets two workers of one node claim at once: together they
// never hold more than the node's slots.
func TestNodeCapacity(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.register_node('n', capacity => '{"s": 5}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('w' || i, '{s}', 'n', at => $1) from generate_series(0, 3) i`, at(0))
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's')), false, $1) from generate_series(1, 50)`, at(0))
	pool := e.widePool(4)
	var everyone sync.WaitGroup
	for i := range 4 {
		everyone.Go(func() {
			for range 5 {
				if _, err := pool.Exec(context.Background(), `select weir.claim($1, '{s}', 3, at => $2)`, fmt.Sprintf("w%d", i), at(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	everyone.Wait()
	if n := one[int](e, `select count(*)::int from weir.running`); n != 5 {
		t.Errorf("a node with 5 slots runs %d", n)
	}
}

// TestLabels gives a task only to a worker that has its labels, from the node or
// of its own.
func TestLabels(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.register_node('n', '{"gpu": "a100"}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('plain', '{s}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('able', '{s}', 'n', '{"zone": "eu"}', at => $1)`, at(0))
	id := e.submit(0, spec{"service": "s", "labels": spec{"gpu": "a100", "zone": "eu"}})
	if got := e.claim(1, "plain", "s", 1); len(got) != 0 {
		t.Errorf("a worker without the labels got %v", got)
	}
	if got := e.claim(1, "able", "s", 1); len(got) != 1 || got[0].Task != id {
		t.Errorf("the worker with the labels got %v", got)
	}
}
