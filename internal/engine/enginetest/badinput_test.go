package enginetest

import (
	"strings"
	"testing"
)

// submitted is the submission of tasks, submittedJob that of a job.
func submitted(tasks string) string    { return `select weir.submit_many('[` + tasks + `]')` }
func submittedJob(tasks string) string { return `select weir.submit_job('[` + tasks + `]', 'job')` }

// badInput is what nobody should send, with the code and a word of the message
// that must come back. The words in brackets stand for tasks of the test.
var badInput = []struct{ name, code, says, sql string }{
	{"no service", "WR422", "service", submitted(`{}`)},
	{"empty service", "WR422", "service", submitted(`{"service": ""}`)},
	{"long service", "WR422", "service", submitted(`{"service": "{long}"}`)},
	{"not an array", "WR422", "tasks", `select weir.submit_many('{"service": "a"}')`},
	{"null", "WR422", "tasks", `select weir.submit_many(null)`},
	{"not objects", "WR422", "tasks", submitted(`1`)},
	{"unknown field", "WR422", "colour", submitted(`{"service": "a", "colour": "red"}`)},
	{"unknown pool", "WR422", "pool", submitted(`{"service": "a", "pool": "nowhere"}`)},
	{"second of a batch", "WR422", "task 2", submitted(`{"service": "a"}, {"service": ""}`)},
	{"priority too high", "WR422", "priority", submitted(`{"service": "a", "priority": 101}`)},
	{"priority too low", "WR422", "priority", submitted(`{"service": "a", "priority": -32769}`)},
	{"priority overflows", "WR422", "priority", submitted(`{"service": "a", "priority": -99999999999}`)},
	{"priority is text", "WR422", "priority", submitted(`{"service": "a", "priority": "high"}`)},
	{"priority is a fraction", "WR422", "priority", submitted(`{"service": "a", "priority": 1.5}`)},
	{"negative attempts", "WR422", "max_attempts", submitted(`{"service": "a", "max_attempts": -1}`)},
	{"no attempts", "WR422", "max_attempts", submitted(`{"service": "a", "max_attempts": 0}`)},
	{"too many attempts", "WR422", "max_attempts", submitted(`{"service": "a", "max_attempts": 10001}`)},
	{"labels are a list", "WR422", "labels", submitted(`{"service": "a", "labels": ["gpu"]}`)},
	{"label is a number", "WR422", "labels", submitted(`{"service": "a", "labels": {"gpu": 1}}`)},
	{"run_at is no time", "WR422", "run_at", submitted(`{"service": "a", "run_at": "soon"}`)},
	{"run_at never comes", "WR422", "run_at", submitted(`{"service": "a", "run_at": "infinity"}`)},
	{"empty hold", "WR422", "hold", submitted(`{"service": "a", "hold": ""}`)},
	{"empty lane", "WR422", "lane", submitted(`{"service": "a", "lane": ""}`)},
	{"rank without a lane", "WR422", "lane", submitted(`{"service": "a", "rank": 1}`)},
	{"exclusive without a lane", "WR422", "lane", submitted(`{"service": "a", "exclusive": true}`)},
	{"timeout of nothing", "WR422", "timeout", submitted(`{"service": "a", "timeout": "0 s"}`)},
	{"timeout is no interval", "WR422", "timeout", submitted(`{"service": "a", "timeout": "a while"}`)},
	{"negative backoff", "WR422", "backoff", submitted(`{"service": "a", "backoff": "-1 s"}`)},
	{"unknown orphan policy", "WR422", "orphan", submitted(`{"service": "a", "orphan": "adopt"}`)},
	{"empty idempotency key", "WR422", "idempotency_key", submitted(`{"service": "a", "idempotency_key": ""}`)},
	{"empty unique key", "WR422", "unique_key", submitted(`{"service": "a", "unique_key": ""}`)},
	{"needs outside a job", "WR422", "needs", submitted(`{"service": "a", "needs": ["b"]}`)},
	{"17 MB of params", "WR422", "params", `select weir.submit('a', jsonb_build_object('blob', repeat('x', 17 * 1000 * 1000)))`},
	{"NUL in JSON", "22P05", "", submitted(`{"service": "a", "params": {"text": "\u0000"}}`)},
	{"empty job", "WR422", "tasks", submittedJob(``)},
	{"job without a name", "WR422", "name", `select weir.submit_job('[{"service": "a"}]', '')`},
	{"job priority", "WR422", "priority", `select weir.submit_job('[{"service": "a"}]', 'job', priority => 101)`},
	{"missing need", "WR422", "needs", submittedJob(`{"service": "a", "key": "a", "needs": ["b"]}`)},
	{"null as a need", "WR422", "needs", submittedJob(`{"service": "a", "key": "a", "needs": [null]}`)},
	{"need named twice", "WR422", "needs", submittedJob(`{"service": "a", "key": "a"}, {"service": "a", "key": "b", "needs": ["a", "a"]}`)},
	{"needs are text", "WR422", "needs", submittedJob(`{"service": "a", "key": "a", "needs": "b"}`)},
	{"unknown rule", "WR422", "rule", submittedJob(`{"service": "a", "key": "a"}, {"service": "a", "needs": ["a"], "rule": "some"}`)},
	{"needs itself", "WR422", "ring", submittedJob(`{"service": "a", "key": "a", "needs": ["a"]}`)},
	{"ring of three", "WR422", "ring", submittedJob(`{"service": "a", "key": "a", "needs": ["c"]}, {"service": "a", "key": "b", "needs": ["a"]}, {"service": "a", "key": "c", "needs": ["b"]}`)},
	{"key twice in a job", "WR422", "key", submittedJob(`{"service": "a", "key": "a"}, {"service": "a", "key": "a"}`)},
	{"unique key in a job", "WR422", "unique_key", submittedJob(`{"service": "a", "unique_key": "u"}`)},

	{"claim without services", "WR422", "services", `select weir.claim('w', '{}')`},
	{"claim of null", "WR422", "services", `select weir.claim('w', null)`},
	{"claim of none", "WR422", "n ", `select weir.claim('w', '{a}', 0)`},
	{"claim without a name", "WR422", "worker", `select weir.claim('', '{a}')`},
	{"slots for other services", "WR422", "slots", `select weir.claim('w', '{a,b}', 1, '{1}')`},
	{"claim for no time", "WR422", "lease", `select weir.claim('w', '{idle}', 1, lease => null)`},
	{"worker on no node", "WR404", "node", `select weir.register_worker('x', '{a}', 'nowhere')`},
	{"node without a name", "WR422", "name", `select weir.register_node('')`},
	{"driver without a name", "WR422", "drivers", `select weir.register_node('n', drivers => '{null}')`},
	{"claim for no service", "WR422", "services", `select weir.claim('nobody', '{null}')`},
	{"labels of a worker are a list", "WR422", "labels", `select weir.register_worker('nobody', '{a}', labels => '[1]')`},
	{"capacity is text", "WR422", "capacity", `select weir.register_node('n', capacity => '{"a": "many"}')`},
	{"unknown node", "WR404", "node", `select weir.set_node_mode('nowhere', 'paused')`},
	{"unknown mode", "WR422", "mode", `select weir.set_node_mode('nowhere', 'asleep')`},
	{"isolation is a novel", "WR422", "isolation", `select weir.register_node('n', isolation => repeat('x', 201))`},
	{"faults of no node", "WR404", "node", `select weir.report_faults('nowhere', '[]')`},
	{"faults are no list", "WR422", "faults", `select weir.report_faults('nowhere', '{}')`},
	{"fault nobody knows", "WR422", "fault", `select weir.give_back_many('{}', '{}', '{}', fault => 'tired')`},
	{"unknown worker", "WR404", "worker", `select weir.heartbeat('nobody')`},
	{"event of the engine", "WR422", "type", `select weir.record('{running}', 1, '{token}', 'done')`},
	{"failed by what is no reason", "WR422", "reason", `select weir.fail('{running}', 1, '{token}', 'no', reason => 'bad luck')`},
	{"unknown level", "WR422", "level", `select weir.record('{running}', 1, '{token}', 'note', level => 'loud')`},

	{"cancel of no task", "WR404", "task", `select weir.cancel('{nobody}')`},
	{"retry of no task", "WR404", "task", `select weir.retry('{nobody}')`},
	{"skip of no task", "WR404", "task", `select weir.skip('{nobody}', 'why not')`},
	{"hold of no task", "WR404", "task", `select weir.hold('{nobody}', 'me')`},
	{"release of no task", "WR404", "task", `select weir.release('{nobody}')`},
	{"why of no task", "WR404", "task", `select weir.why('{nobody}')`},
	{"priority of no task", "WR404", "task", `select weir.set_priority('{nobody}', 1)`},
	{"cancel of no job", "WR404", "job", `select weir.cancel_job('{nobody}')`},
	{"skip without a reason", "WR422", "reason", `select weir.skip('{available}', '')`},
	{"hold by nobody", "WR422", "by", `select weir.hold('{available}', '')`},
	{"priority out of range", "WR422", "priority", `select weir.set_priority('{available}', 101)`},
	{"priority null", "WR422", "priority", `select weir.set_priority('{available}', null)`},
	{"cancel of an ended task", "WR409", "done", `select weir.cancel('{done}')`},
	{"refusal of no task", "WR404", "task", `select weir.refuse('{nobody}', 'no')`},
	{"refusal without a reason", "WR422", "reason", `select weir.refuse('{available}', '')`},
	{"refusal of a free task", "WR409", "not held", `select weir.refuse('{available}', 'no')`},
	{"long comment of a release", "WR422", "reason", `select weir.release('{available}', reason => repeat('x', 1001))`},
	{"event of no job", "WR404", "job", `select weir.signal('{nobody}', 'e')`},
	{"event without a name", "WR422", "event", `select weir.signal('{nobody}', '')`},
	{"release of a free task", "WR409", "not held", `select weir.release('{available}')`},

	{"pool without a limit", "WR422", "size", `select weir.set_pool('q')`},
	{"negative pool", "WR422", "size", `select weir.set_pool('q', -1)`},
	{"rate without an interval", "WR422", "rate", `select weir.set_pool('q', rate => 1)`},
	{"rate of nothing", "WR422", "rate", `select weir.set_pool('q', rate => 0, per => '1 s')`},
	{"pool without a name", "WR422", "name", `select weir.set_pool('', 1)`},
	{"note of no pool", "WR404", "pool", `select weir.note_pool('nowhere', 'x')`},
	{"long note of a pool", "WR422", "note", `select weir.note_pool('p', repeat('x', 1001))`},
	{"drop of no pool", "WR404", "pool", `select weir.drop_pool('nowhere')`},
	{"drop of a pool in use", "WR409", "in use", `select weir.drop_pool('p')`},
	{"schedule of nothing", "WR422", "service", `select weir.set_schedule('s', '@daily', '{}', now())`},
	{"webhook of no workflow", "WR422", "workflow", `select weir.set_trigger('t', null)`},
	{"trigger for another end", "WR422", "outcome", `select weir.set_trigger('t', 'w', 'v', outcome => 'maybe')`},
	{"trigger with params that are a list", "WR422", "params", `select weir.set_trigger('t', 'w', 'v', params => '[]')`},
	{"trigger of no workflow", "WR422", "workflow", `select weir.set_trigger('t', 'nowhere', 'v')`},
	{"pause of no trigger", "WR404", "trigger", `select weir.pause_trigger('nowhere')`},
	{"drop of no trigger", "WR404", "trigger", `select weir.drop_trigger('nowhere')`},
	{"drop of no schedule", "WR404", "schedule", `select weir.drop_schedule('nowhere')`},
	{"unknown policy", "WR422", "missed", `select weir.set_schedule('s', '@daily', '{"service": "a"}', now(), missed => 'some')`},
	{"plan of the wrong type", "WR422", "plan", submitted(`{"service": "a", "plan": "perhaps"}`)},
	{"run that is a list", "WR422", "run", submitted(`{"service": "a", "run": []}`)},
	{"queued job without a name", "WR422", "name", `select weir.open_job('')`},
	{"queued job for never", "WR422", "due", `select weir.open_job('j', due => 'infinity')`},
	{"queued job priority", "WR422", "priority", `select weir.open_job('j', priority => 101)`},
	{"ring of three", "WR422", "'b', 'c', 'd'", submittedJob(`{"service": "a", "key": "a"}, {"service": "a", "key": "c", "needs": ["a", "b"]}, {"service": "a", "key": "b", "needs": ["d"]}, {"service": "a", "key": "d", "needs": ["c"]}`)},
	{"decide nothing", "WR422", "outcome", `select weir.decide('{available}', null)`},
	{"bad cursor", "WR422", "after", `select weir.events_after('yesterday')`},
	{"cursor of letters", "WR422", "after", `select weir.events_after('1.x')`},
	{"retention of nothing", "WR422", "keep", `select weir.drop_partitions('0')`},
	{"partition of no days", "WR422", "days", `select weir.ensure_partitions(0)`},
}

