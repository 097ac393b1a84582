package enginetest

import (
	"strings"
	"testing"
)

// loses claims the task for a worker of a node, keeps the worker in contact for a while,
// and lets its lease run out. Without a node the worker is on its own.
func (e *engine) loses(sec float64, node, task string, contact float64) {
	e.Helper()
	worker := "agent@" + node
	e.exec(`select weir.register_node($1, capacity => '{"s": 1}', at => $2)`, node, at(sec))
	e.exec(`select weir.register_worker($1, '{s}', $2, at => $3)`, worker, node, at(sec))
	l := e.claimOne(sec, worker, "s")
	if l.Task != task {
		e.Fatalf("claim at %v gave %s, want %s", sec, l.Task, task)
	}
	e.exec(`select weir.renew($1, array[$2::uuid], array[$3::int], array[$4::uuid], '10 min', at => $5)`,
		worker, l.Task, l.Attempt, l.Token, at(sec+contact))
	e.exec(`select weir.expire(at => $1)`, at(sec+contact+601))
}

// TestR15OutagesOfOneNodeAreNoPoison loses the same node again and again in the middle of
// long work: that says nothing about the task. why and the doctor count the losses.
func TestR15OutagesOfOneNodeAreNoPoison(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 1})
	for i := range 5 {
		e.loses(float64(2000*i), "n1", id, 120)
		e.want(map[string]string{id: "available"})
	}
	c := e.why(9001, id, "lost")
	if !strings.Contains(c.Reason, "5 workers were lost") || !strings.Contains(c.Reason, "1 of these losses counts,") {
		t.Errorf("why: %q", c.Reason)
	}
	const found = `select coalesce(detail, '') from weir.doctor(at => $1) where name = 'no task loses worker after worker'`
	if got := one[string](e, found, at(9001)); !strings.Contains(got, id) {
		t.Errorf("the doctor does not name the task: %q", got)
	}
	// No loss has spent an attempt: the only one is still there.
	e.exec(`select weir.register_worker('agent@n1', '{s}', 'n1', at => $1)`, at(10_000))
	if got := e.finish(10_002, e.claimOne(10_001, "agent@n1", "s")); got != "ok" {
		t.Errorf("finish: %s", got)
	}
}

// TestR15ThreeNodesArePoison loses three nodes, each after a while of healthy contact.
func TestR15ThreeNodesArePoison(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 100})
	for i, node := range []string{"n1", "n2", "n1", "n2", "n3"} {
		e.want(map[string]string{id: "available"})
		e.loses(float64(2000*i), node, id, 120)
	}
	e.want(map[string]string{id: "failed"})
	if got := e.cause(id); !strings.Contains(got, "poison: 3 workers") {
		t.Errorf("cause %q", got)
	}
}

// TestR15QuickDeathsArePoison loses one node three times within a minute of the claim,
// although the lease itself is much longer.
func TestR15QuickDeathsArePoison(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 100})
	for i := range 3 {
		e.want(map[string]string{id: "available"})
		e.loses(float64(2000*i), "n1", id, 50)
	}
	e.want(map[string]string{id: "failed"})
}

// TestR15HealthyRunningIsForgiving forgets what counted before if the work ran for an hour.
func TestR15HealthyRunningIsForgiving(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 100})
	e.loses(0, "n1", id, 10)
	e.loses(2000, "n2", id, 10)
	e.loses(4000, "n3", id, 3600)
	e.want(map[string]string{id: "available"}) // the third, but the two before are forgotten
	e.loses(10_000, "n1", id, 10)
	e.want(map[string]string{id: "available"})
	e.loses(12_000, "n2", id, 10)
	e.want(map[string]string{id: "failed"})
}

