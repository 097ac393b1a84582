package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Times and spans at the ends of what PostgreSQL and Weir take, and beyond.
var (
	extremeTimes = []string{
		"infinity", "-infinity", "4713-01-01 00:00:00+00 BC", "0001-01-01 00:00:00+00", "1969-12-31 23:59:59+00", "1970-01-01 00:00:00+00",
		"9998-12-31 23:59:59+00", "9999-01-01 00:00:00+00", "294276-12-31 00:00:00+00",
	}
	extremeSpans = []string{"-178000000 years", "-1 s", "0", "1 us", "100 years", "100 years 1 us", "300000 years", "178000000 years", "1200 mons 3 days"}
)

// takesTime and takesSpan are the public functions that take a time or a span,
// as $1. Words in brackets stand for things of the test.
var (
	takesTime = map[string]string{
		"submit.run_at":          `select weir.submit('s', run_at => $1)`,
		"submit_many.run_at":     `select weir.submit_many(jsonb_build_array(jsonb_build_object('service', 's', 'run_at', $1::timestamptz)))`,
		"submit_job.run_at":      `select weir.submit_job(jsonb_build_array(jsonb_build_object('service', 's', 'run_at', $1::timestamptz)), 'job')`,
		"submit.at":              `select weir.submit('s', at => $1)`,
		"open_job.due":           `select weir.close_job(weir.open_job('job', due => $1), 'canceled', 'over')`,
		"open_job.scheduled_at":  `select weir.close_job(weir.open_job('job', scheduled_at => $1), 'canceled', 'over')`,
		"reschedule_job.due":     `select weir.reschedule_job('{queued}', $1)`,
		"plan_task.run_at":       `select weir.plan_task('{planned}', run_at => $1)`,
		"set_schedule.next_at":   `select weir.set_schedule('x', '@every 1h', '{"service": "s"}', $1, jitter => '100 years')`,
		"fire_schedule.due":      `select weir.fire_schedule('fired', (select next_at from weir.schedules where name = 'fired'), array[$1::timestamptz], clock_timestamp())`,
		"fire_schedule.next_at":  `select weir.fire_schedule('fired', (select next_at from weir.schedules where name = 'fired'), array[clock_timestamp()], $1)`,
		"fail.retry_at":          `select weir.fail(task, attempt, token, 'no', retry_at => $1) from weir.claim('w', '{lives}', at => '{now}')`,
		"fail_many.retry_at":     `select weir.fail_many(array[task], array[attempt], array[token], '{no}', retry_at => array[$1::timestamptz]) from weir.claim('w', '{lives}', at => '{now}')`,
		"give_back_many.until":   `select weir.give_back_many(array[task], array[attempt], array[token], $1) from weir.claim('w', '{lives}', at => '{now}')`,
		"set_node_mode.until":    `select weir.set_node_mode('n', 'draining', until => $1)`,
		"claim.at":               `select weir.claim('w', '{idle}', at => $1)`,
		"tend.at, nothing to do": `select weir.tend(true, at => $1) where false`,
		"why.at":                 `select weir.why('{planned}', at => $1)`,
	}
	takesSpan = map[string]string{
		"submit.timeout":        `select weir.submit('s', timeout => $1)`,
		"submit.backoff":        `select weir.submit('s', backoff => $1, max_attempts => 10000)`,
		"submit.backoff_cap":    `select weir.submit('s', backoff_cap => $1, backoff => '100 years', max_attempts => 10000)`,
		"submit_many.timeout":   `select weir.submit_many(jsonb_build_array(jsonb_build_object('service', 's', 'timeout', $1::interval)))`,
		"claim.lease":           `select weir.give_back_many(array[task], array[attempt], array[token]) from weir.claim('w', '{lives}', lease => $1)`,
		"renew.lease":           `select weir.renew('w', array_agg(task), array_agg(attempt), array_agg(token), $1), weir.give_back_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{lives}')`,
		"lead.ttl":              `select weir.lead('a lock', 'me', $1)`,
		"set_pool.per":          `select weir.set_pool('rated', rate => 1000000, per => $1)`,
		"set_schedule.catch_up": `select weir.set_schedule('y', '@every 1h', '{"service": "s"}', clock_timestamp(), catch_up => $1)`,
		"set_schedule.jitter":   `select weir.set_schedule('z', '@every 1h', '{"service": "s"}', clock_timestamp(), jitter => $1)`,
		"ensure_partitions":     `select weir.ensure_partitions(366, ahead => $1)`,
		"drop_partitions":       `select weir.drop_partitions($1)`,
		"workspace_policy":      `select weir.set_workspace_policy(jsonb_build_object('standby_ttl', $1::interval, 'archive_ttl', $1::interval, 'max_life', $1::interval, 'busy_most', $1::interval))`,
		"fleet_claim.lease":     `select weir.fleet_claim('w', 'nowhere', lease => $1)`,
	}
)

