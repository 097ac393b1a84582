package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// place is a way to be in a state: some states have several, and commands may
// tell them apart.
type place struct {
	name, state string
	// put brings a new task of the service there and returns it with the last
	// lease it had.
	put func(e *engine, service string) lease
}

// nobody is a lease that never was.
func nobody(task string) lease {
	return lease{task, 1, "00000000-0000-4000-8000-000000000000"}
}

var places = []place{
	{"pending (needs)", "pending", func(e *engine, service string) lease {
		_, ids := e.submitJob(0, spec{"service": service + "-need", "key": "a"}, spec{"service": service, "key": "b", "needs": []string{"a"}})
		return nobody(ids["b"])
	}},
	{"pending (plan)", "pending", func(e *engine, service string) lease {
		return nobody(e.submit(0, spec{"service": service, "plan": true}))
	}},
	{"pending (time)", "pending", func(e *engine, service string) lease {
		return nobody(e.submit(0, spec{"service": service, "run_at": at(90000)}))
	}},
	{"pending (held)", "pending", func(e *engine, service string) lease {
		return nobody(e.submit(0, spec{"service": service, "hold": "an approval"}))
	}},
	{"pending (lane)", "pending", func(e *engine, service string) lease {
		e.submit(0, spec{"service": service + "-first", "lane": service, "exclusive": true})
		id := e.submit(0, spec{"service": service, "lane": service})
		e.exec(`select weir.open_gates(array[$1], at => $2)`, service, at(0))
		return nobody(id)
	}},
	{"pending (pool)", "pending", func(e *engine, service string) lease {
		e.exec(`select weir.set_pool($1, 0, at => $2)`, service, at(0))
		return nobody(e.submit(0, spec{"service": service, "pool": service}))
	}},
	{"pending (retrying)", "pending", func(e *engine, service string) lease {
		l := e.run(0, e.submit(0, spec{"service": service}))
		e.failRetry(1, l, 90000)
		return l
	}},
	{"available", "available", func(e *engine, service string) lease {
		return nobody(e.submit(0, spec{"service": service}))
	}},
	{"available (expired)", "available", func(e *engine, service string) lease {
		l := e.run(0, e.submit(0, spec{"service": service}))
		e.exec(`update weir.running set until = $2 where task = $1`, l.Task, at(0))
		e.exec(`select weir.expire(at => $1)`, at(1))
		return l
	}},
	{"running", "running", func(e *engine, service string) lease {
		return e.run(0, e.submit(0, spec{"service": service}))
	}},
	{"running (asked to stop)", "running", func(e *engine, service string) lease {
		l := e.run(0, e.submit(0, spec{"service": service}))
		e.exec(`select weir.cancel($1, at => $2)`, l.Task, at(1))
		return l
	}},
	{"done", "done", func(e *engine, service string) lease {
		l := e.run(0, e.submit(0, spec{"service": service}))
		e.finish(1, l)
		return l
	}},
	{"failed", "failed", func(e *engine, service string) lease {
		l := e.run(0, e.submit(0, spec{"service": service}))
		e.fail(1, l, "no")
		return l
	}},
	{"canceled", "canceled", func(e *engine, service string) lease {
		id := e.submit(0, spec{"service": service})
		e.exec(`select weir.cancel($1, at => $2)`, id, at(1))
		return nobody(id)
	}},
	{"skipped", "skipped", func(e *engine, service string) lease {
		id := e.submit(0, spec{"service": service})
		e.exec(`select weir.skip($1, 'not needed', at => $2)`, id, at(1))
		return nobody(id)
	}},
}

// command is something that somebody may ask of a task in any state. event is
// the transition that it brings about; empty: it changes no state. A report is
// what a worker says of its lease.
type command struct {
	name, event, sql string
	report           bool
}

