package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/refusal"
)

// Store stores fleet jobs, devices and PCs. It is safe for concurrent use. All SQL of the
// package is in this file.
type Store struct {
	pool *pgxpool.Pool
}

// New returns a store on a pool that the caller owns. The pool's user must own the
// schema, because commands carry the name of the user who gave them, and no other role
// may set it.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

func numberAfter(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, problem.Refuse("after", "give the number of the last unit of the page before", "%q is no number", text)
	}
	return n, nil
}

func notFound(noun, name, next, command string) error {
	return problem.New(problem.NotFound, next, refusal.NoSuch, noun, name).Run(command)
}

// --- jobs

// submit also returns whether a job with this key existed when it began.
func (s *Store) submit(ctx context.Context, name string, spec json.RawMessage, by, key string) (id weir.ID, existed bool, err error) {
	err = s.pool.QueryRow(ctx, `with was as materialized (select k.id from weir.idempotency k where k.key = nullif($4, '') and k.job),
		now as materialized (select weir.fleet_submit($1, $2, nullif($3, ''), nullif($4, '')) as id)
		select n.id, exists (select from was w where w.id = n.id) from now n`, name, spec, by, key).Scan(&id, &existed)
	return id, existed, err
}

func (s *Store) cancel(ctx context.Context, id weir.ID, by, reason string) (c Canceled, err error) {
	err = s.pool.QueryRow(ctx, `select canceled, requested from weir.fleet_cancel($1, nullif($2, ''), nullif($3, ''))`, id, by, reason).Scan(&c.Canceled, &c.Requested)
	return c, err
}

const jobColumns = `j.id, coalesce(j.name, ''), j.state, j.priority, coalesce(j.by, ''), coalesce(j.schedule, ''), coalesce(j.cause, ''), coalesce(j.stopped, ''), j.targeted, j.waiting, j.running,
	j.retrying, j.done, j.failed, j.missed, j.canceled, j.created_at, j.activated_at, j.ended_at, j.lingers_at, j.missed_at, j.lane`

const (
	jobFilter = `where ($1::uuid is null or j.id < $1) and ($2 = '' or j.state = $2) and ($3 = '' or strpos(lower(j.name), lower($3)) > 0) order by j.id desc limit $4`
	jobOf     = `where j.id = $1`
	jobActive = `where j.id in (select a.job from weir.fleet_jobs a where a.state = 'active') order by j.priority desc, j.order_seq`
)

func (s *Store) jobs(ctx context.Context, rest string, args ...any) ([]Job, error) {
	rows, err := s.pool.Query(ctx, `select `+jobColumns+` from weir.fleet_job j `+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (j Job, err error) {
		c := &j.Counts
		err = row.Scan(&j.ID, &j.Name, &j.State, &j.Priority, &j.By, &j.Schedule, &j.Cause, &j.Stopped, &c.Total, &c.Waiting, &c.Running, &c.Retrying, &c.Done, &c.Failed, &c.Missed, &c.Canceled,
			&j.CreatedAt, &j.ActivatedAt, &j.EndedAt, &j.LingersAt, &j.MissedAt, &j.Lane)
		return j, err
	})
}

func (s *Store) spec(ctx context.Context, id weir.ID) (text json.RawMessage, err error) {
	err = s.pool.QueryRow(ctx, `select j.spec from weir.fleet_jobs j where j.job = $1`, id).Scan((*[]byte)(&text))
	return text, err
}

const unitColumns = `u.job, u.unit, u.round, u.state, coalesce(u.device, ''), coalesce(u.pc, ''), u.task, u.attempt, u.infra, coalesce(u.cause, ''), u.started_at, u.deadline, u.retry_at, u.ended_at`

const (
	unitFilter = `, '' from weir.fleet_unit u where u.job = $1 and u.unit > $2 and ($3 = '' or u.state = $3) and ($4 = '' or u.device = $4) and ($5 = '' or u.pc = $5) order by u.unit limit $6`
	// The units are chosen first, because the lookups for each are expensive.
	unitOfDevice = `, coalesce((select q.name from weir.jobs q where q.id = u.job), '') from (select x.job, x.unit from weir.fleet_units x where x.device = (select d.id from weir.devices d where d.serial = $1) order by x.job desc, x.unit desc limit $2) i,
		lateral (select * from weir.fleet_unit u where u.job = i.job and u.unit = i.unit offset 0) u order by u.job desc, u.unit desc`
)

