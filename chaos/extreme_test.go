//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// extremes are values at the edges of each type, as SQL. Sending one to a function shows
// what it does; a value that is added here goes to every public function.
var extremes = map[string][]string{
	"timestamp with time zone": {`'infinity'`, `'-infinity'`, `'294276-12-31'`, `'4713-01-01 BC'`, `'9999-12-31'`, `'1970-01-01'`},
	"interval":                 {`'0'`, `'-1 s'`, `'1 us'`, `'300000 years'`, `'178000000 years'`, `'-178000000 years'`, `'100 years'`},
	"integer":                  {`'0'`, `'-1'`, `'32768'`, `'2147483647'`, `'-2147483648'`},
	"smallint":                 {`'0'`, `'-1'`, `'32767'`, `'-32768'`},
	"bigint":                   {`'0'`, `'-1'`, `'9223372036854775807'`, `'-9223372036854775808'`},
	"text": {
		`''`, `' '`, `repeat('x', 100000)`, `repeat('가', 300)`, `repeat('가', 60)`, `E'\x01\x1b[31m\x7f'`, `'''; drop table weir.tasks; --'`, `'%s %L {} $1'`, `E'a\nb'`,
	},
	"jsonb": {
		`'{}'`, `'[]'`, `'null'`, `'0'`, `'"x"'`, `(repeat('[', 1000) || repeat(']', 1000))::jsonb`, `jsonb_build_object('a', repeat('x', 100000))`, `'{"a": "\u0001"}'`,
		`'[null]'`, `'[[]]'`, `'{"": ""}'`, `'{"a": 1e308}'`,
	},
	"uuid":    {`'00000000-0000-0000-0000-000000000000'`, `'ffffffff-ffff-ffff-ffff-ffffffffffff'`},
	"boolean": {`null`},
}

// extremesOf returns the extremes of a type, also of an array.
func extremesOf(typ string) []string {
	element, isArray := strings.CutSuffix(typ, "[]")
	list := extremes[element]
	if !isArray {
		return append([]string{"null"}, list...)
	}
	out := []string{"null", "'{}'", "array[null]"}
	for _, v := range list {
		out = append(out, "array["+v+"::"+element+"]")
	}
	return out
}

// usual are values that a function accepts for arguments without a default, by name and
// type of the argument. {task}, {attempt} and {token} are a lease.
var usual = map[string]string{
	"task uuid": "'{task}'", "attempt integer": "{attempt}", "token uuid": "'{token}'",
	"tasks uuid[]": "array['{task}'::uuid]", "attempts integer[]": "array[{attempt}]", "tokens uuid[]": "array['{token}'::uuid]",
	"tasks jsonb": `'[{"service": "s", "key": "k", "max_attempts": 50}]'`, "specs jsonb": `'[{"service": "s"}]'`, "spec jsonb": `'{"service": "s"}'`,
	"service text": "'s'", "services text[]": "array['s']", "worker text": "'w'", "name text": "'n'", "node text": "'n'", "job uuid": "'{job}'", "pool text": "'p'",
	"error text": "'no'", "errors text[]": "array['no']", "type text": "'note'", "kind text": "'output'", "bucket text": "'b'", "key text": "'k'", "size bigint": "1",
	"mode text": "'paused'", "priority integer": "1", "reason text": "'why not'", "by text": "'me'", "cron text": "'@daily'", "next_at timestamp with time zone": "now()",
	"pc text": "'n'", "devices jsonb": `'[{"serial": "d1"}]'`, "due timestamp with time zone": "now()", "definition jsonb": `'{}'`, "version integer": "1",
	"max integer": "1", "slots integer[]": "array[1]", "n integer": "1", "task_device_id uuid": "'{task}'", "outcome text": "'done'", "params jsonb": "'{}'",
	"what text": "'w'", "op text": "'cancel'", "filter jsonb": "'{}'", "count integer": "1", "schedule text": "'@daily'", "timetable text": "'@daily'",
}