// The words in brackets stand for the last lease of the task, its service and the time.
var commands = []command{
	{"hold", "held", `select weir.hold({task}, 'me', at => {at})::text`, false},
	{"release", "", `select weir.release({task}, at => {at})::text`, false},
	{"open", "", `select (weir.tend(true, at => {at})).opened::text`, false},
	{"claim", "claimed", `select count(*)::text from weir.claim('w', array[{service}], 1, at => {at})`, false},
	{"start", "", `select coalesce((select refusal from weir.start_many(array[{task}], array[{attempt}], array[{token}], at => {at})), 'ok')`, true},
	{"renew", "", `select coalesce((select refusal from weir.renew('w', array[{task}], array[{attempt}], array[{token}], at => {at})), 'ok')`, true},
	{"record", "", `select weir.record({task}, {attempt}, {token}, 'progress', at => {at})`, true},
	{"finish", "done", `select weir.finish({task}, {attempt}, {token}, at => {at})`, true},
	{"fail", "retrying", `select weir.fail({task}, {attempt}, {token}, 'no', at => {at})`, true},
	{"fail for good", "failed", `select weir.fail({task}, {attempt}, {token}, 'no', true, at => {at})`, true},
	{"give back", "returned", `select coalesce((select refusal from weir.give_back_many(array[{task}], array[{attempt}], array[{token}], at => {at})), 'ok')`, true},
	{"snooze", "snoozed", `select coalesce((select refusal from weir.give_back_many(array[{task}], array[{attempt}], array[{token}], {at} + interval '1 h', at => {at})), 'ok')`, true},
	{"cancel", "canceled", `select weir.cancel({task}, at => {at})`, false},
	{"confirm cancel", "canceled", `select weir.confirm_cancel({task}, {attempt}, {token}, at => {at})`, true},
	{"retry", "retried", `select weir.retry({task}, at => {at})::text`, false},
	{"skip", "skipped", `select weir.skip({task}, 'not needed', at => {at})::text`, false},
	{"priority", "", `select weir.set_priority({task}, 7, at => {at})::text`, false},
	{"relabel", "", `select weir.relabel({task}, '{"gpu": "yes"}', at => {at})::text`, false},
	{"plan", "", `select weir.plan_task({task}, '{"planned": true}', at => {at})::text`, false},
	{"decide it is done", "done", `select weir.decide({task}, 'done', '{"known": true}', at => {at})::text`, false},
	{"decide it failed", "failed", `select weir.decide({task}, 'failed', cause => 'known to be broken', at => {at})::text`, false},
	{"decide to skip", "skipped", `select weir.decide({task}, 'skipped', cause => 'not now', at => {at})::text`, false},
	{"expire", "expired", `select weir.expire(at => {at})::text`, false},
}

// finer says where a command does not do what the table of transitions allows
// for its event, because the table does not tell places of one state apart, nor
// who asks: a report needs a lease, a decision needs that there is none.
func finer(p place, c command) string {
	switch cell := p.name + " × " + c.name; {
	case c.report && p.state != "running",
		c.name == "decide it is done" && p.state == "running", c.name == "decide it failed" && p.state == "running", c.name == "decide to skip" && p.state == "failed",
		cell == "running × cancel",                 // a request; the worker confirms
		cell == "running (asked to stop) × cancel", // the same request again
		cell == "running × confirm cancel",         // nobody asked
		cell == "done × retry",                     // only with a part of its job, if it ends the job
		cell == "available × open":
		return ""
	case p.name == "running (asked to stop)" && slices.Contains([]string{"fail", "fail for good", "give back", "snooze", "expire"}, c.name):
		return "canceled"
	case cell == "pending (plan) × plan":
		return "opened"
	}
	return c.event
}