// TestExtremesSurviveEveryFunction sends every extreme time and span through
// every public function that takes one: it is taken or refused as bad input,
// never anything else. What was taken then lives on through every function that
// may meet it, until the end of time.
func TestExtremesSurviveEveryFunction(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.SkipDoctor("the clock stands at the end of time; the test asks for the invariants itself")
	e.exec(`select weir.set_schedule('fired', '@every 1h', '{"service": "s"}', clock_timestamp())`)
	e.exec(`select weir.register_node('n')`)
	words := strings.NewReplacer("{now}", "now", "{queued}", one[string](e, `select weir.open_job('queued', due => clock_timestamp() + interval '1 h')`))
	taken := map[bool]int{}
	send := func(name, sql, value string) {
		sql = words.Replace(sql)
		if strings.Contains(sql, "{lives}") {
			e.exec(`select weir.submit('lives')`)
		}
		if strings.Contains(sql, "{planned}") {
			e.exec(`select weir.submit_job('[{"service": "s", "plan": true}]', 'job')`)
			sql = strings.ReplaceAll(sql, "{planned}", one[string](e, `select task from weir.pending where gate = 'plan' limit 1`))
		}
		_, err := e.Pool.Exec(context.Background(), sql, value)
		taken[err == nil]++
		switch code := sqlstate(err); code {
		case "", "WR404":
		case "WR422":
			field := name[strings.LastIndex(name, ".")+1:]
			pgErr := err.(*pgconn.PgError)
			if strings.Contains(name, ".") && !strings.Contains(pgErr.Message, field) && !strings.Contains(pgErr.Message, "positive") {
				t.Errorf("%s = %s: %q does not name the field", name, value, pgErr.Message)
			}
		default:
			t.Errorf("%s = %s: %v", name, value, err)
		}
	}
	for _, value := range extremeTimes {
		for name, sql := range takesTime {
			send(name, sql, value)
		}
	}
	for _, value := range extremeSpans {
		for name, sql := range takesSpan {
			send(name, sql, value)
		}
	}
	t.Logf("%d taken, %d refused", taken[true], taken[false])
	if taken[true] < 50 || taken[false] < 50 {
		t.Errorf("%d taken, %d refused: the test tests nothing", taken[true], taken[false])
	}
	e.exec(`select weir.submit('s', pool => 'rated') from generate_series(1, 3)`)

	leases := `from weir.claim('w', '{s,lives}', 100, lease => '100 years', at => $1)`
	for _, now := range []string{"now", "2200-01-01 00:00:00+00", "9998-06-01 00:00:00+00"} {
		for _, sql := range []string{
			`select extract(epoch from next_at - clock_timestamp()) from weir.tend(true, at => $1)`,
			`select weir.open_gates(at => $1)`,
			`select weir.fail_many(array_agg(task), array_agg(attempt), array_agg(token), array_agg('no'::text), at => $1) ` + leases,
			`select weir.give_back_many(array_agg(task), array_agg(attempt), array_agg(token), at => $1) ` + leases,
			`select weir.renew('w', array_agg(task), array_agg(attempt), array_agg(token), '100 years', at => $1) ` + leases,
			`select weir.expire(at => $1)`,
			`select w.* from weir.tasks q, weir.why(q.id, at => $1) w`,
			`select w.* from weir.jobs j, weir.why_job(j.id, at => $1) w`,
			`select * from weir.task where since <= $1::timestamptz`,
			`select weir.fleet_tend(at => $1)`,
			`select weir.workspace_expire(at => $1)`,
			`select weir.plan_wakes(at => $1)`,
			`select weir.doctor(true, at => $1)`,
		} {
			if _, err := e.Pool.Exec(context.Background(), sql, now); err != nil {
				t.Errorf("at %s: %s: %v", now, sql, err)
			}
		}
	}
	if far := one[bool](e, `select next_at > clock_timestamp() + interval '1 day 1 min' from weir.tend()`); far {
		t.Error("tend names a time that no caller can count to")
	}
	for _, line := range all[string](e, `select name || ': ' || detail from weir.doctor(true) where not ok and level = 'invariant'`) {
		t.Error(line)
	}
}

