package enginetest

import (
	"strings"
	"testing"
	"time"
)

// cause is a row of weir.why.
type cause struct {
	Gate    string
	Open    bool
	Reason  string
	Blocker *string
	Since   *time.Time
	Code    string
	Args    map[string]any
}

// why returns the line of one gate.
func (e *engine) why(sec float64, task, gate string) cause {
	e.Helper()
	return one[cause](e, `select * from weir.why($1, $2) where gate = $3`, task, at(sec), gate)
}

// closed wants the gate closed with a reason that holds each word, the blocker,
// and since when. A negative since asks for none.
func (e *engine) closed(sec float64, task, gate, blocker string, since float64, words ...string) {
	e.Helper()
	c := e.why(sec, task, gate)
	if c.Open {
		e.Errorf("gate %s is open: %s", gate, c.Reason)
	}
	for _, w := range words {
		if !strings.Contains(c.Reason, w) {
			e.Errorf("gate %s: reason %q does not say %q", gate, c.Reason, w)
		}
	}
	if c.Blocker == nil && blocker != "" || c.Blocker != nil && *c.Blocker != blocker {
		e.Errorf("gate %s: blocker %v, want %q", gate, c.Blocker, blocker)
	}
	if c.Since == nil || !c.Since.Equal(at(since)) {
		e.Errorf("gate %s: since %v, want %v", gate, c.Since, at(since))
	}
}

// opened wants the gate open, and the task available.
func (e *engine) opened(sec float64, task, gate string) {
	e.Helper()
	if c := e.why(sec, task, gate); !c.Open {
		e.Errorf("gate %s is closed: %s", gate, c.Reason)
	}
	e.want(map[string]string{task: "available"})
}

func TestWhyNeeds(t *testing.T) {
	t.Parallel()
	e := start(t)
	_, ids := e.submitJob(0, spec{"service": "a", "key": "build"}, spec{"service": "b", "key": "test", "needs": []string{"build"}})
	e.closed(5, ids["test"], "needs", ids["build"], 0, "1 of 1", "build (available)")
	l := e.run(6, ids["build"])
	e.closed(7, ids["test"], "needs", ids["build"], 0, "build (running)")
	e.finish(8, l)
	e.opened(9, ids["test"], "needs")
}

func TestWhyTime(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(1, spec{"service": "s", "run_at": at(100)})
	e.closed(40, id, "time", "", 1, "not before", "in 1m")
	e.tend(100)
	e.opened(100, id, "time")
	e.failRetry(102, e.run(101, id), 200)
	e.closed(150, id, "time", "", 102, "attempt 1 failed")
	e.tend(200)
	e.opened(200, id, "time")
}

func TestWhyHold(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(1, spec{"service": "s", "hold": "the release manager"})
	e.closed(2, id, "hold", "", 1, "the release manager")
	e.exec(`select weir.release($1, 'ann', $2)`, id, at(3))
	e.opened(4, id, "hold")
	e.exec(`select weir.hold($1, 'bob', 'the disk is full', $2)`, id, at(5))
	e.closed(6, id, "hold", "", 5, "bob", "the disk is full")
}

func TestWhyOrder(t *testing.T) {
	t.Parallel()
	e := start(t)
	first := e.submit(1, spec{"service": "s", "lane": "db", "rank": 1})
	second := e.submit(2, spec{"service": "s", "lane": "db", "rank": 2})
	e.tend(3)
	e.closed(4, second, "order", first, 3, "comes first", "db", "available")
	l := e.run(5, first)
	e.closed(6, second, "order", first, 5, "running")
	e.fail(7, l, "syntax error")
	e.closed(8, second, "order", first, 7, "failed", "nobody has decided")
	e.exec(`select weir.skip($1, 'not needed', at => $2)`, first, at(9))
	e.opened(10, second, "order")
}

func TestWhyExclusion(t *testing.T) {
	t.Parallel()
	e := start(t)
	first := e.submit(1, spec{"service": "s", "lane": "db", "exclusive": true})
	second := e.submit(2, spec{"service": "s", "lane": "db"})
	third := e.submit(2, spec{"service": "s", "lane": "db", "exclusive": true})
	e.tend(3)
	l := e.run(5, first)
	e.closed(6, second, "exclusion", first, 5, "db", "running")
	e.finish(7, l)
	e.opened(8, second, "exclusion")
	e.closed(9, third, "exclusion", second, 7, "available")
}

