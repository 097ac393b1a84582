//go:build unix

package chaos

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// forged lets somebody report on leases that are not his, once for each.
func forged(r *run, forge func(Item) Item) []Finding {
	r.workers(1, plain(), nil)
	r.submit(4, func(int) Spec { return workFor(500 * time.Millisecond) })
	forger := &Client{Name: "forger", Pool: r.pool, Log: r.rec.Client("forger"), Lease: r.lease}
	tried := map[string]bool{}
	r.eventually(10*time.Second, "four leases are forged", func() bool {
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
	return r.findings(2 * r.lease)
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
	r.seen(10*time.Second, "the heir works", func(o Op) bool { return o.Client == "heir" && o.Op == "run" && o.Task == task })
	r.resume(nap)
	r.seen(10*time.Second, "the sleeper is answered", func(o Op) bool {
		return o.Client == "sleeper" && o.Op == op && o.Task == task && o.Out == OK
	})
	r.heal()
	return r.findings(4 * r.lease)
}

// longWork takes longer than a pass of the tender, less than a lease.
func longWork(r *run, _ bool) []Finding {
	r.workers(2, plain(), nil)
	r.submit(8, func(int) Spec { return workFor(700 * time.Millisecond) })
	r.heal()
	return r.findings(3 * r.lease)
}

// quietWork is nothing special.
func quietWork(r *run, _ bool) []Finding {
	r.workers(1, plain(), nil)
	r.submit(10, short50)
	r.heal()
	return r.findings(2 * r.lease)
}

// crowd lets many open the gates of the same keys at once, each in a
// transaction that lasts a while, as when an application submits in its own.
func crowd(r *run, spec func(i int) Spec, open string, keys []string) []Finding {
	r.workers(2, with(plain(), func(o *Orders) { o.Slots = 8; o.Poll = 5 * time.Millisecond }), nil)
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	var openers sync.WaitGroup
	for range 4 {
		openers.Go(func() {
			for pause(ctx, time.Millisecond) {
				err := pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, open, keys)
					pause(ctx, 3*time.Millisecond)
					return err
				})
				if err != nil && ctx.Err() == nil {
					r.Errorf("open gates: %v", err)
					return
				}
			}
		})
	}
	r.submit(300, spec)
	r.within(15*time.Second, func() bool { _, err := r.drain(time.Millisecond); return err == nil })
	stop()
	openers.Wait()
	r.heal()
	return r.findings(2 * r.lease)
}

func crowdedPool(r *run, _ bool) []Finding {
	r.exec(`select weir.set_pool('narrow', 2)`)
	return crowd(r, func(int) Spec { return Spec{"pool": "narrow"} }, `select weir.open_gates(pools => $1)`, []string{"narrow"})
}

func crowdedLane(r *run, _ bool) []Finding {
	lanes := []string{"l0", "l1", "l2"}
	return crowd(r, func(i int) Spec {
		// Each batch goes before the last, so that the head of a lane changes while somebody opens it.
		return Spec{"lane": fmt.Sprintf("l%d", i%3), "exclusive": true, "priority": i / 3}
	}, `select weir.open_gates(lanes => $1)`, lanes)
}

// deafWorker loses its LISTEN connection before there is work.
func deafWorker(r *run, broken bool) []Finding {
	orders := with(plain(), func(o *Orders) { o.Name = "deaf" })
	if broken {
		orders.Poll = 0
	}
	r.agent(orders, nil)
	const listeners = `select pid from pg_stat_activity where datname = current_database() and application_name = $1`
	r.eventually(10*time.Second, "the agent listens", func() bool {
		tag, err := r.pool.Exec(r.ctx, `select pg_terminate_backend(pid) from (`+listeners+` and query ilike 'listen %') x`, listenName)
		return err == nil && tag.RowsAffected() > 0
	})
	if broken {
		r.eventually(10*time.Second, "nobody listens", func() bool {
			tag, err := r.pool.Exec(r.ctx, listeners, listenName)
			return err == nil && tag.RowsAffected() == 0
		})
	}
	r.submit(5, short50)
	r.heal()
	return r.findings(2 * r.lease)
}

// oldLeader writes after its term.
func oldLeader(r *run, _ bool) []Finding {
	r.pausedLeader("leader", "lead_write")
	r.heal()
	return r.findings(r.lease)
}