// TestTransitionMatrix walks every place × every command. A move happens exactly
// where weir.transition has it; everything else is a named error or a refusal,
// and leaves every table as it was.
func TestTransitionMatrix(t *testing.T) {
	t.Parallel()
	e := start(t)
	type row struct {
		Was            *string
		Event, Becomes string
	}
	becomes := map[string]string{}
	for _, r := range all[row](e, `select was::text, event, becomes::text from weir.transition`) {
		if r.Was != nil {
			becomes[*r.Was+" "+r.Event] = r.Becomes
		}
	}
	e.claim(0, "w", "nothing", 1) // the first claim registers the worker
	// opened is what gates do; what ends a job runs again with a part of it. Both have their own tests.
	used := map[string]bool{"pending opened": true, "done retried": true}
	for i, p := range places {
		for j, c := range commands {
			service := fmt.Sprintf("s%d-%d", i, j)
			cell := p.name + " × " + c.name
			l := p.put(e, service)
			if got := e.state(l.Task); got != p.state {
				t.Fatalf("%s: the task is %s", p.name, got)
			}
			event := finer(p, c)
			when := 2.0
			if c.name == "expire" {
				when = 3600
			}
			before, last := e.counts(), one[int64](e, `select coalesce(max(seq), 0) from weir.events`)
			answer, err := ask[string](e.Pool, strings.NewReplacer("{task}", "'"+l.Task+"'::uuid", "{attempt}", fmt.Sprint(l.Attempt), "{token}", "'"+l.Token+"'::uuid",
				"{service}", "'"+service+"'", "{at}", "timestamptz '"+at(when).Format(time.RFC3339)+"'").Replace(c.sql))
			want, moves := becomes[p.state+" "+event]
			if moves {
				used[p.state+" "+event] = true
				e.checkMove(cell, l.Task, err, event, want, last)
			} else {
				e.checkRefusal(cell, p, c, l.Task, answer, err, before)
			}
			e.exec(`update weir.running set until = $1 where until < $1`, at(80000)) // this cell's leases are no later cell's
		}
	}
	for move := range becomes {
		if !used[move] {
			t.Errorf("no cell of the matrix makes the move %q", move)
		}
	}
}

// checkMove checks that the command brought the task where the table says, and
// that the timeline says so: by that one event, but for two commands that make
// two moves at once.
func (e *engine) checkMove(cell, task string, err error, event, want string, after int64) {
	e.Helper()
	if err != nil {
		e.Errorf("%s: %v", cell, err)
	}
	moves := strings.Join(all[string](e, `select type from weir.event where task = $1 and seq > $2 and type in (select event from weir.transition) order by seq`, task, after), " ")
	switch {
	case moves == "retried opened": // nothing holds it back
		want = "available"
	case moves == "retried skipped" && event == "skipped": // what it broke lives again
	case moves != event:
		e.Errorf("%s: the events are %q, want %q", cell, moves, event)
	}
	if got := e.state(task); got != want {
		e.Errorf("%s: the task is %s, want %s", cell, got, want)
	}
}

// quiet are the commands that change no state but are right in a place: they
// may write an event or a column.
var quiet = map[string][]string{
	"release":  {"pending (held)"},
	"start":    {"running", "running (asked to stop)"},
	"renew":    {"running", "running (asked to stop)"},
	"record":   {"running", "running (asked to stop)"},
	"cancel":   {"running", "running (asked to stop)", "canceled"},
	"priority": waiting,
	"relabel":  waiting,
}

var waiting = []string{
	"pending (needs)", "pending (plan)", "pending (time)", "pending (held)", "pending (lane)", "pending (pool)", "pending (retrying)", "available", "available (expired)",
}

// checkRefusal checks that the command was refused by name, or right and quiet,
// and that the task stayed where it was.
func (e *engine) checkRefusal(cell string, p place, c command, task string, answer []string, err error, before map[string]int) {
	e.Helper()
	fine := slices.Contains(quiet[c.name], p.name)
	switch code := sqlstate(err); {
	case fine && code != "":
		e.Errorf("%s: %v", cell, err)
	case fine:
		if c.name == "release" {
			return
		}
	case code == "WR409":
		e.same(cell, before)
	case code != "":
		e.Errorf("%s: %v", cell, err)
	default:
		if len(answer) != 1 || !slices.Contains([]string{"0", "repeated", "lease_lost", "not_asked", "unknown", "false"}, answer[0]) {
			e.Errorf("%s: answered %q", cell, answer)
		}
		stale := one[int](e, `select count(*)::int from weir.events where task = $1 and type = 'stale'`, task)
		before["events"] += stale // a lost lease is recorded (R4), and nothing else
		e.same(cell, before)
	}
	if got := e.state(task); got != p.state {
		e.Errorf("%s: the task went to %s", cell, got)
	}
}
