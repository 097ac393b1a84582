package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// leaseCall is a call of a function that takes a lease, as SQL with $1 task, $2
// attempt, $3 token.
type leaseCall struct{ Function, SQL string }

// leaseArguments are what a call gives for arguments without a default. A new
// function whose argument is not here fails the test: say what it should get.
var leaseArguments = map[string]string{
	"task": "$1::uuid", "attempt": "$2::int", "token": "$3::uuid",
	"tasks": "array[$1::uuid]", "attempts": "array[$2::int]", "tokens": "array[$3::uuid]",
	"worker": "'w'", "node": "'n'", "type": "'waiting'", "message": "'m'", "phase": "'sent'", "error": "'no'", "errors": "array['no']",
	"types": "array['waiting']", "messages": "array['m']", "data": "array['{}'::jsonb]", "levels": "array['info']",
	"kind": "'output'", "name": "'x'", "bucket": "'b'", "key": "'k'", "size": "1", "result": "null", "results": "null",
}

// unjudged are functions that take a lease and say nothing of a stale one.
var unjudged = map[string]string{
	"weir.foreign_leases": "it lists live leases of other nodes, and a stale lease is nobody's",
	"weir.leased_many":    "it lists the live ones among leases, and writes nothing",
}

// leaseCalls finds every function of the catalog that takes a lease, with and
// without each of its switches: a new one cannot be forgotten.
func (e *engine) leaseCalls(at string) []leaseCall {
	e.Helper()
	type argument struct {
		Function, Name, Type string
		Optional             bool
	}
	byName := map[string][]argument{}
	var order []string
	for _, a := range all[argument](e, `
		select n.nspname || '.' || p.proname, p.proargnames[i], format_type(p.proargtypes[i - 1], null), i > p.pronargs - p.pronargdefaults
		from pg_proc p join pg_namespace n on n.oid = p.pronamespace, generate_series(1, p.pronargs) i
		where n.nspname in ('weir', 'flow', 'fleet') and p.proname not like '\_%'
			and p.proargnames[1:p.pronargs] && array['token', 'tokens'] and p.proargnames[1:p.pronargs] && array['attempt', 'attempts']
		order by 1, i`) {
		if byName[a.Function] == nil {
			order = append(order, a.Function)
		}
		byName[a.Function] = append(byName[a.Function], a)
	}
	var calls []leaseCall
	for _, function := range order {
		var given, switches []string
		for _, a := range byName[function] {
			switch value, known := leaseArguments[a.Name]; {
			case a.Name == "at":
				given = append(given, "at => '"+at+"'")
			case a.Optional && a.Type == "boolean":
				switches = append(switches, a.Name)
			case a.Optional:
			case !known:
				e.Errorf("%s takes a lease and %s: say in leaseArguments what a stale call gives for it", function, a.Name)
			default:
				given = append(given, a.Name+" => "+value)
			}
		}
		sql := "select x::text from " + function + "(" + strings.Join(given, ", ")
		calls = append(calls, leaseCall{function, sql + ") x"})
		for _, s := range switches {
			calls = append(calls, leaseCall{function, sql + ", " + s + " => true) x"})
		}
	}
	return calls
}

// call makes one call and takes back what it did. It returns the answer or the
// code of the error, and the tables that changed: the timeline only if it got
// more than a refusal.
func (c leaseCall) call(e *engine, tx pgx.Tx, before map[string]string, l lease) (answer, code string, changed []string) {
	e.Helper()
	ctx := context.Background()
	inner, err := tx.Begin(ctx)
	if err != nil {
		e.Fatal(err)
	}
	defer inner.Rollback(ctx) //nolint:errcheck // an error of the call has ended it
	said, err := ask[*string](inner, c.SQL, l.Task, l.Attempt, l.Token)
	if err != nil {
		return "", sqlstate(err), nil
	}
	for _, s := range said {
		if s != nil {
			answer += *s + " "
		}
	}
	for table, sum := range digest(e, inner) {
		if before[table] != sum {
			changed = append(changed, table)
		}
	}
	return answer, "", changed
}

