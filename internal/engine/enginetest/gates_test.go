package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/testwait"
)

// move is one line of the timeline about a task that has gates.
type move struct {
	Seq       int64
	Type      string
	Task      string
	Lane      *string
	Rank      *int64
	Exclusive bool
	Pool      *string
}

// moves reads the whole timeline in the order of its numbers. A number is taken
// under the lock of the key, and by whoever sees what was freed after it was
// freed: so the order of the numbers is the order of cause and effect.
func (e *engine) moves() []move {
	e.Helper()
	return all[move](e, `select e.seq, e.type, e.task, q.lane, q.rank, coalesce(q.exclusive, false), q.pool
		from weir.event e join weir.tasks q on q.id = e.task where e.kind = 'task' and (q.lane is not null or q.pool is not null) order by e.seq`)
}

// sweep walks the timeline and reports every instant at which a lane or a pool
// held more than it may. It is the independent judge of R7: it knows nothing of
// how the engine counts.
func sweep(moves []move, sizes map[string]int) (broken []string) {
	holders := map[string]map[string]move{}
	for _, m := range moves {
		keys := []string{}
		if m.Lane != nil {
			keys = append(keys, "lane "+*m.Lane)
		}
		if m.Pool != nil {
			keys = append(keys, "pool "+*m.Pool)
		}
		for _, key := range keys {
			if holders[key] == nil {
				holders[key] = map[string]move{}
			}
			switch m.Type {
			case "opened":
				holders[key][m.Task] = m
			case "done", "failed", "canceled", "skipped", "retrying", "snoozed", "held":
				delete(holders[key], m.Task)
			default:
				continue
			}
		}
		if m.Type != "opened" {
			continue
		}
		if m.Pool != nil && len(holders["pool "+*m.Pool]) > sizes[*m.Pool] {
			broken = append(broken, fmt.Sprintf("pool %s holds %d at event %d", *m.Pool, len(holders["pool "+*m.Pool]), m.Seq))
		}
		if m.Lane != nil && len(holders["lane "+*m.Lane]) > 1 {
			for _, o := range holders["lane "+*m.Lane] {
				if o.Exclusive {
					broken = append(broken, fmt.Sprintf("lane %s is shared with an exclusive task at event %d", *m.Lane, m.Seq))
				}
			}
		}
	}
	return broken
}

// overtakings reports ranked tasks that opened before a lower rank had ended.
func overtakings(moves []move) (broken []string) {
	live := map[string]move{}
	for _, m := range moves {
		if m.Rank == nil {
			continue
		}
		switch m.Type {
		case "gated":
			live[m.Task] = m
		case "done", "canceled", "skipped":
			delete(live, m.Task)
		case "opened":
			for _, o := range live {
				if *o.Lane == *m.Lane && *o.Rank < *m.Rank {
					broken = append(broken, fmt.Sprintf("rank %d of lane %s opened before rank %d ended", *m.Rank, *m.Lane, *o.Rank))
				}
			}
		}
	}
	return broken
}

func TestSweepSeesBrokenLimits(t *testing.T) {
	lane, pool, low, high := "l", "p", int64(1), int64(2)
	for _, c := range []struct {
		name  string
		moves []move
	}{
		{"pool over its size", []move{{1, "opened", "a", nil, nil, false, &pool}, {2, "opened", "b", nil, nil, false, &pool}}},
		{"exclusive beside another", []move{{1, "opened", "a", &lane, nil, false, nil}, {2, "opened", "b", &lane, nil, true, nil}}},
		{"rank overtaken", []move{{1, "gated", "a", &lane, &low, false, nil}, {2, "gated", "b", &lane, &high, false, nil}, {3, "opened", "b", &lane, &high, false, nil}}},
	} {
		if len(sweep(c.moves, map[string]int{"p": 1}))+len(overtakings(c.moves)) == 0 {
			t.Errorf("%s is not seen", c.name)
		}
	}
}

// crowd is one goroutine that does what clients and workers do, at random.
type crowd struct {
	*engine
	pool  *pgxpool.Pool
	rand  *rand.Rand
	name  string
	tasks []string
}

// call runs a statement; only refusals are fine.
func (c *crowd) call(sql string, args ...any) {
	if _, err := c.pool.Exec(context.Background(), sql, args...); err != nil {
		if code := sqlstate(err); code != "WR409" && code != "WR404" {
			c.Errorf("%s: %v", sql, err)
		}
	}
}

func (c *crowd) pick() string {
	if len(c.tasks) == 0 {
		return "00000000-0000-7000-8000-000000000000"
	}
	return c.tasks[c.rand.IntN(len(c.tasks))]
}

