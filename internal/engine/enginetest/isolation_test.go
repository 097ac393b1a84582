package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ground makes, for one run, work of the kinds that its calls can collide on: of
// keys (lanes and pools), of a job, of one that grows. Names end in the run's
// number, so that runs share a database and not a key.
//
//	job: A and B run, X needs both, Y needs X, Z is available
//	lane: La runs, Lb waits · pool: Pa runs, Pb waits · rate: Ra runs, Rb waits
//	lane and two pools: Ma runs, M1 and M2 wait for the lane, not exclusive
//	F has failed, G is available, E runs and its lease ends first
//	a job that grows: C runs, D has failed, P is to be planned, Q needs C and P · a queued job
const ground = `
create function public.ground(i int, t timestamptz, keys boolean, job boolean, grows boolean) returns jsonb language plpgsql as $$
declare
  s text := 's' || i;
  j uuid;
  ids jsonb := '{}';
  l jsonb := '{}';
  r record;
begin
  perform weir.register_node('n' || i, at => t);
  perform weir.register_worker('w' || i, array[s], 'n' || i, at => t);
  perform weir.register_worker('v' || i, array[s], 'n' || i, at => t);
  if keys then
    perform weir.set_pool('pool' || i, 1, at => t);
    perform weir.set_pool('rate' || i, rate => 1, per => '1 min', at => t);
    perform weir.set_pool('small' || i, 1, at => t);
    perform weir.set_pool('large' || i, 1, at => t);
  end if;
  for r in select * from (values
    ('E', '{}'::jsonb), ('F', '{}'), ('La', '{"lane": "lane", "exclusive": true}'), ('Lb', '{"lane": "lane", "exclusive": true}'),
    ('Pa', '{"pool": "pool"}'), ('Pb', '{"pool": "pool"}'), ('Ra', '{"pool": "rate"}'), ('Rb', '{"pool": "rate"}'),
    ('Ma', '{"lane": "wide", "exclusive": true}'), ('M1', '{"lane": "wide", "pool": "large"}'), ('M2', '{"lane": "wide", "pool": "small"}')) v (name, spec)
    where keys or v.spec = '{}'
  loop
    ids := ids || jsonb_build_object(r.name, (select task from weir.submit_many(jsonb_build_array(
      r.spec || jsonb_build_object('service', s, 'max_attempts', 1)
      || case when r.spec ? 'lane' then jsonb_build_object('lane', (r.spec ->> 'lane') || i) else '{}' end
      || case when r.spec ? 'pool' then jsonb_build_object('pool', (r.spec ->> 'pool') || i) else '{}' end), false, t)));
  end loop;
  if keys then
    perform weir.open_gates(array['lane' || i, 'wide' || i], array['pool' || i, 'rate' || i, 'large' || i, 'small' || i], at => t);
  end if;
  if job then
    j := weir.submit_job(jsonb_build_array(
      jsonb_build_object('service', s, 'key', 'A', 'max_attempts', 1), jsonb_build_object('service', s, 'key', 'B', 'max_attempts', 1),
      jsonb_build_object('service', s || 'x', 'key', 'Z'), jsonb_build_object('service', s, 'key', 'Y', 'needs', '["X"]'::jsonb),
      jsonb_build_object('service', s, 'key', 'X', 'needs', '["A", "B"]'::jsonb, 'lane', 'lane' || i)), 'job', at => t);
    select ids || jsonb_object_agg(q.key, q.id) into ids from weir.tasks q where q.job = j;
    ids := ids || jsonb_build_object('job', j);
  end if;
  if grows then
    j := weir.submit_job(jsonb_build_array(
      jsonb_build_object('service', s, 'key', 'C', 'max_attempts', 1), jsonb_build_object('service', s, 'key', 'D', 'max_attempts', 1),
      jsonb_build_object('service', s || 'x', 'key', 'P', 'plan', true), jsonb_build_object('service', s, 'key', 'Q', 'needs', '["C", "P"]'::jsonb)), 'grows', at => t);
    select ids || jsonb_object_agg(q.key, q.id) into ids from weir.tasks q where q.job = j;
    ids := ids || jsonb_build_object('growing', j, 'queued', weir.open_job('queued', at => t));
  end if;
  for r in select * from weir.claim('w' || i, array[s], 20, at => t) loop
    l := l || jsonb_build_object(r.task::text, format('%L::uuid, %s, %L::uuid', r.task, r.attempt, r.token));
  end loop;
  perform weir.fail(f.task, f.attempt, f.token, 'broken', true, at => t) from weir.running f where f.task in ((ids ->> 'F')::uuid, (ids ->> 'D')::uuid);
  update weir.running x set until = t + interval '1 s' where x.task = (ids ->> 'E')::uuid;
  ids := ids || jsonb_build_object('G', weir.submit(s, at => t));
  return jsonb_build_object('ids', ids, 'leases', l);
end $$`

