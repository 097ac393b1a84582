package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// buffers is how many blocks of tables and indexes a statement touched, with
// all that its functions did: a measure of work that no machine changes.
func (e *engine) buffers(sql string, args ...any) float64 {
	e.Helper()
	var out []byte
	if err := e.Pool.QueryRow(context.Background(), `explain (analyze, buffers, timing off, format json) `+sql, args...).Scan(&out); err != nil {
		e.Fatalf("%s: %v", sql, err)
	}
	var plan []struct {
		Plan struct {
			Hit  float64 `json:"Shared Hit Blocks"`
			Read float64 `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(out, &plan); err != nil {
		e.Fatal(err)
	}
	return plan[0].Plan.Hit + plan[0].Plan.Read
}

// entries is how many entries of indexes the statements read, dead ones included,
// all of them on one connection: what a walk over dead rows costs, which blocks
// do not show.
func (e *engine) entries(statements ...string) int {
	e.Helper()
	conn := e.connect()
	defer conn.Close(context.Background())
	read := func() int {
		if _, err := conn.Exec(context.Background(), `select pg_stat_force_next_flush()`); err != nil {
			e.Fatal(err)
		}
		found, err := ask[int](conn, `select sum(idx_tup_read)::int from pg_stat_user_indexes where schemaname = 'weir'`)
		if err != nil || len(found) != 1 {
			e.Fatal(err)
		}
		return found[0]
	}
	// The first time a connection asks, it reads catalogs only.
	before := read()
	for _, sql := range statements {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			e.Fatalf("%s: %v", sql, err)
		}
	}
	return read() - before
}

// chain submits n tasks, each of which needs the one before, and returns the job.
func (e *engine) chain(sec float64, service string, n int) string {
	e.Helper()
	return one[string](e, `select weir.submit_job((select jsonb_agg(jsonb_build_object('service', $1::text, 'key', 'k' || i)
		|| case when i > 1 then jsonb_build_object('needs', jsonb_build_array('k' || i - 1)) else '{}' end order by i) from generate_series(1, $2::int) i), 'chain', at => $3)`, service, n, at(sec))
}

// TestWorkGrowsWithWhatItDoes compares n and 4 n: four times as many tasks cost
// about four times as much, never sixteen times.
func TestWorkGrowsWithWhatItDoes(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(e *engine, n int) float64{
		"open a ranked lane": func(e *engine, n int) float64 {
			lane := fmt.Sprint("lane", n)
			e.exec(`select weir.submit_many((select jsonb_agg(jsonb_build_object('service', $1::text, 'lane', $1::text, 'rank', 1)) from generate_series(1, $2::int)), false, $3)`, lane, n, at(0))
			cost := e.buffers(`select weir.open_gates(array[$1], '{}', at => $2)`, lane, at(1))
			if got := one[int](e, `select count(*)::int from weir.available where lane = $1`, lane); got != n {
				t.Errorf("%d of %d are open", got, n)
			}
			return cost
		},
		"open a lane beside as many": func(e *engine, n int) float64 {
			lane := fmt.Sprint("lane", n)
			e.exec(`select weir.submit_many((select jsonb_agg(jsonb_build_object('service', $1::text, 'lane', $1::text, 'rank', 1)) from generate_series(1, $2::int)), false, $3)`, lane, n, at(0))
			e.exec(`select weir.open_gates(array[$1], '{}', at => $2)`, lane, at(1))
			cost := 0.0
			for range n / 20 {
				e.submit(2, spec{"service": lane, "lane": lane, "rank": 1})
				cost += e.buffers(`select weir.open_gates(array[$1], '{}', at => $2)`, lane, at(2))
			}
			return cost
		},
		"retry a chain": func(e *engine, n int) float64 {
			service := fmt.Sprint("chain", n)
			job := e.chain(0, service, n)
			e.fail(1, e.claimOne(1, "w", service), "no")
			for one[bool](e, `select more from weir.tend(at => $1)`, at(2)) {
			}
			cost := e.buffers(`select weir.retry((select id from weir.task where job = $1 and key = 'k1'), at => $2)`, job, at(3))
			if got := one[int](e, `select count(*)::int from weir.pending where job = $1`, job); got != n-1 {
				t.Errorf("%d of %d wait again", got, n-1)
			}
			return cost
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			work(e, 10) // plans, catalogs
			small, large := work(e, 60), work(e, 240)
			t.Logf("%.0f blocks for n, %.0f for 4 n: %.1f times", small, large, large/small)
			if large > 9*small {
				t.Errorf("%.0f blocks for n, %.0f for 4 n: %.1f times", small, large, large/small)
			}
		})
	}
}

// TestALongChainIsSkippedInSteps: the end of the first task of a chain is told a
// hundred tasks far, and the passes of tend go on. Whatever happens in between,
// the job counts right.
func TestALongChainIsSkippedInSteps(t *testing.T) {
	t.Parallel()
	e := start(t)
	job := e.chain(0, "s", 350)
	key := func(n int) string {
		return one[string](e, `select id from weir.task where job = $1 and key = $2`, job, fmt.Sprint("k", n))
	}
	skipped := func() int { return one[int](e, `select skipped from weir.job_live where job = $1`, job) }
	sound := func(when string) {
		t.Helper()
		for _, line := range all[string](e, `select name || ': ' || detail from weir.doctor(at => $1) where not ok and level = 'invariant'`, at(10)) {
			t.Errorf("%s: %s", when, line)
		}
	}
	e.fail(1, e.claimOne(1, "w", "s"), "no")
	if n := skipped(); n != 100 {
		t.Fatalf("%d are skipped by the end of the first", n)
	}
	sound("after the end")
	if c := e.why(2, key(102), "needs"); !strings.Contains(c.Reason, "k101 (skipped)") || !strings.Contains(c.Reason, "step by step") {
		t.Errorf("why: %+v", c)
	}
	// Retried before the chain was followed to its end, and failed again.
	e.exec(`select weir.retry($1, at => $2)`, key(1), at(3))
	if n := one[int](e, `select count(*)::int from weir.pending where job = $1`, job); n != 349 {
		t.Fatalf("%d wait after the retry", n)
	}
	sound("after the retry")
	e.fail(4, e.claimOne(4, "w", "s"), "no")
	e.exec(`select weir.cancel($1, at => $2)`, key(340), at(5)) // one further on ends by itself
	sound("after a task was canceled in between")
	passes := 0
	for one[bool](e, `select more from weir.tend(at => $1)`, at(6)) {
		passes++
		sound("between two passes")
	}
	if passes != 2 {
		t.Errorf("%d passes", passes)
	}
	if got := one[string](e, `select state::text || ' ' || skipped || ' ' || canceled from weir.job where id = $1`, job); got != "failed 348 1" {
		t.Errorf("the job is %s", got)
	}
}

// TestTheEndOfATaskDoesNotCountItsPool: the end of a task in a full pool costs
// the same however many hold the pool.
func TestTheEndOfATaskDoesNotCountItsPool(t *testing.T) {
	t.Parallel()
	e := start(t)
	const n = 2000
	e.exec(`select weir.set_pool('p', $1)`, n)
	e.exec(`select weir.submit_many((select jsonb_agg('{"service": "s", "pool": "p"}'::jsonb) from generate_series(1, $1::int)))`, n+100)
	e.exec(`select weir.open_gates('{}', '{p}')`)
	e.exec(`select count(*) from weir.claim('w', '{s}', $1)`, n)
	const end = `select weir.finish(task, attempt, token) from weir.running limit 1`
	e.entries(end)
	read := e.entries(end, end, end, end, end) / 5
	t.Logf("the end of a task of %d read %d entries", n, read)
	if read > n/4 {
		t.Errorf("the end of one task read %d entries of indexes, in a pool of %d", read, n)
	}
	if waits := one[int](e, `select count(*)::int from weir.pending`); waits != 94 {
		t.Errorf("%d wait, want 94: each end lets one in", waits)
	}
}