// TestBackoffGrowsToItsCapForEver asks for the delay of every attempt there can
// be, with the least and the largest base.
func TestBackoffGrowsToItsCapForEver(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, base := range []string{"15 s", "100 years"} {
		if n := one[int](e, `select count(*)::int from generate_series(1, 32767) n where weir._backoff(n, $1::interval, '15 min', 1) is distinct from least($1::interval * 2 ^ least(n - 1, 6), '15 min')`, base); n > 0 {
			t.Errorf("base %s: %d delays are wrong", base, n)
		}
	}
	// The 41st failure of a task, through fail and through expiry.
	id := e.submit(0, spec{"service": "s", "max_attempts": 10000, "timeout": "1 s"})
	e.exec(`update weir.available set attempt = 40`)
	e.exec(`update weir.events set attempt = 40 where tasks = array[$1::uuid]`, id)
	if got := one[string](e, `select weir.fail(task, attempt, token, 'no', retry_at => $1, at => $1) from weir.claim('w', '{s}', at => $1)`, at(1)); got != "ok" {
		t.Error(got)
	}
	e.run(2, id)
	e.tend(4)
	e.want(map[string]string{id: "pending"})
}

// TestASnoozeNeverRunsOutOfAttempts snoozes, hands back and retries a task that
// has had more leases than an attempt can count.
func TestASnoozeNeverRunsOutOfAttempts(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s", "max_attempts": 2})
	other := e.submit(0, spec{"service": "s"})
	// As 19,998 snoozes leave it.
	e.exec(`update weir.available set attempt = 19998 where task = $1`, id)
	e.exec(`insert into weir.forgiven (task, returns) values ($1, 19998)`, id)
	e.exec(`update weir.events set attempt = 19998 where tasks = array[$1::uuid]`, id)
	sec := 1.0
	for i := range 10 {
		l := e.run(sec, id)
		if want := min(19999+i, 20001); l.Attempt != want {
			t.Fatalf("lease %d has attempt %d, want %d", i, l.Attempt, want)
		}
		if i%2 == 0 {
			e.giveBack(sec, l)
		} else if got := e.giveBack(sec, l, sec+1); got != "ok" {
			t.Fatal(got)
		}
		if i == 9 && e.giveBack(sec, l) != "repeated" {
			t.Error("the same call again is not repeated")
		}
		sec += 2
		e.tend(sec)
	}
	// Two attempts are still all that may fail, and a stale token is still stale.
	first := e.run(sec, id)
	e.failRetry(sec, first, sec)
	second := e.run(sec, id)
	if second.Attempt != first.Attempt+1 {
		t.Errorf("attempt %d after %d", second.Attempt, first.Attempt)
	}
	if got := e.finish(sec, lease{id, second.Attempt, first.Token}); got != "lease_lost" {
		t.Error(got)
	}
	e.failRetry(sec, second, sec)
	e.want(map[string]string{id: "failed", other: "available"})
	e.exec(`select weir.retry($1, at => $2)`, id, at(sec))
	if again := e.run(sec, id); again.Attempt != 20001 {
		t.Errorf("after a retry it has attempt %d", again.Attempt)
	}
}