func (s *Store) units(ctx context.Context, from string, args ...any) ([]Unit, error) {
	rows, err := s.pool.Query(ctx, `select `+unitColumns+from, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (u Unit, err error) {
		var task *weir.ID
		err = row.Scan(&u.Job, &u.Unit, &u.Round, &u.State, &u.Device, &u.PC, &task, &u.Attempt, &u.Infra, &u.Cause, &u.StartedAt, &u.Deadline, &u.RetryAt, &u.EndedAt, &u.JobName)
		u.Task = or(task)
		return u, err
	})
}

// or returns the zero id for nil.
func or(id *weir.ID) weir.ID {
	if id == nil {
		return weir.ID{}
	}
	return *id
}

func (s *Store) why(ctx context.Context, id weir.ID, most int) (w Why, err error) {
	rows, err := s.pool.Query(ctx, `select coalesce(x.device, ''), coalesce(x.pc, ''), x.why, x.code, x.args - 'answer' - 'answer_at', coalesce(x.args ->> 'answer', ''), (x.args ->> 'answer_at')::timestamptz from weir.fleet_why($1, $2) x`, id, most)
	if err != nil {
		return w, err
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d WhyDevice, err error) {
		err = row.Scan(&d.Device, &d.PC, &d.Why, &d.Code, &d.Args, &d.Answer, &d.AnswerAt)
		return d, err
	})
	if err != nil || len(list) == 0 {
		return w, err
	}
	return Why{Summary: list[0].Why, Coded: list[0].Coded, Devices: list[1:]}, nil
}

// waits names what each unit waits for in one word, like weir.fleet_why.
func (s *Store) waits(ctx context.Context, id weir.ID) (map[string]int, error) {
	rows, err := s.pool.Query(ctx, `select w.kind, count(*)::int from (
		select case when u.device is null then 'any'
			when a.reason is not null then case a.reason ->> 'code' when 'device_out' then d.health
				when 'device_reserved' then 'reserved' when 'device_offline' then 'offline'
				when 'device_missing' then 'missing' when 'device_unchecked' then 'check' else 'pc' end
			when b.busy then 'busy' when u.state = 'retrying' then 'retrying' else 'turn' end as kind
		from weir.fleet_units u left join weir.devices d on d.id = u.device left join weir.nodes n on n.id = d.node
			left join weir.pcs p on p.node = n.id, `+moment+`,
			lateral (select exists (select from weir.running r where r.device = u.device) as busy) b,
			lateral weir._device_answer(d, n, p, b.busy, m.checked, m.now) a
		where u.job = $1 and u.state in ('waiting', 'retrying')) w group by w.kind`, id)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	var kind string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&kind, &n}, func() error {
		counts[kind] = n
		return nil
	})
	return counts, err
}

func (s *Store) preview(ctx context.Context, spec json.RawMessage, most int) (p Preview, err error) {
	left := `coalesce((select jsonb_agg(jsonb_build_object('device', x.serial, 'pc', coalesce(x.pc, ''),
		'why', weir._sentence(x.said), 'code', x.said ->> 'code', 'args', x.said - 'code') order by x.serial)
		from (select d.serial, n.name as pc,
			jsonb_strip_nulls(weir._fleet_unmatched(s.target, d.serial, d.labels)) as said
			from s, weir.devices d left join weir.nodes n on n.id = d.node
			where d.health <> 'retired' and not weir._fleet_matches(s.target, d.serial, d.labels)
			order by d.serial limit $2) x), '[]')`
	some := func(which string) string {
		return `coalesce((select jsonb_agg(jsonb_build_object('device', x.serial, 'pc', coalesce(x.pc, ''),
			'why', coalesce(weir._sentence(x.said), ''), 'code', x.said ->> 'code', 'args', x.said - 'code') order by x.serial)
			from (select d.*, jsonb_strip_nulls(coalesce(why, case when busy then '{"code": "busy"}'::jsonb end)) as said
				from d where ` + which + ` order by serial limit $2) x), '[]')`
	}
	err = s.pool.QueryRow(ctx, `with s as materialized (select x.spec -> 'target' as target, x.priority, x.lane from weir._fleet_spec($1) x),
		d as materialized (select d.serial, n.name as pc, b.busy, a.reason as why
			from weir.devices d left join weir.nodes n on n.id = d.node left join weir.pcs p on p.node = n.id, s, `+moment+`,
				lateral (select exists (select from weir.running r where r.device = d.id) as busy) b,
				lateral weir._device_answer(d, n, p, b.busy, m.checked, m.now) a
			where d.health <> 'retired' and weir._fleet_matches(s.target, d.serial, d.labels))
		select (select count(*) from weir.devices x where x.health <> 'retired'), (select count(*) from d), (select count(*) from d where why is null and not busy), (select count(*) from d where why is null and busy),
			(select count(*) from d where why is not null), `+some("why is null")+`, `+some("why is not null")+`, `+left+`,
			(select count(*) from weir.fleet_jobs j, s where j.lane = s.lane and (j.state = 'active' or j.state = 'waiting' and j.priority >= s.priority))`, spec, most).
		Scan(&p.Fleet, &p.Devices, &p.Ready, &p.Busy, &p.Out, &p.Takes, &p.Misses, &p.Left, &p.Ahead)
	return p, err
}