// digest sums up every table. Of the timeline it counts what is no refusal; a
// worker is seen whenever it asks.
func digest(e *engine, q querier) map[string]string {
	e.Helper()
	tables, err := ask[string](q, `select c.oid::regclass::text from pg_class c where c.relnamespace = 'weir'::regnamespace and c.relkind = 'r'
		and c.relname not in ('workers', 'schema_object', 'schema_version') and c.relname !~ '^events'`)
	if err != nil {
		e.Fatal(err)
	}
	var parts []string
	for _, t := range tables {
		parts = append(parts, fmt.Sprintf(`select '%s', coalesce(md5(string_agg(x::text, '|' order by x::text)), '') from %s x`, t, t))
	}
	parts = append(parts, `select 'weir.events', count(*)::text from weir.events where type <> 'stale'`)
	sums, err := ask[struct{ Table, Sum string }](q, strings.Join(parts, " union all "))
	if err != nil {
		e.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range sums {
		out[s.Table] = s.Sum
	}
	return out
}

// refusedAnswer says that a call was told that its lease is over.
func refusedAnswer(answer, code string) bool {
	return strings.Contains(answer, "lease_lost") || answer == "lost " || answer == "false " || code == "WR410"
}

// TestR4StaleTokenChangesNothing sends a lease that is not the live one to every
// function that takes one, in each situation that such a function knows. Each is
// refused by a word and changes nothing but the timeline; and with the live
// lease each is accepted somewhere, so that the refusal is the lease's.
func TestR4StaleTokenChangesNothing(t *testing.T) {
	t.Parallel()
	e := start(t)
	ctx := context.Background()
	e.exec(`select weir.register_node('n', capacity => '{"s": 9}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('w', '{s}', 'n', at => $1)`, at(0))
	id := e.submit(0, spec{"service": "s"})
	old := e.run(0, id)
	e.exec(`select weir.expire(at => $1)`, at(31))
	live := e.run(32, id)
	other, later := live, live
	other.Token, later.Attempt = "00000000-0000-4000-8000-000000000000", 7
	calls := e.leaseCalls(at(33).Format("2006-01-02T15:04:05Z"))
	if len(calls) < 20 {
		t.Fatalf("only %d calls take a lease: nothing was tested", len(calls))
	}
	conn := e.connect()
	accepted := map[string]bool{}
	for _, situation := range []struct{ name, sql string }{
		{"it runs", `select`},
		{"it was asked to stop", `update weir.running set cancel_at = claimed_at`},
		// Rows without their rollout and their device: what they belong to is of no interest to a fence.
		{"it changes a database", `set local session_replication_role = replica;
			insert into weir.rollout_tasks (task, rollout, stage, database, change, name, kind, canary) select task, task, 1, 'd', 0, 'c', 'ddl', false from weir.running;
			insert into weir.rollout_runs (task, attempt, token, phase, claimed_at) select task, attempt, token, 'claimed', claimed_at from weir.running`},
		{"it is on a device", `set local session_replication_role = replica; update weir.running set device = 1, cancel_at = null;
			insert into weir.fleet_units (job, unit, round, task, state) select task, 1, 1, task, 'running' from weir.running`},
	} {
		for _, c := range calls {
			// A transaction for each call: a long one would hold up the timelines of other tests.
			tx, err := conn.Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(ctx, situation.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatalf("%s: %v", situation.name, err)
			}
			before := digest(e, tx)
			if answer, code, _ := c.call(e, tx, before, live); !refusedAnswer(answer, code) && code == "" {
				accepted[c.Function] = true
			}
			for _, l := range []lease{old, other, later} {
				answer, code, changed := c.call(e, tx, before, l)
				if len(changed) > 0 {
					t.Errorf("%s, %s with %v: it changed %v", situation.name, c.SQL, l, changed)
				}
				if _, silent := unjudged[c.Function]; !silent && !refusedAnswer(answer, code) {
					t.Errorf("%s, %s with %v: %q %s is no refusal", situation.name, c.SQL, l, answer, code)
				}
			}
			if err := tx.Rollback(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range calls {
		if !accepted[c.Function] {
			t.Errorf("%s refuses the live lease in every situation: the fence was not tested", c.Function)
		}
	}
}

// TestR4RefusalsAreRecorded reads what a worker with a stale lease is told, and
// what the timeline keeps of it.
func TestR4RefusalsAreRecorded(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	old := e.run(0, id)
	e.exec(`select weir.expire(at => $1)`, at(31))
	live := e.run(32, id)
	for _, sql := range []string{
		`select weir.finish($1, $2, $3, '{"from": "a ghost"}', at => $4)`,
		`select weir.fail($1, $2, $3, 'no', at => $4)`,
		`select weir.record($1, $2, $3, 'progress', at => $4)`,
		`select weir.record_artifact($1, $2, $3, 'output', 'x', 'b', 'k', 1, at => $4)`,
		`select weir.confirm_cancel($1, $2, $3, at => $4)`,
		`select refusal from weir.start_many(array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`,
		`select refusal from weir.renew('w', array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`,
		`select refusal from weir.give_back_many(array[$1::uuid], array[$2::int], array[$3::uuid], at => $4)`,
	} {
		before := e.counts()
		if got := one[string](e, sql, old.Task, old.Attempt, old.Token, at(33)); got != "lease_lost" {
			t.Errorf("%s: %q, want lease_lost", sql, got)
		}
		before["events"]++ // the refusal
		e.same(sql, before)
	}
	if n := one[int](e, `select count(*)::int from weir.event where task = $1 and type = 'stale'`, id); n != 8 {
		t.Errorf("%d refusals are recorded, want 8", n)
	}
	if got := e.finish(34, live); got != "ok" {
		t.Errorf("the live lease: %s", got)
	}
	if got := e.finish(35, live); got != "repeated" {
		t.Errorf("the same finish again: %s", got)
	}
	if got := one[string](e, `select weir.finish('00000000-0000-7000-8000-000000000000', 1, $1, at => $2)`, live.Token, at(35)); got != "unknown" {
		t.Errorf("a task that never was: %s", got)
	}
}