func TestWhyPool(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('licences', 1, at => $1)`, at(0))
	first := e.submit(1, spec{"service": "s", "pool": "licences"})
	second := e.submit(2, spec{"service": "s", "pool": "licences"})
	e.tend(3)
	e.closed(4, second, "pool", first, 3, "licences", "1 of 1")
	l := e.run(5, first)
	e.closed(6, second, "pool", first, 5, "full")
	e.finish(7, l)
	e.opened(8, second, "pool")
}

func TestWhyRate(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('mails', rate => 1, per => '1 min', at => $1)`, at(0))
	first := e.submit(1, spec{"service": "s", "pool": "mails"})
	second := e.submit(2, spec{"service": "s", "pool": "mails"})
	e.tend(1)
	e.closed(2, second, "pool", first, 2, "rate", "mails", "1 may start")
	e.finish(4, e.run(3, first))
	if next := one[time.Time](e, `select next_at from weir.tend(true, $1)`, at(13)); !next.Equal(at(63)) {
		t.Errorf("tend says: come back at %v, want %v", next, at(63))
	}
	e.closed(13, second, "pool", "", 2, "rate", "mails", "1 per 1m", "50s")
	e.tend(63)
	e.opened(63, second, "pool")
}

func TestWhyWorker(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(1, spec{"service": "s", "labels": spec{"gpu": "yes"}})
	e.closed(2, id, "worker", "", 1, "no live worker", "gpu=yes")
	e.exec(`select weir.register_node('n', '{"gpu": "yes"}', at => $1)`, at(3))
	e.exec(`select weir.register_worker('w', '{s}', 'n', at => $1)`, at(3))
	e.opened(4, id, "worker")
	e.exec(`select weir.set_node_mode('n', 'draining', 'upgrade', at => $1)`, at(5))
	e.closed(6, id, "worker", "", 5, "node n is draining (upgrade)")
	e.exec(`select weir.set_node_mode('n', 'active', at => $1)`, at(7))
	l := e.run(8, id)
	if c := e.why(9, id, "lease"); !c.Open || !strings.Contains(c.Reason, "attempt 1 runs on w") {
		t.Errorf("running: %+v", c)
	}
	e.fail(10, l, "out of paper")
	if c := e.why(11, id, "ended"); !strings.Contains(c.Reason, "out of paper") {
		t.Errorf("ended: %+v", c)
	}
}

// TestWhyNamesTheGateATaskStandsAt compares the two definitions: the column that
// the engine moves, and the condition that why tests.
func TestWhyNamesTheGateATaskStandsAt(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 0, at => $1)`, at(0))
	e.submit(0, spec{"service": "s", "lane": "l", "exclusive": true})
	e.submitJob(0, spec{"service": "a", "key": "a"}, spec{"service": "s", "needs": []string{"a"}, "run_at": at(50), "hold": "me", "lane": "l", "pool": "p"})
	e.submit(0, spec{"service": "s", "run_at": at(50), "hold": "me", "lane": "l", "pool": "p"})
	e.submit(0, spec{"service": "s", "hold": "me", "lane": "l", "pool": "p"})
	e.submit(0, spec{"service": "s", "lane": "l", "pool": "p"})
	e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	type row struct{ Gate, First string }
	rows := all[row](e, `select t.gate::text, (select w.gate from weir.why(t.id, $1) with ordinality w where not w.open order by w.ordinality limit 1)
		from weir.task t where t.state = 'pending'`, at(1))
	for _, r := range rows {
		if r.First == "order" || r.First == "exclusion" {
			r.First = "lane"
		}
		if r.First != r.Gate {
			t.Errorf("a task stands at %s, why says %s", r.Gate, r.First)
		}
	}
	if len(rows) != 5 {
		t.Errorf("%d tasks are pending, want one at each of 5 gates", len(rows))
	}
}