// --- results

// results reads the units of a job with what each left. Of several attempts the last one
// that left a report of tests counts.
func (s *Store) results(ctx context.Context, id weir.ID, f UnitFilter, after, most int) ([]Result, error) {
	rows, err := s.pool.Query(ctx, `select u.unit, u.round, u.state, coalesce(u.device, ''), coalesce(u.pc, ''), u.task,
			u.attempt, coalesce(u.cause, ''), u.started_at, u.ended_at, u.result, r.files, r.tests, r.failures, r.errors,
			r.skipped, r.seconds, r.failed, r.fault
		from (select x.unit as nth from weir.fleet_unit x where x.job = $1 and x.unit > $2 and ($3 = '' or x.state = $3)
			and ($4 = '' or x.device = $4) and ($5 = '' or x.pc = $5) order by x.unit limit $6) i,
		lateral (select * from weir.fleet_unit u where u.job = $1 and u.unit = i.nth offset 0) u,
		lateral (select count(*)::int as files, coalesce(sum(r.tests), 0)::int as tests,
			coalesce(sum(r.failures), 0)::int as failures, coalesce(sum(r.errors), 0)::int as errors,
			coalesce(sum(r.skipped), 0)::int as skipped, coalesce(sum(r.seconds), 0) as seconds,
			coalesce(jsonb_path_query_array(jsonb_agg(r.failed order by r.artifact), '$[*][*]'), '[]') as failed,
			coalesce(string_agg(coalesce(a.name || ': ', '') || r.fault, '; ' order by r.artifact), '') as fault
			from weir.test_reports r left join weir.artifacts a on a.id = r.artifact where r.task = u.task
				and r.attempt = (select max(m.attempt) from weir.test_reports m where m.task = u.task)) r
		order by u.unit`, id, after, f.State, f.Device, f.PC, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (u Result, err error) {
		var task *weir.ID
		var files int
		var t Tests
		err = row.Scan(&u.Unit, &u.Round, &u.State, &u.Device, &u.PC, &task, &u.Attempt, &u.Cause, &u.StartedAt, &u.EndedAt,
			(*[]byte)(&u.Result), &files, &t.Tests, &t.Failures, &t.Errors, &t.Skipped, &t.Seconds, &t.Failed, &t.Fault)
		u.Task = or(task)
		if files > 0 {
			u.Tests = &t
		}
		return u, err
	})
}

// cases counts the devices on which each case failed, of the same attempts as results.
func (s *Store) cases(ctx context.Context, id weir.ID, most int) ([]FailedCase, error) {
	rows, err := s.pool.Query(ctx, `select coalesce(c.suite, ''), c.name, count(distinct u.device)::int as devices, count(*)::int,
			(array_agg(distinct u.device))[1:20], coalesce(min(c.message), '')
		from weir.test_reports r join weir.fleet_unit u on u.task = r.task,
			jsonb_to_recordset(r.failed) c (suite text, name text, kind text, message text)
		where r.job = $1 and r.attempt = (select max(m.attempt) from weir.test_reports m where m.task = r.task)
		group by 1, 2 order by devices desc, 1, 2 limit $2`, id, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c FailedCase, err error) {
		err = row.Scan(&c.Suite, &c.Name, &c.Devices, &c.Runs, &c.On, &c.Message)
		return c, err
	})
}