// calls are the operations that meet in the interleavings. {A} is the id of
// task A, {A!} its lease as arguments, {i} the run, {t} a time.
var calls = map[string]string{
	"finish A":       `select weir.finish({A!}, at => {t})`,
	"finish B":       `select weir.finish({B!}, at => {t})`,
	"fail A":         `select weir.fail({A!}, 'no', true, at => {t})`,
	"fail B":         `select weir.fail({B!}, 'no', true, at => {t})`,
	"finish A B":     `select weir.finish_many(array[{A}, {B}]::uuid[], array[1, 1], array[{A#}, {B#}]::uuid[], at => {t})`,
	"finish B A":     `select weir.finish_many(array[{B}, {A}]::uuid[], array[1, 1], array[{B#}, {A#}]::uuid[], at => {t})`,
	"fail B A":       `select weir.fail_many(array[{B}, {A}]::uuid[], array[1, 1], array[{B#}, {A#}]::uuid[], array['no', 'no'], array[true, true], at => {t})`,
	"start B A":      `select weir.start_many(array[{B}, {A}]::uuid[], array[1, 1], array[{B#}, {A#}]::uuid[], at => {t})`,
	"renew A B":      `select weir.renew('w{i}', array[{A}, {La}, {B}]::uuid[], array[1, 1, 1], array[{A#}, {La#}, {B#}]::uuid[], at => {t})`,
	"renew B A":      `select weir.renew('w{i}', array[{B}, {La}, {A}]::uuid[], array[1, 1, 1], array[{B#}, {La#}, {A#}]::uuid[], at => {t})`,
	"cancel A":       `select weir.cancel({A}, at => {t})`,
	"cancel X":       `select weir.cancel({X}, at => {t})`,
	"cancel Y":       `select weir.cancel({Y}, at => {t})`,
	"cancel Z":       `select weir.cancel({Z}, at => {t})`,
	"cancel job":     `select weir.cancel_job({job}, at => {t})`,
	"skip X":         `select weir.skip({X}, 'not needed', at => {t})`,
	"hold X":         `select weir.hold({X}, 'me', at => {t})`,
	"priority X":     `select weir.set_priority({X}, 5, at => {t})`,
	"finish La":      `select weir.finish({La!}, at => {t})`,
	"cancel Lb":      `select weir.cancel({Lb}, at => {t})`,
	"finish Ma":      `select weir.finish({Ma!}, at => {t})`,
	"finish Pa":      `select weir.finish({Pa!}, at => {t})`,
	"hold Pb":        `select weir.hold({Pb}, 'me', at => {t})`,
	"cancel Pb":      `select weir.cancel({Pb}, at => {t})`,
	"priority Pb":    `select weir.set_priority({Pb}, 5, at => {t})`,
	"finish Ra":      `select weir.finish({Ra!}, at => {t})`,
	"resize pool":    `select weir.set_pool('pool{i}', 2, at => {t})`,
	"resize rate":    `select weir.set_pool('rate{i}', rate => 2, per => '1 min', at => {t})`,
	"drop pool":      `select weir.drop_pool('pool{i}', true, at => {t})`,
	"open":           `select weir.open_gates(at => {t})`,
	"open small":     `select weir.open_gates(pools => array['small{i}', 'large{i}', 'rate{i}', 'pool{i}'], at => {t})`,
	"expire":         `select weir.expire(at => {t})`,
	"tend":           `select weir.tend(true, at => {t})`,
	"claim w":        `select weir.claim('w{i}', array['s{i}', 's{i}x'], 5, at => {t})`,
	"claim v":        `select weir.claim('v{i}', array['s{i}', 's{i}x'], 5, at => {t})`,
	"heartbeat w":    `select weir.heartbeat('w{i}', at => {t})`,
	"heartbeat v":    `select weir.heartbeat('v{i}', at => {t})`,
	"stop w":         `select weir.stop_worker('w{i}', at => {t})`,
	"retry F":        `select weir.retry({F}, at => {t})`,
	"skip F":         `select weir.skip({F}, 'fine', at => {t})`,
	"give back A":    `select weir.give_back_many(array[{A}]::uuid[], array[1], array[{A#}]::uuid[], at => {t})`,
	"confirm A":      `select weir.confirm_cancel({A!}, at => {t})`,
	"cancel G":       `select weir.cancel({G}, at => {t})`,
	"hold G":         `select weir.hold({G}, 'me', at => {t})`,
	"priority G":     `select weir.set_priority({G}, -5, at => {t})`,
	"finish E":       `select weir.finish({E!}, at => {t})`,
	"renew E":        `select weir.renew('w{i}', array[{E}]::uuid[], array[1], array[{E#}]::uuid[], at => {t})`,
	"expire again":   `select weir.expire(at => {t})`,
	"claim w again":  `select weir.claim('w{i}', array['s{i}'], 5, at => {t})`,
	"cancel G again": `select weir.cancel({G}, at => {t})`,
	"decide G":       `select weir.decide({G}, 'done', at => {t})`,
	"relabel G":      `select weir.relabel({G}, '{"gpu": "yes"}', at => {t})`,
	"finish C":       `select weir.finish({C!}, at => {t})`,
	"fail C":         `select weir.fail({C!}, 'no', true, at => {t})`,
	"plan P":         `select weir.plan_task({P}, '{"x": 1}', '{"gpu": "yes"}', at => {t})`,
	"decide P":       `select weir.decide({P}, 'skipped', cause => 'no', at => {t})`,
	"split P":        `select weir.wait_for({P}, array['P[0]', 'P[1]'], at => {t}) from weir.add_tasks({growing}, '[{"service": "s{i}x", "key": "P[0]"}, {"service": "s{i}x", "key": "P[1]", "needs": ["C"]}]', at => {t}) offset 1`,
	"hold P":         `select weir.hold({P}, 'me', at => {t})`,
	"priority P":     `select weir.set_priority({P}, 5, at => {t})`,
	"cancel P":       `select weir.cancel({P}, at => {t})`,
	"skip P":         `select weir.skip({P}, 'not needed', at => {t})`,
	"grow":           `select weir.add_tasks({growing}, '[{"service": "s{i}x", "key": "N", "needs": ["C"], "lane": "lane{i}"}, {"service": "s{i}x", "key": "O", "needs": ["D"]}]', at => {t})`,
	"cancel growing": `select weir.cancel_job({growing}, at => {t})`,
	"retry D":        `select weir.retry({D}, at => {t})`,
	"retry growing":  `select weir.retry_job({growing}, at => {t})`,
	"build":          `select weir.add_tasks({queued}, '[{"service": "s{i}x", "key": "only"}]', at => {t})`,
	"close queued":   `select weir.close_job({queued}, 'failed', 'no', at => {t})`,
	"cancel queued":  `select weir.cancel_job({queued}, at => {t})`,
}

