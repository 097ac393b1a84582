package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// planners is a crowd that plans, works, cancels and retries at once.
type planners struct {
	*engine
	pool *pgxpool.Pool
}

// call runs a statement that may be refused, for somebody else was faster.
func (c *planners) call(sql string, args ...any) {
	if _, err := c.pool.Exec(context.Background(), sql, args...); err != nil && sqlstate(err) != "WR409" {
		c.Errorf("%s %v: %v", sql, args, err)
	}
}

// look returns the rows of a query.
func (c *planners) look(sql string, args ...any) []string {
	rows, err := ask[string](c.pool, sql, args...)
	if err != nil {
		c.Errorf("%s: %v", sql, err)
	}
	return rows
}

// plan plans what stands at the gate: a map is split into three items, and
// decided when they have ended; all else goes on. It does every step as often as it
// likes, as another planner may have done it.
func (c *planners) plan() {
	for _, row := range c.look(`select p.task || ' ' || p.job || ' ' || (q.awaits is not null) || ' ' || q.key from weir.pending p join weir.tasks q on q.id = p.task where p.gate = 'plan' order by random() limit 20`) {
		var task, job, split, key string
		if _, err := fmt.Sscan(row, &task, &job, &split, &key); err != nil {
			c.Error(err)
			return
		}
		switch {
		case key != "map":
			c.call(`select weir.plan_task($1, '{"planned": true}')`, task)
		case split == "true":
			c.call(`select weir.decide($1, 'done', '{"items": 3}')`, task)
		default:
			c.call(`select weir.wait_for($1, '{"map[0]", "map[1]", "map[2]"}') from weir.add_tasks($2, '[{"service": "s", "key": "map[0]", "needs": ["list"]}, {"service": "s", "key": "map[1]", "plan": true},
				{"service": "s", "key": "map[2]", "needs": ["map[0]"], "rule": "all_done", "max_attempts": 1}]') offset 2`, task, job)
		}
	}
}

func (c *planners) work(name string, failing bool) {
	for _, row := range c.look(`select task || ' ' || attempt || ' ' || token from weir.claim($1, '{s}', 10)`, name) {
		var l lease
		if _, err := fmt.Sscan(row, &l.Task, &l.Attempt, &l.Token); err != nil {
			c.Error(err)
			return
		}
		switch n := rand.IntN(20); {
		case n == 0 && failing:
			c.call(`select weir.fail($1, $2, $3, 'no', true)`, l.Task, l.Attempt, l.Token)
		case n == 1 && failing:
			c.call(`select weir.fail($1, $2, $3, 'again', retry_at => clock_timestamp())`, l.Task, l.Attempt, l.Token)
		default:
			c.call(`select weir.finish($1, $2, $3)`, l.Task, l.Attempt, l.Token)
		}
	}
}

// meddle is what people do meanwhile.
func (c *planners) meddle() {
	for _, task := range c.look(`select q.id from weir.tasks q order by random() limit 3`) {
		switch rand.IntN(6) {
		case 0:
			c.call(`select weir.set_priority($1, $2)`, task, rand.IntN(5))
		case 1:
			c.call(`select weir.retry($1)`, task)
		case 2:
			c.call(`select weir.relabel($1, '{}')`, task)
		case 3:
			c.call(`select weir.cancel_job((select job from weir.tasks where id = $1))`, task)
		default:
			c.call(`select weir.retry_job((select job from weir.tasks where id = $1))`, task)
		}
	}
}

// TestPlannersInAnyNumber lets several planners plan the same jobs while workers
// finish and fail, and people cancel and retry. When they have gone, one planner and
// one worker bring every job to its end; the doctor finds nothing.
func TestPlannersInAnyNumber(t *testing.T) {
	t.Parallel()
	e := start(t)
	c := &planners{engine: e, pool: e.widePool(12)}
	const jobs = 30
	e.exec(`select weir.submit_job('[{"service": "s", "key": "list"}, {"service": "s", "key": "map", "needs": ["list"], "plan": true}, {"service": "s", "key": "middle", "needs": ["list"], "plan": true},
		{"service": "s", "key": "end", "needs": ["map", "middle"], "rule": "all_done"}]', 'job') from generate_series(1, $1)`, jobs)
	var crowd sync.WaitGroup
	for _, do := range []func(){c.plan, c.plan, c.plan, func() { c.work("w1", true) }, func() { c.work("w2", true) }, func() { c.work("w3", true) }, c.meddle, c.meddle} {
		crowd.Go(func() {
			for range 25 {
				do()
			}
		})
	}
	crowd.Wait()
	for round := 0; one[int](e, `select count(*)::int from weir.job_live`) > 0; round++ {
		if round > 500 {
			t.Fatalf("%d jobs do not end", one[int](e, `select count(*)::int from weir.job_live`))
		}
		c.plan()
		c.work("last", false)
		// Leases that were taken by those who have gone are confirmed or done.
		c.call(`select weir.finish(task, attempt, token) from weir.running where cancel_at is null`)
		c.call(`select weir.confirm_cancel(task, attempt, token) from weir.running where cancel_at is not null`)
		c.call(`select weir.tend(true)`)
	}
	if n := one[int](e, `select count(*)::int from (select job, key from weir.tasks group by job, key having count(*) > 1) x`); n > 0 {
		t.Errorf("%d keys were made twice", n)
	}
	t.Log(all[string](e, `select state || ' ' || count(*) from weir.job group by state order by 1`))
}