// aftermath is everything that comes later: time, leases, backoff, queries, for the odd
// task and for an unrelated canary. It returns what broke, or null.
const aftermath = `
create function public.aftermath(deep boolean) returns text language plpgsql as $aftermath$
declare
  t timestamptz := clock_timestamp();
  c record;
  id uuid;
  got int;
  step text;
begin
  step := 'submit a canary';
  id := weir.submit('canary');
  for hour in 0..2 loop
    step := format('tend after %s h', hour);
    perform weir.tend(true, at => t + hour * interval '1 h');
    step := format('expire after %s h', hour);
    perform weir.expire(at => t + hour * interval '1 h');
    step := format('claim after %s h', hour);
    for c in select x.* from weir.claim('w', array['s'], 20, at => t + hour * interval '1 h') x loop
      step := 'renew';
      perform weir.renew('w', array[c.task], array[c.attempt], array[c.token], at => t + hour * interval '1 h');
      step := 'why of a running task';
      perform weir.why(c.task);
      if hour = 0 then
        step := 'fail';
        perform weir.fail(c.task, c.attempt, c.token, 'no', at => t + hour * interval '1 h');
      elsif hour = 1 then
        step := 'give back';
        perform weir.give_back_many(array[c.task], array[c.attempt], array[c.token], at => t + hour * interval '1 h');
      else
        step := 'finish';
        perform weir.finish(c.task, c.attempt, c.token, at => t + hour * interval '1 h');
      end if;
    end loop;
  end loop;
  step := 'why of what waits';
  perform weir.why(p.task) from weir.pending p;
  step := 'the canary';
  select count(*) into got from (select weir.finish(x.task, x.attempt, x.token) as answer from weir.claim('bird', array['canary'], 1) x) y where y.answer = 'ok';
  if got <> 1 then
    return 'the canary did not run';
  end if;
  step := 'what is due';
  id := weir.submit('canary', run_at => clock_timestamp());
  perform weir.tend(true, at => clock_timestamp() + interval '1 s');
  if not exists (select from weir.available a where a.task = id) then
    return 'a canary that is due does not become available';
  end if;
  if deep then
    step := 'doctor';
    select string_agg(d.name || ': ' || coalesce(d.detail, ''), '; ') into step from weir.doctor() d where d.level = 'invariant' and not d.ok;
    return step;
  end if;
  return null;
exception when others then
  return format('%s: %s %s', step, sqlstate, sqlerrm);
end $aftermath$`

// probe is one call with one extreme value.
type probe struct{ role, function, argument, value, sql string }

// edge is a database in which every call is tried and rolled back.
type edge struct {
	*run
	conn  *pgx.Conn
	words *strings.Replacer
	// lease is the task, the attempt and the token that replace the words.
	lease []string
}