// yard is a database with sessions on which interleavings are played.
type yard struct {
	*engine
	sessions []*session
	runs     int
}

func newYard(t *testing.T, sessions int) *yard {
	e := start(t)
	e.exec(ground)
	return &yard{engine: e, sessions: e.newSessions(sessions)}
}

// play makes new ground, plays the calls on it in that order and checks what
// holds after any order: no deadlock, no error but a refusal, and one state and
// at most one lease for every task (the doctor at the end of the test).
func (y *yard) play(order []int, names ...string) {
	y.Helper()
	y.runs++
	made := one[struct {
		IDs    map[string]string
		Leases map[string]string
	}](y.engine, `select g -> 'ids', g -> 'leases' from public.ground($1, $2, $3, $4, $5) g`, y.runs, epoch,
		touched(names, "{La", "{Lb", "{Ma", "{Pa", "{Pb", "{Ra", "pool{i}", "rate{i}", "small{i}", "lane{i}", "open_gates", "tend"),
		touched(names, "{A", "{B", "{X", "{Y", "{Z", "{job", "weir.claim"), touched(names, "{C", "{D", "{P}", "{Q", "{growing", "{queued"))
	replace := []string{"{i}", fmt.Sprint(y.runs), "{t}", "timestamptz '" + at(5).Format(time.RFC3339) + "'"}
	for name, id := range made.IDs {
		held := made.Leases[id]
		replace = append(replace, "{"+name+"}", "'"+id+"'::uuid", "{"+name+"!}", held, "{"+name+"#}", held[strings.LastIndex(held, ",")+1:])
	}
	ops := make([]string, len(names))
	for i, name := range names {
		ops[i] = strings.NewReplacer(replace...).Replace(calls[name])
	}
	for i, err := range play(y.sessions, order, ops) {
		switch code := sqlstate(err); code {
		case "", "WR409", "WR404":
		case "40P01":
			y.Errorf("deadlock: %s (order %v; %s was the victim)", strings.Join(names, " | "), order, names[i])
		default:
			y.Errorf("%s (order %v): %s: %v", strings.Join(names, " | "), order, names[i], err)
		}
	}
}

