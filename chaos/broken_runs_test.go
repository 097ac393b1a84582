//go:build unix

package chaos

import (
	"errors"
	"maps"
	"time"
)

// forged lets a client report on leases that it does not hold, once for each.
func forged(r *run, forge func(Item) Item) []Finding {
	r.workers(1, plain(), nil)
	r.submit(4, func(int) Spec { return workFor(500 * time.Millisecond) })
	forger := &Client{Name: "forger", Pool: r.pool, Log: r.rec.Client("forger"), Lease: r.lease}
	tried := map[string]bool{}
	r.eventually("four leases are forged", func() bool {
		for _, op := range r.rec.Ops() {
			if op.Op == "run" && !tried[op.Task] {
				tried[op.Task] = true
				if _, _, err := forger.Finish(r.ctx, forge(Item{Task: op.Task, Attempt: op.Attempt, Token: op.Token})); err != nil {
					r.Error(err)
				}
			}
		}
		return len(tried) == 4
	})
	r.heal()
	return r.findings()
}

func forgedToken(r *run, _ bool) []Finding {
	return forged(r, func(i Item) Item { i.Token = newID(); return i })
}

func forgedAttempt(r *run, _ bool) []Finding {
	return forged(r, func(i Item) Item { i.Attempt++; return i })
}

// pausedAt stops an agent at a call until another has its task.
func pausedAt(r *run, op string) []Finding {
	r.lease = time.Second
	nap, hook := r.sleepAt(func(c Call) bool { return c.Op == op })
	r.agent(with(plain(), func(o *Orders) { o.Name = "sleeper"; o.Slots = 1 }), hook)
	task := r.submit(1, func(int) Spec { return workFor(1500 * time.Millisecond) })[0]
	r.asleep(nap)
	r.agent(with(plain(), func(o *Orders) { o.Name = "heir" }), nil)
	r.seen("the heir works", func(o Op) bool { return o.Client == "heir" && o.Op == "run" && o.Task == task })
	r.resume(nap)
	r.seen("the sleeper is answered", func(o Op) bool {
		return o.Client == "sleeper" && o.Op == op && o.Task == task && o.Out == OK
	})
	r.heal()
	return r.findings()
}

// longWork takes longer than a pass of tend, but less than a lease.
func longWork(r *run, _ bool) []Finding {
	r.workers(2, plain(), nil)
	r.submit(8, func(int) Spec { return workFor(700 * time.Millisecond) })
	r.heal()
	return r.findings()
}

// quietWork runs without a fault.
func quietWork(r *run, _ bool) []Finding {
	r.workers(1, plain(), nil)
	r.submit(10, short50)
	r.heal()
	return r.findings()
}

// raced lets two transactions open the same key at once: the second looks while the first
// has opened a task and not committed. On the real engine the second waits.
func raced(r *run, key Spec, open string, keys []string) []Finding {
	first, second := maps.Clone(key), maps.Clone(key)
	r.submit(1, func(int) Spec { return first })
	tx, err := r.pool.Begin(r.ctx)
	if err != nil {
		r.Fatal(err)
	}
	if _, err := tx.Exec(r.ctx, open, keys); err != nil {
		r.Fatal(err)
	}
	// It comes before the first, so that a lane has another head now.
	second["priority"] = 50
	r.submit(1, func(int) Spec { return second })
	looked := make(chan error, 1)
	go func() {
		_, err := r.pool.Exec(r.ctx, open, keys)
		looked <- err
	}()
	select {
	case err = <-looked:
	case <-time.After(500 * time.Millisecond):
	}
	if err := errors.Join(err, tx.Commit(r.ctx)); err != nil {
		r.Fatal(err)
	}
	r.workers(1, plain(), nil)
	r.heal()
	return r.findings()
}

func racedPool(r *run, _ bool) []Finding {
	r.exec(`select weir.set_pool('narrow', 1)`)
	return raced(r, Spec{"pool": "narrow"}, `select weir.open_gates(pools => $1)`, []string{"narrow"})
}

func racedLane(r *run, _ bool) []Finding {
	return raced(r, Spec{"lane": "l", "exclusive": true}, `select weir.open_gates(lanes => $1)`, []string{"l"})
}

// deafWorker loses its LISTEN connection before there is work.
func deafWorker(r *run, broken bool) []Finding {
	orders := with(plain(), func(o *Orders) { o.Name = "deaf" })
	if broken {
		orders.Poll = 0
	}
	r.agent(orders, nil)
	const listeners = `select pid from pg_stat_activity where datname = current_database() and application_name = $1`
	r.eventually("the agent listens", func() bool {
		tag, err := r.pool.Exec(r.ctx, `select pg_terminate_backend(pid) from (`+listeners+` and query ilike 'listen %') x`, listenName)
		return err == nil && tag.RowsAffected() > 0
	})
	if broken {
		r.eventually("nobody listens", func() bool {
			tag, err := r.pool.Exec(r.ctx, listeners, listenName)
			return err == nil && tag.RowsAffected() == 0
		})
	}
	r.submit(5, short50)
	r.heal()
	return r.findings()
}

// oldLeader writes after its term.
func oldLeader(r *run, _ bool) []Finding {
	r.pausedLeader("leader", "lead_write")
	r.heal()
	return r.findings()
}