// unread lists reports of tests that are due to be read.
const (
	unreadSQL = `select a.id, a.bucket, a.key, a.size, a.at from weir.test_reports r join weir.artifacts a on a.id = r.artifact
		where r.due <= clock_timestamp() order by r.due limit $1`
	readSQL  = `select weir.test_report_read($1, $2, $3, nullif($4, ''))`
	laterSQL = `select weir.test_report_read($1, $2, null, $3, clock_timestamp() + interval '1 min')`
)

// --- devices

const deviceColumns = `d.serial, coalesce(d.pc, ''), coalesce(d.hub, ''), coalesce(d.target, ''), d.labels, d.online, d.online_at, d.missing_at, d.health, d.health_at, coalesce(d.health_note, ''),
	coalesce(d.health_by, ''), d.health_job, d.evidence, d.checks, d.check_at, d.registered_at, d.eligible, coalesce(d.why, ''), d.reason ->> 'code', d.reason - 'code', d.task, d.job, coalesce(d.attempt, 0), d.claimed_at, d.deadline, d.flaps, d.answer, d.answer_at,
	d.health_until, coalesce(d.reserved_by, ''), d.reserved_at, d.reserved_until, coalesce(d.reserved_note, '')`

const (
	deviceAll    = `from (select x.id, x.serial from weir.devices x where $2 = '' and ` + deviceFilter
	deviceOnPC   = `from (select x.id, x.serial from weir.devices x where x.node = (select n.id from weir.nodes n where n.name = $2) and ` + deviceFilter
	deviceFilter = `x.serial > $1 collate "C" and ($3 = '' or x.health = $3)
		and ($4::boolean is null or x.online = $4) and x.labels @> $5 and ($6 = '' or strpos(lower(x.serial), lower($6)) > 0)
		and (select coalesce(bool_and(weir._label_holds(c, x.labels)), true) from unnest($8::text[]) c) order by x.serial limit $7) i,
		lateral (select * from weir.device d where d.id = i.id offset 0) d order by d.serial`
	deviceOf    = `from weir.device d where d.serial = $1`
	deviceOfPCs = `from (select x.id from unnest($1::text[]) q(pc) join weir.nodes n on n.name = q.pc, lateral (select x.id from weir.devices x where x.node = n.id and x.health = $2 order by x.serial limit $3) x
		union all (select x.id from weir.devices x where '' = any($1::text[]) and x.node is null and x.health = $2 order by x.serial limit $3)) i,
		lateral (select * from weir.device d where d.id = i.id offset 0) d order by d.pc nulls first, d.serial`
)

func (s *Store) devices(ctx context.Context, from string, args ...any) ([]Device, error) {
	rows, err := s.pool.Query(ctx, `select `+deviceColumns+` `+from, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Device, err error) {
		var blamed, task, job *weir.ID
		var code *string
		var args map[string]any
		err = row.Scan(&d.Serial, &d.PC, &d.Hub, &d.Target, &d.Labels, &d.Online, &d.OnlineAt, &d.MissingAt, &d.Health, &d.HealthAt, &d.HealthNote, &d.HealthBy, &blamed, &d.Evidence, &d.Checks, &d.CheckAt,
			&d.RegisteredAt, &d.Eligible, &d.Why, &code, &args, &task, &job, &d.Attempt, &d.ClaimedAt, &d.Deadline, &d.Flaps, &d.Answer, &d.AnswerAt,
			&d.HealthUntil, &d.ReservedBy, &d.ReservedAt, &d.ReservedUntil, &d.ReservedNote)
		d.HealthJob, d.Task, d.Job = or(blamed), or(task), or(job)
		d.Reason, d.Presence = reason.Of(code, args), presenceOf(d)
		return d, err
	})
}