// TestBadInput sends what nobody should send. Each is refused by a code and a
// message that names the field, and leaves every table as it was.
func TestBadInput(t *testing.T) {
	t.Parallel()
	e := start(t)
	// Ground for the commands: a worker, one task in each way of being.
	available := e.submit(0, spec{"service": "idle"})
	l := e.run(0, e.submit(0, spec{"service": "busy"}))
	done := e.run(0, e.submit(0, spec{"service": "ended"}))
	e.finish(1, done)
	job, _ := e.submitJob(0, spec{"service": "job"})
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	e.submit(0, spec{"service": "pooled", "pool": "p"})
	words := strings.NewReplacer("{available}", available, "{running}", l.Task, "{token}", l.Token, "{done}", done.Task,
		"{nobody}", "00000000-0000-7000-8000-000000000000", "{long}", strings.Repeat("x", 300))
	for _, c := range badInput {
		t.Run(c.name, func(t *testing.T) {
			e := &engine{TB: t, DB: e.DB}
			before := e.counts()
			err := e.refused(c.code, words.Replace(c.sql))
			if !strings.Contains(err.Message, c.says) {
				t.Errorf("message %q does not name %q", err.Message, c.says)
			}
			e.same(c.name, before)
		})
	}
	if got := one[string](e, `select state from weir.job where id = $1`, job); got != "running" {
		t.Errorf("the job is %s", got)
	}
}