// touched says whether one of the calls names one of these.
func touched(names []string, words ...string) bool {
	for _, name := range names {
		for _, word := range words {
			if strings.Contains(calls[name], word) {
				return true
			}
		}
	}
	return false
}

// TestIsolationPairs plays every overlap of two calls that touch the same task.
func TestIsolationPairs(t *testing.T) {
	t.Parallel()
	y := newYard(t, 2)
	about := [][]string{
		{"claim w", "claim v", "cancel G", "hold G", "priority G", "decide G", "relabel G"},
		{"plan P", "decide P", "split P", "hold P", "priority P", "cancel P", "skip P", "finish C", "cancel growing", "retry growing"},
		{"grow", "split P", "finish C", "fail C", "retry D", "retry growing", "cancel growing", "tend"},
		{"build", "close queued", "cancel queued"},
		{"expire", "expire again", "finish E", "renew E", "stop w"},
		{"finish A", "fail A", "cancel A", "give back A", "confirm A", "cancel job"},
		{"finish La", "cancel Lb", "open", "tend"},
		{"finish Pa", "hold Pb", "cancel Pb", "priority Pb", "open"},
		{"retry F", "skip F"},
	}
	for _, group := range about {
		for i, a := range group {
			for _, b := range group[i:] {
				for _, order := range overlapping(2) {
					y.play(order, a, b)
				}
			}
		}
	}
}

// TestIsolationLockOrder plays three calls: the first holds something, the
// second and the third wait for it, each with something of its own in hand. Two
// calls that take locks in different orders deadlock here.
func TestIsolationLockOrder(t *testing.T) {
	t.Parallel()
	y := newYard(t, 3)
	for _, names := range [][]string{
		{"hold X", "fail A", "finish B"},
		{"hold X", "finish A", "cancel X"},
		{"hold X", "finish A", "skip X"},
		{"cancel Y", "fail A", "finish B"},
		{"cancel Z", "cancel job", "finish A"},
		{"cancel Z", "cancel job", "tend"},
		{"finish La", "renew A B", "finish B A"},
		{"finish La", "renew A B", "renew B A"},
		{"finish La", "renew A B", "fail B A"},
		{"finish La", "renew A B", "start B A"},
		{"claim v", "claim w", "heartbeat w"},
		{"open small", "finish Ra", "resize rate"},
		{"finish Pa", "drop pool", "priority Pb"},
		{"finish Pa", "drop pool", "hold Pb"},
		{"finish Pa", "drop pool", "cancel Pb"},
		{"finish Ra", "open small", "finish Ma"},
		{"finish A", "finish B", "cancel job"},
		{"claim w", "claim v", "cancel G"},
		{"expire", "claim w", "cancel job"},
		{"hold P", "split P", "finish C"},
		{"hold P", "plan P", "cancel growing"},
		{"finish C", "grow", "finish La"},
		{"retry growing", "split P", "fail C"},
		{"finish C", "retry growing", "cancel growing"},
	} {
		for _, order := range [][]int{{0, 1, 2, 0, 1, 2}, {0, 2, 1, 0, 1, 2}} {
			y.play(order, names...)
		}
	}
}

// TestIsolationThree plays every overlap of three calls that race for one task: a claim, an expiry, a cancel, two openers, a finish.
func TestIsolationThree(t *testing.T) {
	t.Parallel()
	y := newYard(t, 3)
	for _, names := range [][]string{
		{"claim w", "cancel G", "hold G"},
		{"expire", "finish E", "claim v"},
		{"open", "tend", "finish La"},
		{"finish A", "finish B", "cancel X"},
		{"split P", "plan P", "finish C"},
		{"grow", "fail C", "retry D"},
	} {
		for _, order := range overlapping(3) {
			y.play(order, names...)
		}
	}
}