func (s *Store) deviceEvents(ctx context.Context, serial string, most int) ([]DeviceEvent, error) {
	rows, err := s.pool.Query(ctx, `select e.at, e.type, coalesce(e.source, ''), coalesce(e.message, ''), e.job, coalesce(e.data ->> 'was', ''),
		array(select jsonb_array_elements_text(e.data -> 'evidence')::uuid) from weir.events e where e.kind = 'device' and e.subject = $1 order by e.seq desc limit $2`, serial, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e DeviceEvent, err error) {
		var job *weir.ID
		err = row.Scan(&e.At, &e.Type, &e.By, &e.Note, &job, &e.Was, &e.Evidence)
		e.Job = or(job)
		return e, err
	})
}

const (
	maintainSQL = `select weir.device_maintain($1, nullif($2, ''), nullif($3, ''), $4)`
	releaseSQL  = `select weir.device_release($1, nullif($2, ''), nullif($3, ''), nullif($4, ''), $5)`
	reserveSQL  = `select weir.device_reserve($1, by => nullif($2, ''), reason => nullif($3, ''),
		holder => nullif($4, ''), until => $5)`
	retireSQL     = `select weir.device_retire($1, nullif($2, ''), nullif($3, ''))`
	quarantineSQL = `select weir.device_quarantine($1, nullif($2, ''), nullif($3, ''))`
)

const (
	forwardOpenSQL = `select weir.forward_open($1, $2, $3, by => nullif($4, ''), holder => nullif($5, ''),
		forced => $6, server => nullif($7, ''))`
	forwardRefuseSQL = `select weir.forward_refuse($1, $2, $3)`
	forwardJoinSQL   = `select weir.forward_join($1)`
	forwardKeepSQL   = `select coalesce(ends, ''), coalesce(refused, '') from weir.forward_keep($1)`
	forwardEndSQL    = `select weir.forward_end($1, $2, $3, $4)`
	forwardServerSQL = `select coalesce((select f.server from weir.forwards f join weir.nodes n on n.id = f.node
		where f.id = $1 and n.name = $2), '')`
)

func (s *Store) forwardOrders(ctx context.Context, pc, ports string) ([]ForwardOrder, error) {
	rows, err := s.pool.Query(ctx, `select id, serial, port from weir.forward_orders($1, $2)`, pc, ports)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[ForwardOrder])
}

func (s *Store) command(ctx context.Context, op, sql, serial, by, reason string, more ...any) (changed bool, err error) {
	if err := s.pool.QueryRow(ctx, sql, append([]any{serial, by, reason}, more...)...).Scan(&changed); err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	return changed, nil
}

// --- PCs

const pcColumns = `p.name, p.state, coalesce(p.why, ''), p.reason ->> 'code', p.reason - 'code', p.slots, p.set_slots, p.target, p.running, p.eligible, p.devices, p.online, p.quarantined, p.paused_until, coalesce(p.trouble, ''), p.reported_at, p.seen_at`

const (
	pcOf = `where p.name = $1`
	// The PCs are chosen first, because the view counts the devices of each.
	pcPage = `where p.name = any(array(select n.name from weir.pcs x join weir.nodes n on n.id = x.node, ` + moment + ` where n.name > $1 collate "C" and ($2 = '' or strpos(lower(n.name), lower($2)) > 0)
		and ($3 = '' or exists (select from weir.devices d where d.node = n.id and d.health = $3))
		and (not $4 or weir._pc_reason(n, x, m.now) is not null or exists (select from weir.devices d where d.node = n.id
			and (d.health in ('suspect', 'quarantined') or d.health <> 'retired' and (not d.online or d.missing_at is not null)))) order by n.name limit $5)) order by p.name`
	// moment is the current time and whether there is a health task. A function that
	// takes a column becomes part of the plan; one that takes a call of a clock is called
	// for each row.
	moment = `(select clock_timestamp() as now, f.health is not null as checked from weir.fleet_policy f offset 0) m`
)