func newEdge(t *testing.T) *edge {
	e := &edge{run: newRun(t)}
	// There are thousands of calls, which take longer than a run's limit on a busy
	// machine.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	e.ctx = ctx
	conn, err := pgx.Connect(e.ctx, e.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	e.conn = conn
	e.do(aftermath)
	e.do(`select weir.set_pool('p', 5)`)
	e.do(`set role weir_worker`) // a node belongs to the role that registered it
	e.do(`select weir.register_node('n', capacity => '{"s": 100}'), weir.register_worker('w', '{s}', 'n'), weir.fleet_report('n', '[{"serial": "d1"}]')`)
	e.do(`reset role`)
	var job string
	if err := conn.QueryRow(e.ctx, `select weir.submit_job('[{"service": "j", "key": "a"}]', 'job')`).Scan(&job); err != nil {
		t.Fatal(err)
	}
	e.lease = e.newLease("w")
	e.words = strings.NewReplacer("{task}", e.lease[0], "{attempt}", e.lease[1], "{token}", e.lease[2], "{job}", job)
	return e
}

// newLease submits a task and claims it.
func (e *edge) newLease(worker string) []string {
	e.Helper()
	lease := make([]string, 3)
	e.do(`select weir.submit('s', priority => 100)`)
	if err := e.conn.QueryRow(e.ctx, `select task::text, attempt::text, token::text from weir.claim($1, '{s}')`, worker).Scan(&lease[0], &lease[1], &lease[2]); err != nil {
		e.Fatal(err)
	}
	return lease
}

func (e *edge) do(sql string) {
	e.Helper()
	if _, err := e.conn.Exec(e.ctx, sql); err != nil {
		e.Fatalf("%s: %v", sql, err)
	}
}

// probes returns the calls: every argument of every function that a client or a worker
// may call, and every field of a submitted task, with every extreme of its type. The
// other arguments are usual.
func (e *edge) probes() []probe {
	e.Helper()
	rows, err := e.conn.Query(e.ctx, `
		select r.rolname, n.nspname || '.' || p.proname, p.proargnames[i], format_type(p.proargtypes[i - 1], null), i > p.pronargs - p.pronargdefaults
		from pg_proc p join pg_namespace n on n.oid = p.pronamespace, generate_series(1, p.pronargs) i, lateral (
			select r.rolname from pg_roles r where r.rolname in ('weir_client', 'weir_worker') and has_function_privilege(r.oid, p.oid, 'execute') order by 1 limit 1) r
		where n.nspname in ('weir', 'flow', 'fleet') and p.proname not like '\_%' and p.prorettype <> 'trigger'::regtype order by 2, i`)
	if err != nil {
		e.Fatal(err)
	}
	type argument struct {
		Role, Function, Name, Type string
		Optional                   bool
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[argument])
	if err != nil {
		e.Fatal(err)
	}
	byFunction := map[string][]argument{}
	for _, a := range list {
		byFunction[a.Function] = append(byFunction[a.Function], a)
	}
	var out []probe
	for function, args := range byFunction {
		for _, odd := range args {
			if odd.Name == "at" {
				continue // only the owner sets the clock
			}
			for _, v := range extremesOf(odd.Type) {
				var given []string
				for _, a := range args {
					value, known := usual[a.Name+" "+a.Type]
					switch {
					case a == odd:
						given = append(given, a.Name+" => "+v+"::"+a.Type)
					case a.Optional:
					case known:
						given = append(given, a.Name+" => "+value)
					default:
						given = append(given, a.Name+" => null::"+a.Type)
					}
				}
				out = append(out, probe{odd.Role, function, odd.Name, v, e.words.Replace("select " + function + "(" + strings.Join(given, ", ") + ")")})
			}
		}
	}
	rows, err = e.conn.Query(e.ctx, `select a.attname, format_type(a.atttypid, null) from pg_attribute a where a.attrelid = 'weir.task_spec'::regclass and a.attnum > 0 and not a.attisdropped`)
	if err != nil {
		e.Fatal(err)
	}
	var field, typ string
	if _, err := pgx.ForEachRow(rows, []any{&field, &typ}, func() error {
		for _, v := range extremesOf(typ) {
			sql := fmt.Sprintf(`select weir.submit_many(jsonb_build_array(jsonb_build_object('service', 's', 'max_attempts', 50) || jsonb_build_object('%s', %s::%s)))`, field, v, typ)
			out = append(out, probe{"weir_client", "weir.submit_many", "tasks[]." + field, v, sql})
		}
		return nil
	}); err != nil {
		e.Fatal(err)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].sql < out[j].sql })
	return out
}