func (c *crowd) step() {
	switch c.rand.IntN(12) {
	case 0, 1, 2:
		s := spec{"service": "s", "max_attempts": 2, "backoff": "0 s"}
		if c.rand.IntN(3) > 0 {
			s["lane"] = fmt.Sprintf("lane%d", c.rand.IntN(3))
			s["exclusive"] = c.rand.IntN(2) == 0
		}
		if c.rand.IntN(3) > 0 {
			s["pool"] = fmt.Sprintf("pool%d", 1+c.rand.IntN(3))
		}
		ids, err := ask[string](c.pool, `select task from weir.submit_many(jsonb_build_array($1::jsonb))`, encode(s))
		if err != nil {
			c.Errorf("submit: %v", err)
		}
		c.tasks = append(c.tasks, ids...)
	case 3:
		c.call(`select weir.cancel($1, 'crowd')`, c.pick())
	case 4:
		c.call(`select weir.hold($1, 'crowd')`, c.pick())
	case 5:
		c.call(`select weir.release($1)`, c.pick())
	case 6:
		c.call(`select weir.set_priority($1, $2)`, c.pick(), c.rand.IntN(10))
	case 7:
		c.call(`select weir.tend(true)`)
	default:
		c.work()
	}
}

// work claims a few tasks and ends each in some way.
func (c *crowd) work() {
	got, err := ask[lease](c.pool, `select task, attempt, token from weir.claim($1, '{s}', 3)`, c.name)
	if err != nil {
		c.Errorf("claim: %v", err)
	}
	for _, l := range got {
		switch c.rand.IntN(6) {
		case 0:
			c.call(`select weir.fail($1, $2, $3, 'no')`, l.Task, l.Attempt, l.Token)
		case 1:
			c.call(`select weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid])`, l.Task, l.Attempt, l.Token)
		case 2:
			c.call(`select weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], clock_timestamp())`, l.Task, l.Attempt, l.Token)
		default:
			c.call(`select weir.finish($1, $2, $3)`, l.Task, l.Attempt, l.Token)
		}
	}
}

// drain works until every task has ended.
func (e *engine) drain(services ...string) {
	e.Helper()
	e.exec(`select weir.release(id) from weir.task where hold is not null`)
	testwait.Until(e, "no task is left after the drain", func() bool {
		e.exec(`select weir.skip(task, 'the test drains') from weir.lane_blocks`)
		e.exec(`select weir.tend(true)`)
		e.exec(`select weir.finish(c.task, c.attempt, c.token) from weir.claim('drain', $1, 100) c`, services)
		return one[int](e, `select (select count(*) from weir.pending) + (select count(*) from weir.available) + (select count(*) from weir.running)`) == 0
	})
}

// TestR7GatesHoldUnderConcurrency has eight clients submit, open, claim, finish,
// fail, hold and cancel over the same lanes and pools. The timeline then shows
// every instant.
func TestR7GatesHoldUnderConcurrency(t *testing.T) {
	t.Parallel()
	e := start(t)
	sizes := map[string]int{"pool1": 1, "pool2": 2, "pool3": 3}
	for name, size := range sizes {
		e.exec(`select weir.set_pool($1, $2)`, name, size)
	}
	// Ranks are checked against what was there from the beginning: a lower rank
	// that is submitted later is late, not overtaken.
	var ranked []spec
	for i := range 60 {
		ranked = append(ranked, spec{"service": "s", "lane": fmt.Sprintf("ranked%d", i%3), "rank": (i * 7) % 10, "max_attempts": 100, "backoff": "0 s"})
	}
	e.exec(`select weir.submit_many($1)`, encode(ranked))
	pool := e.widePool(10)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := &crowd{engine: e, pool: pool, rand: rand.New(rand.NewPCG(7, uint64(i))), name: fmt.Sprintf("worker%d", i)}
			for range 60 {
				c.step()
			}
		})
	}
	all.Wait()
	e.drain("s")
	seen := e.moves()
	for _, b := range append(sweep(seen, sizes), overtakings(seen)...) {
		t.Error(b)
	}
	if len(seen) < 200 {
		t.Errorf("only %d moves: the test did nothing", len(seen))
	}
}