func (s *Store) sum(ctx context.Context) (t Sum, err error) {
	err = s.pool.QueryRow(ctx, `select count(p.name), count(*) filter (where p.reason is not null), coalesce(sum(p.running), 0),
		coalesce(sum(p.target), 0), coalesce(sum(p.eligible), 0), coalesce(sum(p.devices), 0) + o.devices,
		coalesce(sum(p.online), 0) + o.online, coalesce(sum(p.quarantined), 0) + o.quarantined, o.devices
		from (select count(*) filter (where d.health <> 'retired') as devices,
			count(*) filter (where d.online and d.missing_at is null and d.health <> 'retired') as online,
			count(*) filter (where d.health = 'quarantined') as quarantined
			from weir.devices d where not exists (select from weir.pcs p where p.node = d.node)) o left join weir.pc p on true
		group by o.devices, o.online, o.quarantined`).
		Scan(&t.PCs, &t.Still, &t.Running, &t.Target, &t.Eligible, &t.Devices, &t.Online, &t.Quarantined, &t.WithoutPC)
	return t, err
}

func (s *Store) pcs(ctx context.Context, rest string, args ...any) ([]PC, error) {
	rows, err := s.pool.Query(ctx, `select `+pcColumns+` from weir.pc p `+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p PC, err error) {
		var code *string
		var args map[string]any
		err = row.Scan(&p.Name, &p.State, &p.Why, &code, &args, &p.Slots, &p.SetSlots, &p.Target, &p.Running, &p.Eligible, &p.Devices, &p.Online, &p.Quarantined, &p.PausedUntil, &p.Trouble, &p.ReportedAt, &p.SeenAt)
		p.Reason = reason.Of(code, args)
		return p, err
	})
}

const (
	slotsAll = `order by n.name, r.claimed_at, d.serial`
	slotsOf  = `where r.node = any(array(select x.id from weir.nodes x where x.name = any($1::text[]))) order by n.name, r.claimed_at, d.serial`
)

func (s *Store) slots(ctx context.Context, rest string, args ...any) ([]Slot, error) {
	rows, err := s.pool.Query(ctx, `select n.name, d.serial, d.health, r.task, r.job, coalesce((select j.name from weir.jobs j where j.id = r.job), ''), r.attempt::int, r.claimed_at, r.deadline
		from weir.running r join weir.devices d on d.id = r.device join weir.nodes n on n.id = r.node `+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Slot, err error) {
		var job *weir.ID
		err = row.Scan(&l.PC, &l.Serial, &l.Health, &l.Task, &job, &l.JobName, &l.Attempt, &l.ClaimedAt, &l.Deadline)
		l.Job = or(job)
		return l, err
	})
}

func (s *Store) setSlots(ctx context.Context, by, pc string, slots *int) (changed bool, err error) {
	err = s.pool.QueryRow(ctx, `select weir.set_slots($1, $2, nullif($3, ''))`, pc, slots, by).Scan(&changed)
	return changed, err
}

const (
	// This is like the view weir.pc, without its devices.
	pcsByState = `select weir._pc_state(n, p, m.now), count(*)::int
		from weir.pcs p join weir.nodes n on n.id = p.node, ` + moment + ` group by 1`
	jobsByState = `select case when l.cancel_at is not null then 'canceling' else j.state end, count(*)::int from weir.fleet_jobs j join weir.job_live l on l.job = j.job where j.state in ('waiting', 'active') group by 1`
)

// tally reads counts by a word.
func (s *Store) tally(ctx context.Context, sql string) (map[string]int, error) {
	rows, err := s.pool.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	var word string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&word, &n}, func() error {
		counts[word] = n
		return nil
	})
	return counts, err
}

func (s *Store) byHealth(ctx context.Context) (map[string]map[string]int, error) {
	rows, err := s.pool.Query(ctx, `select d.health, case when not d.online then 'offline' when d.missing_at is not null then 'missing' else 'online' end, count(*)::int from weir.devices d group by 1, 2`)
	if err != nil {
		return nil, err
	}
	counts := map[string]map[string]int{}
	var health, presence string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&health, &presence, &n}, func() error {
		if counts[health] == nil {
			counts[health] = map[string]int{}
		}
		counts[health][presence] = n
		return nil
	})
	return counts, err
}

// --- policy

func (s *Store) policy(ctx context.Context) (has json.RawMessage, err error) {
	err = s.pool.QueryRow(ctx, `select to_jsonb(f) - 'one' from weir.fleet_policy f`).Scan((*[]byte)(&has))
	return has, err
}