// try makes calls as their roles, lets everything happen that comes later, and rolls it
// all back. It returns the error of each refused call, and what broke after the others.
func (e *edge) try(deep bool, calls ...probe) (refusals []*pgconn.PgError, broke string) {
	e.Helper()
	tx, err := e.conn.Begin(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	defer tx.Rollback(e.ctx) //nolint:errcheck // that is the point
	refusals = make([]*pgconn.PgError, len(calls))
	for i, p := range calls {
		err := pgx.BeginFunc(e.ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(e.ctx, `set local role `+p.role+`; `+p.sql+`; reset role`, pgx.QueryExecModeSimpleProtocol)
			return err
		})
		if err != nil && !errors.As(err, &refusals[i]) {
			e.Fatalf("%s: %v", p.sql, err)
		}
	}
	var wrote bool
	if err := tx.QueryRow(e.ctx, `select pg_current_xact_id_if_assigned() is not null`).Scan(&wrote); err != nil {
		e.Fatal(err)
	}
	if !wrote {
		return refusals, "" // nothing of it is left
	}
	var said *string
	if err := tx.QueryRow(e.ctx, `select public.aftermath($1)`, deep).Scan(&said); err != nil {
		return refusals, err.Error()
	}
	if said != nil {
		return refusals, *said
	}
	return refusals, ""
}

// groups returns probes that can be tried together: those of a lease by themselves,
// because one would end it for the others, and the rest in groups of different functions.
func (e *edge) groups(probes []probe) (out [][]probe) {
	const together = 8
	var rest []probe
	for _, p := range probes {
		if strings.Contains(p.sql, e.lease[0]) {
			out = append(out, []probe{p})
		} else {
			rest = append(rest, p)
		}
	}
	apart := (len(rest) + together - 1) / together
	for i := range apart {
		var group []probe
		for k := i; k < len(rest); k += apart {
			group = append(group, rest[k])
		}
		out = append(out, group)
	}
	return out
}

// harmed returns which calls of a group broke something: those that do so alone, or else
// all of them.
func (e *edge) harmed(group []probe, broke string) (out []string) {
	e.Helper()
	for _, p := range group {
		if _, alone := e.try(false, p); alone != "" {
			out = append(out, fmt.Sprintf("%s was taken, and then: %s", p, alone))
		}
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("%v were taken, and then: %s", group, broke))
	}
	return out
}

func (p probe) String() string { return fmt.Sprintf("%s(%s => %s)", p.function, p.argument, p.value) }

// clearRefusal reports whether a refusal tells a caller what to do: it has a code of
// Weir.
func clearRefusal(err *pgconn.PgError) bool {
	return strings.HasPrefix(err.Code, "WR")
}

// TestExtremeValues sends every value of the table to every public function. Either the
// value is refused with a code of Weir, or everything that comes later works, for the
// task it belongs to and for a canary.
func TestExtremeValues(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	if _, broke := e.try(true, probe{"weir_client", "", "", "", "select weir.submit('s')"}); broke != "" {
		t.Fatalf("without any odd value: %s", broke)
	}
	refused, taken := 0, 0
	var harmful, unclear []string
	seen := map[string]bool{}
	for _, group := range e.groups(e.probes()) {
		refusals, broke := e.try(false, group...)
		if broke != "" {
			harmful = append(harmful, e.harmed(group, broke)...)
		}
		for i, p := range group {
			switch refusal := refusals[i]; {
			case refusal == nil:
				taken++
			case clearRefusal(refusal):
				refused++
			case !seen[p.function+p.argument+refusal.Code]:
				seen[p.function+p.argument+refusal.Code] = true
				unclear = append(unclear, fmt.Sprintf("%s: %s %s", p, refusal.Code, refusal.Message))
			}
		}
	}
	if taken < 100 || refused < 100 {
		t.Errorf("%d values were taken, %d refused: hardly anything was tested", taken, refused)
	}
	t.Run("stop nobody", func(t *testing.T) {
		for _, h := range harmful {
			t.Error(h)
		}
	})
	t.Run("are refused by name", func(t *testing.T) {
		for _, u := range unclear {
			t.Errorf("%s: want a refusal with a code of ours, that names the field", u)
		}
	})
	t.Logf("measured: %d extreme values were taken and did no harm, %d were refused with a code", taken, refused)
}
