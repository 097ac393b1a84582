//go:build unix

package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/coordinator"
)

// mapItems is how many items the map of a dynamic workflow has.
const mapItems = 50

// dynamic stores workflows whose steps must be planned: a map of 50, steps that run
// depending on the result of another, and a nested workflow that has a map too. Of the
// narrow one two jobs run at a time: the others wait to be built.
func (s *storm) dynamic() {
	s.Helper()
	work := func(ms int) map[string]any { return map[string]any{"work_ms": ms} }
	numbers := make([]int, mapItems)
	for i := range numbers {
		numbers[i] = 20 + i%5*20
	}
	s.put(map[string]any{"name": "inner", "steps": []map[string]any{
		{"key": "a", "service": "work", "params": work(20)},
		{"key": "b", "service": "work", "needs": []string{"a"}, "map": map[string]any{"over": numbers[:5]}, "params": map[string]any{"work_ms": "{{ .item }}"}},
		{"key": "c", "service": "work", "needs": []string{"b"}, "params": work(20)},
	}})
	steps := []map[string]any{
		{"key": "first", "service": "work", "params": work(20)},
		{"key": "fan", "service": "work", "needs": []string{"first"}, "map": map[string]any{"over": numbers, "limit": 20}, "params": map[string]any{"work_ms": "{{ .item }}"}},
		{"key": "yes", "service": "work", "needs": []string{"first"}, "when": "needs.first.result.attempt == 1", "params": work(20)},
		{"key": "no", "service": "work", "needs": []string{"first"}, "when": "needs.first.result.attempt > 1", "params": work(20)},
		{"key": "sub", "workflow": "inner", "needs": []string{"fan", "yes", "no"}},
		{"key": "last", "service": "work", "needs": []string{"sub"}, "params": map[string]any{"work_ms": "{{ .needs.sub.result.steps.a.attempt }}"}},
	}
	s.put(map[string]any{"name": "wide", "steps": steps})
	s.put(map[string]any{"name": "narrow", "max_running": 2, "steps": steps})
}

// dynamicDone judges the jobs of dynamic workflows. No worker was hit, so every task that
// ran did so once.
func (s *storm) dynamicDone() []Finding {
	s.Helper()
	var found []Finding
	find := func(format string, args ...any) {
		found = append(found, Finding{ruleJob, "", fmt.Sprintf(format, args...)})
	}
	for _, job := range s.jobs {
		if got := s.text(`select state from weir.job where id = $1`, job); got != "done" {
			find("job %s is %s", job, got)
		}
		states := s.text(`select string_agg(key || ' ' || state, ', ' order by position) from weir.task where job = $1 and key !~ '\['`, job)
		if states != "first done, fan done, yes done, no skipped, sub done, last done" {
			find("job %s: %s", job, states)
		}
		if n, keys := s.count(`select count(*) from weir.task where job = $1 and key ~ '^fan\['`, job), s.count(`select count(distinct key) from weir.task where job = $1 and key ~ '^fan\[' and state = 'done'`, job); n != mapItems || keys != mapItems {
			find("job %s: the map has %d items, %d of them done", job, n, keys)
		}
		if n := s.count(`select coalesce(jsonb_array_length(result -> 'items'), 0) from weir.task where job = $1 and key = 'fan'`, job); n != mapItems {
			find("job %s: the map's result has %d items", job, n)
		}
		inside := s.text(`select coalesce(string_agg(j.state || ': ' || (select string_agg(t.key || ' ' || t.state, ', ' order by t.position) from weir.task t where t.job = j.id), '; '), 'none')
			from weir.job j join weir.task p on p.id = j.parent where p.job = $1`, job)
		if inside != "done: a done, b done, c done, b[0] done, b[1] done, b[2] done, b[3] done, b[4] done" {
			find("job %s: inside it: %s", job, inside)
		}
	}
	if keys := s.text(`select coalesce(string_agg(t.key || ' ' || n, ', '), '') from (select u.task, count(*) n from weir.events e, unnest(coalesce(e.tasks, array[e.task])) u (task)
		where e.type = 'claimed' group by u.task) c join weir.task t on t.id = c.task where c.n > 1 or t.key in ('fan', 'sub', 'b', 'no')`); keys != "" {
		find("run more than once, or run at all though only planned: %s", keys)
	}
	return found
}