// healthTask reads the health task of a device, by its labels. It is nil without one.
func (s *Store) healthTask(ctx context.Context, serial string) (h *LabelHealth, err error) {
	err = s.pool.QueryRow(ctx, `select weir._health_task(f.health, d.serial, d.labels) from weir.fleet_policy f, weir.devices d where d.serial = $1`, serial).Scan(&h)
	return h, err
}

func (s *Store) setPolicy(ctx context.Context, by string, change json.RawMessage) (has json.RawMessage, err error) {
	err = s.pool.QueryRow(ctx, `select weir.set_fleet_policy($1, nullif($2, ''))`, change, by).Scan((*[]byte)(&has))
	return has, err
}

// --- the leader

const (
	tendSQL = `select offline, missed, more from weir.fleet_tend()`
	tidySQL = `select weir.fleet_tidy()`
)

// --- the past of devices

// An attempt that was tried again is an event of its task, which has the time of its claim; the
// last one is the row of the task. Attempts of a unit that went to another device are left
// out: they were elsewhere.
const deviceRunsSQL = `select s.serial, u.job, coalesce((select q.name from weir.jobs q where q.id = u.job), ''), u.task,
		u.round::int, a.attempt::int, a.state, coalesce(a.reason, ''), coalesce(a.cause, ''), a.since, a.until
	from unnest($1::text[]) s (serial) join weir.devices d on d.serial = s.serial
	cross join lateral (select x.* from weir.fleet_units x where x.device = d.id and x.task is not null
		order by x.job desc, x.unit desc limit $3) u
	cross join lateral (
		select f.attempt, f.outcome::text as state, f.cause, f.started_at as since, f.at as until,
			(select e.data ->> 'reason' from weir.events e
				where f.outcome = 'failed' and e.task = u.task and e.type = 'failed' order by e.seq desc limit 1) as reason
		from weir.finished f where f.task = u.task
		union all
		select e.attempt, e.type, e.message, (e.data ->> 'claimed_at')::timestamptz, e.at, e.data ->> 'reason'
		from weir.events e where e.task = u.task and e.type in ('retrying', 'expired', 'returned') and u.excluded = '{}'
		union all
		select r.attempt, 'running', null, r.claimed_at, null, null from weir.running r where r.task = u.task) a
	where a.since is not null and coalesce(a.until, 'infinity') > $2 order by a.since desc, a.attempt desc`

func (s *Store) deviceRuns(ctx context.Context, serials []string, since time.Time, most int) (map[string][]DeviceRun, error) {
	rows, err := s.pool.Query(ctx, deviceRunsSQL, serials, since, most)
	if err != nil {
		return nil, err
	}
	out, serial := map[string][]DeviceRun{}, ""
	var r DeviceRun
	_, err = pgx.ForEachRow(rows, []any{
		&serial, &r.Job, &r.JobName, &r.Task, &r.Round, &r.Attempt, &r.State, &r.Reason, &r.Cause, &r.From, &r.To,
	}, func() error {
		out[serial] = append(out[serial], r)
		return nil
	})
	return out, err
}

const deviceSpansSQL = `select w.serial, x.state, coalesce(n.name, ''), x.since, x.until
	from unnest($1::text[]) w (serial) join weir.devices d on d.serial = w.serial
	cross join lateral (select * from weir.device_spans s where s.device = d.id and coalesce(s.until, 'infinity') > $2
		order by s.since desc limit $3) x
	left join weir.nodes n on n.id = x.node order by x.since desc`

func (s *Store) deviceSpans(ctx context.Context, serials []string, since time.Time, most int) (map[string][]DeviceSpan, error) {
	rows, err := s.pool.Query(ctx, deviceSpansSQL, serials, since, most)
	if err != nil {
		return nil, err
	}
	out, serial := map[string][]DeviceSpan{}, ""
	var x DeviceSpan
	_, err = pgx.ForEachRow(rows, []any{&serial, &x.State, &x.PC, &x.From, &x.To}, func() error {
		out[serial] = append(out[serial], x)
		return nil
	})
	return out, err
}

// serialsOf lists the devices of a PC.
func (s *Store) serialsOf(ctx context.Context, pc string, most int) ([]string, error) {
	rows, err := s.pool.Query(ctx, `select d.serial from weir.devices d join weir.nodes n on n.id = d.node
		where n.name = $1 order by d.serial limit $2`, pc, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