// TestFaultsOfANode has two nodes of a service of which one is broken, then both. The
// task waits only for the second, and why names both with what is broken.
func TestFaultsOfANode(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, n := range []string{"n1", "n2"} {
		e.exec(`select weir.register_node($1, capacity => '{"s": 1}', at => $2)`, n, at(0))
		e.exec(`select weir.register_worker('agent@' || $1, '{s}', $1, at => $2)`, n, at(0))
	}
	id := e.submit(1, spec{"service": "s"})
	e.exec(`select weir.report_faults('n1', '[{"service": "s", "fault": "disk_full", "message": "0 bytes left", "retry_in": 20}]', at => $1)`, at(2))
	if c := e.why(3, id, "worker"); !c.Open || !strings.Contains(c.Reason, "1 live worker for s") {
		t.Errorf("one node is left: %+v", c)
	}
	broken := `select weir.report_faults('n2', '[{"service": "s", "fault": "no_driver", "message": "no socket"}]', at => $1)`
	e.exec(broken, at(4))
	e.exec(broken, at(6))
	c := e.why(7, id, "worker")
	if c.Open || c.Since == nil || !c.Since.Equal(at(4)) {
		t.Errorf("both nodes are broken: %+v", c)
	}
	for _, want := range []string{"no node can do s", "node n1: disk full (0 bytes left), next try at", "node n2: driver missing (no socket)"} {
		if !strings.Contains(c.Reason, want) {
			t.Errorf("why: %q lacks %q", c.Reason, want)
		}
	}
	e.exec(`select weir.set_node_mode('n1', 'draining', 'new disk', at => $1)`, at(8))
	if c := e.why(9, id, "worker"); !strings.Contains(c.Reason, "node n1 is draining") || !strings.Contains(c.Reason, "node n2: driver missing") {
		t.Errorf("why: %q", c.Reason)
	}
	e.exec(`select weir.report_faults('n2', '[]', at => $1)`, at(10))
	if c := e.why(11, id, "worker"); !c.Open {
		t.Errorf("n2 works again: %+v", c)
	}
	if n := one[int](e, `select count(*)::int from weir.events where kind = 'node' and type in ('broken', 'mended')`); n != 3 {
		t.Errorf("%d events of faults, want two that began and one that is over", n)
	}
}

// TestFaultsThatTheWorkCauses hands work back because its node broke: that costs nothing,
// unless the work had begun and breaks node after node.
func TestFaultsThatTheWorkCauses(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 2})
	back := func(sec float64, begun bool) {
		l := e.run(sec, id)
		e.exec(`select weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], note => 'disk full', fault => 'disk_full', begun => $4, at => $5)`,
			l.Task, l.Attempt, l.Token, begun, at(sec))
	}
	for i := range 30 {
		back(float64(i), i%3 == 0)
		e.want(map[string]string{id: "available"})
	}
	if n := one[int](e, `select count(*)::int from weir.events where task = $1 and type = 'returned' and level = 'warn' and data ->> 'reason' = 'node' and data ->> 'fault' = 'disk_full'`, id); n != 30 {
		t.Errorf("%d events name the fault", n)
	}
	back(40, true)
	e.want(map[string]string{id: "pending"}) // a failed attempt, with its back-off
	e.tend(1000)
	back(1001, true)
	e.want(map[string]string{id: "failed"})
	e.reason(id, "node", map[string]any{"cause": "disk full"})
	e.exec(`select weir.retry($1, at => $2)`, id, at(1002))
	back(1003, true)
	e.want(map[string]string{id: "available"}) // the count began anew
}

// TestStopKeepsWork lets a worker stop whose work goes on: its leases stay, and another
// process of that name has them at once.
func TestStopKeepsWork(t *testing.T) {
	t.Parallel()
	e := start(t)
	register := `select weir.register_worker('w', '{s}', holder => $1, at => $2)`
	e.exec(register, "one", at(0))
	id := e.submit(1, spec{"service": "s"})
	l := e.run(2, id)
	e.exec(`select weir.stop_worker('w', 'one', keep => true, at => $1)`, at(3))
	e.want(map[string]string{id: "running"})
	e.exec(register, "two", at(4))
	e.exec(`select weir.renew('w', array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`, l.Task, l.Attempt, l.Token, at(20))
	e.exec(`select weir.expire(at => $1)`, at(40))
	e.want(map[string]string{id: "running"})
	e.exec(`select weir.stop_worker('w', 'two', at => $1)`, at(41))
	e.want(map[string]string{id: "available"})
}