func (s *storm) text(sql string, args ...any) (text string) {
	s.Helper()
	if err := s.pool.QueryRow(s.ctx, sql, args...).Scan(&text); err != nil {
		s.Fatal(err)
	}
	return text
}

// leaderOf returns the leading server, if there is one.
func (s *storm) leaderOf(servers []*Agent) *Agent {
	var holder string
	err := s.pool.QueryRow(s.ctx, `select holder_id from weir.system_locks where lock_name = $1 and expires_at > clock_timestamp()`, coordinator.Lock).Scan(&holder)
	if err != nil && err != pgx.ErrNoRows {
		s.Fatal(err)
	}
	for _, a := range servers {
		if a.Name == holder {
			return a
		}
	}
	return nil
}

// TestR5R9_LeaderKilledWhilePlanning repeatedly kills and pauses the leader while it
// builds jobs and plans their steps. Every job ends once, and no item of a map and no
// nested job exists twice.
func TestR5R9_LeaderKilledWhilePlanning(t *testing.T) {
	t.Parallel()
	s := newStorm(t, newRun(t))
	s.lease = 10 * time.Second // workers are not hit
	s.dynamic()
	s.workers(2, with(plain(), func(o *Orders) { o.Tend, o.Slots, o.Patience = false, 6, 5*time.Second }), nil)
	lives := 0
	hire := func() *Agent {
		lives++
		return s.agent(Orders{Name: fmt.Sprintf("server-%d", lives), Kind: "conductor", Lease: time.Second}, nil)
	}
	servers := []*Agent{hire(), hire()}
	const blows = 10
	for n := range blows {
		if s.live() < 3 {
			s.begin("wide")
			for range 3 {
				s.begin("narrow")
			}
		}
		var leader *Agent
		s.eventually("somebody leads", func() bool { leader = s.leaderOf(servers); return leader != nil })
		s.pass(time.Duration(n*37%200) * time.Millisecond)
		if n%3 == 2 {
			if err := leader.Pause(); err != nil {
				t.Fatal(err)
			}
			s.pass(1500 * time.Millisecond)
			if err := leader.Resume(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		leader.Stop()
		for i := range servers {
			if servers[i] == leader {
				servers[i] = hire()
			}
		}
	}
	s.heal()
	s.eventually("every job has ended", func() bool { return s.live() == 0 })
	if found := append(s.findings(), s.dynamicDone()...); len(found) > 0 {
		t.Error(Report(found))
	}
	t.Logf("%d jobs, %d blows at the leader, epoch %d", len(s.jobs), blows, s.count(`select max(epoch)::int from weir.system_locks where lock_name = $1`, coordinator.Lock))
}

// latePlan lets an old leader plan a map that has been split already. Its items run; the
// step itself must not.
func latePlan(r *run, _ bool) []Finding {
	s := newStorm(r.T, r)
	s.dynamic()
	s.workers(2, plain(), nil)
	s.conductor("server")
	job := s.begin("wide")
	s.eventually("the map is split", func() bool {
		return s.count(`select count(*) from weir.task where job = $1 and key = 'fan[0]'`, job) == 1
	})
	var fan weir.ID
	var planned bool
	if err := s.pool.QueryRow(s.ctx, `select id, weir.plan_task(id) from weir.task where job = $1 and key = 'fan'`, job).Scan(&fan, &planned); err != nil {
		s.Fatal(err)
	}
	s.heal()
	s.within(20*time.Second, func() bool { return s.live() == 0 })
	return append(s.findings(), s.dynamicDone()...)
}