// TestR7FourOpeners lets four connections open the same pool of three at once,
// 200 times.
func TestR7FourOpeners(t *testing.T) {
	t.Parallel()
	e := start(t)
	const rounds, openers, size = 200, 4, 3
	e.exec(`select weir.set_pool('p' || i, $1, at => $2) from generate_series(1, $3::int) i`, size, epoch, rounds)
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'pool', 'p' || i)), false, $1) from generate_series(1, $2::int) i, generate_series(1, 8)`, epoch, rounds)
	pool := e.widePool(openers)
	for round := range rounds {
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range openers {
			all.Go(func() {
				<-begin
				if _, err := pool.Exec(context.Background(), `select weir.open_gates(pools => array['p' || $1::int], at => $2)`, round+1, at(1)); err != nil {
					e.Error(err)
				}
			})
		}
		close(begin)
		all.Wait()
	}
	for _, n := range all[int](e, `select count(a.task)::int from weir.pools p left join weir.available a on a.pool = p.name group by p.name`) {
		if n != size {
			t.Errorf("a pool of %d has %d available", size, n)
		}
	}
}

// TestRateLimit works off a backlog with the clock in hand: no window of length
// per has more than rate starts, whatever workers do, and none is held back longer
// than that.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate int
		per  time.Duration
		tick time.Duration
		// takes is how many a worker takes at a time, of every how many ticks.
		takes, every int
	}{
		{1, time.Second, 100 * time.Millisecond, 5, 1},
		{3, time.Second, 70 * time.Millisecond, 2, 1},
		{10, time.Minute, 2500 * time.Millisecond, 3, 2},
		{7, 10 * time.Second, 10 * time.Second, 100, 1},
		{100, time.Second, 333 * time.Millisecond, 1000, 1},
		{5, 5 * time.Second, time.Second, 100, 10}, // nobody takes any for a while
	} {
		t.Run(fmt.Sprintf("%d per %v every %v, %d taken", c.rate, c.per, c.tick, c.takes), func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.exec(`select weir.set_pool('p', rate => $1, per => $2, at => $3)`, c.rate, c.per, epoch)
			e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'pool', 'p')), false, $1) from generate_series(1, 500)`, epoch)
			const ticks = 30
			for i := range ticks {
				now := c.tick.Seconds() * float64(i)
				e.tend(now)
				if i%c.every != c.every-1 {
					continue
				}
				for j, l := range e.claim(now, "w", "s", c.takes) {
					if j%3 == 0 { // it is run again, and that is another start
						e.exec(`select weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`, l.Task, l.Attempt, l.Token, at(now))
					}
				}
			}
			started := all[time.Time](e, `select e.at from weir.events e, unnest(e.tasks) where e.type = 'claimed' order by e.at`)
			for i, from := range started {
				if j := i + c.rate; j < len(started) && started[j].Sub(from) < c.per {
					t.Fatalf("%d tasks started within %v, at most %d may within %v", c.rate+1, started[j].Sub(from), c.rate, c.per)
				}
			}
			// Every interval has what a worker could take of it.
			least := min(c.rate, c.takes) * int(c.tick*(ticks-1)/max(c.per, c.tick*time.Duration(c.every)))
			if len(started) < min(least, 300) {
				t.Errorf("%d started in %v, at least %d should have", len(started), c.tick*(ticks-1), least)
			}
		})
	}
}

// TestRateLimitUnderConcurrency: workers that claim and give back beside those who
// open never start more than the rate.
func TestRateLimitUnderConcurrency(t *testing.T) {
	t.Parallel()
	e := start(t)
	const rate, workers = 5, 4
	e.exec(`select weir.set_pool('p', rate => $1, per => '1 hour')`, rate)
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'pool', 'p')), false) from generate_series(1, 50)`)
	pool := e.widePool(workers)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			for range 20 {
				for _, sql := range []string{
					`select weir.tend(true)`,
					`select weir.open_gates(pools => '{p}')`,
					`select weir.give_back_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim($1, '{s}', 2)`,
				} {
					args := []any{fmt.Sprint("w", i)}
					if _, err := pool.Exec(context.Background(), sql, args[:strings.Count(sql, "$")]...); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if n := one[int](e, `select count(*)::int from weir.events e, unnest(e.tasks) where e.type = 'claimed'`); n != rate {
		t.Errorf("%d were started, want %d", n, rate)
	}
}

// TestManyStartsAreKeptFew: the starts of a busy pool are put together, and count
// no less for it.
func TestManyStartsAreKeptFew(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', rate => 400, per => '1 hour', at => $1)`, epoch)
	e.exec(`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's', 'pool', 'p')), false, $1) from generate_series(1, 500)`, epoch)
	e.tend(0)
	e.exec(`select count(c.task) from generate_series(1, 300) i, lateral weir.claim('w', '{s}', at => $1::timestamptz + i * interval '10 s') c`, epoch)
	e.exec(`delete from weir.available`) // as if they had been taken elsewhere
	e.exec(`update weir.pools set rate = 301`)
	e.tend(3500)
	if n := one[int](e, `select count(*)::int from weir.available`); n != 1 {
		t.Errorf("%d were opened, want the one that is left", n)
	}
	if got := one[string](e, `select sum(n) || ' in ' || (count(*) < 70)::text from weir.starts`); got != "300 in true" {
		t.Errorf("starts: %s", got)
	}
	e.SkipDoctor("the test took tasks out by hand")
}
