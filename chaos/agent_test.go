//go:build unix

package chaos

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestR2R6_NoFault is the baseline: without a fault nothing is found.
func TestR2R6_NoFault(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.workers(3, plain(), nil)
	r.submit(200, func(i int) Spec {
		s := workFor(time.Duration(i%5) * 10 * time.Millisecond)
		if i%10 == 0 {
			s["params"] = Params{Fails: 2}
		}
		return s
	})
	r.heal()
	r.clean()
}

// both runs a test with the agent that records its calls, and with the worker of the SDK.
func both(t *testing.T, test func(r *run, o Orders)) {
	t.Parallel()
	for _, kind := range []string{"sql", "sdk"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(newRun(t), with(plain(), func(o *Orders) { o.Kind = kind }))
		})
	}
}

// tended starts an agent that only tends the engine, as a server does. Workers of the SDK
// do it themselves, but a worker that dies keeps that duty for up to 15 s.
func (r *run) tended() {
	r.agent(with(plain(), func(o *Orders) { o.Name, o.Services = "server", []string{"none"} }), nil)
}

// named gives the orders a name.
func (o Orders) named(name string) Orders {
	o.Name = name
	return o
}

// TestR2R6_AgentKilled kills an agent with -9 in the middle of its work, with the default
// lease. The task runs again once the lease is over.
func TestR2R6_AgentKilled(t *testing.T) { both(t, agentKilled) }

func agentKilled(r *run, o Orders) {
	r.lease = 30 * time.Second
	var killed atomic.Int64
	r.agent(o.named("victim"), func(a *Agent, c Call) {
		if c.Op == "run" {
			a.Kill()
			killed.Store(time.Now().UnixNano())
		}
	})
	task := r.submit(1, short50)[0]
	r.eventually("the victim is killed", func() bool { return killed.Load() > 0 })
	r.agent(o.named("heir"), nil)
	again := r.seen("the task runs again", func(o Op) bool { return o.Op == "run" && o.Client == "heir" && o.Task == task })
	took := time.Duration(again.Call - killed.Load())
	r.Logf("measured: kill -9 → runs again in %.1f s (%s agent, 30 s lease)", took.Seconds(), o.Kind)
	if took > r.lease+busy {
		r.Errorf("it ran again only after %s, with a lease of %s", took, r.lease)
	}
	r.heal()
	r.clean()
}

// TestR3R4_AgentPausedTwoLeases stops an agent for two leases just as it wants to report.
// Another agent does the work; the report of the first changes nothing and is recorded.
func TestR3R4_AgentPausedTwoLeases(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	nap, hook := r.sleepAt(func(c Call) bool { return c.Op == "finish" })
	r.agent(with(plain(), func(o *Orders) { o.Name = "sleeper" }), hook)
	r.submit(8, short50)
	r.asleep(nap)
	r.workers(2, plain(), nil)
	r.pass(2 * r.lease)
	r.resume(nap)
	held := nap.call.Items[0]
	late := r.seen("the sleeper's report is answered", func(o Op) bool {
		return o.Client == "sleeper" && o.Op == "finish" && o.Task == held.Task && o.Attempt == held.Attempt && o.Out == OK
	})
	if late.Value != "lease_lost" {
		r.Errorf("the report of a lost lease was answered with %q", late.Value)
	}
	r.heal()
	r.clean()
}

// TestR3R4R5_AgentPausedInWork stops an agent in the middle of its work. The result that
// it reports two leases later is not accepted.
func TestR3R4R5_AgentPausedInWork(t *testing.T) { both(t, agentPausedInWork) }

func agentPausedInWork(r *run, o Orders) {
	r.tended()
	nap, hook := r.sleepAt(func(c Call) bool { return c.Op == "run" })
	r.agent(o.named("sleeper"), hook)
	r.submit(6, func(int) Spec { return workFor(200 * time.Millisecond) })
	r.asleep(nap)
	r.agent(o.named("heir"), nil)
	task := nap.call.Items[0].Task
	r.seen("the heir runs it", func(o Op) bool { return o.Op == "run" && o.Task == task && o.Client == "heir" })
	r.pass(r.lease)
	r.resume(nap)
	r.heal()
	r.submit(6, short50)
	r.clean()
}

// TestR15_PoisonIsQuarantined gives agents a task that kills each of them. The third
// death ends the task, and the other tasks are done.
func TestR15_PoisonIsQuarantined(t *testing.T) { both(t, poisonIsQuarantined) }

func poisonIsQuarantined(r *run, orders Orders) {
	r.tended()
	r.lease = time.Second
	// A worker that is killed at the first of many tasks loses all of them: only the
	// poison should die.
	orders.Slots = 1
	poison := r.submit(1, func(int) Spec { return Spec{"params": Params{Poison: true}} })[0]
	r.submit(20, short50)
	a := r.agent(orders.named("mortal"), nil)
	deaths := 0
	r.eventually("the poison is quarantined", func() bool {
		select {
		case <-a.Ended():
			if deaths++; deaths > 3 {
				r.Fatalf("the task killed its worker %d times", deaths)
			}
			a = r.agent(orders.named(fmt.Sprintf("mortal-%d", deaths)), nil)
		default:
		}
		var state, cause string
		err := r.pool.QueryRow(r.ctx, `select state, coalesce(cause, '') from weir.task where id = $1`, poison).Scan(&state, &cause)
		return err == nil && state == "failed" && len(cause) > 6 && cause[:6] == "poison"
	})
	if deaths != 3 {
		r.Errorf("quarantined after %d deaths, the promise is 3", deaths)
	}
	r.heal()
	r.clean()
}

// TestR14_AgentClockWrong runs agents whose clocks are an hour off, one each way, beside
// one that is right. Nothing differs, because no agent sends a time: the test watches the
// statements of every agent for one.
func TestR14_AgentClockWrong(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.lease = 5 * shortLease // a busy machine loses none of them; a clock that is an hour off would
	for name, skew := range map[string]time.Duration{"behind": -time.Hour, "right": 0, "ahead": time.Hour} {
		r.agent(with(plain(), func(o *Orders) { o.Name, o.Skew = name, skew }), nil)
	}
	r.submit(60, func(i int) Spec {
		s := workFor(time.Duration(i%4) * shortLease / 4)
		if i%3 == 0 {
			s["params"] = Params{Fails: 1}
		}
		return s
	})
	r.eventually("the work ends", func() bool { _, err := r.drain(time.Millisecond); return err == nil })
	var lost int
	if err := r.pool.QueryRow(r.ctx, `select count(*) from weir.events where type = 'expired'`).Scan(&lost); err != nil || lost > 0 {
		r.Errorf("wrong clocks cost %d leases (%v)", lost, err)
	}
	r.heal()
	r.clean()
}

func with(o Orders, change func(*Orders)) Orders {
	change(&o)
	return o
}
