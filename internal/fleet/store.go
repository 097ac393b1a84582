package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// Store keeps fleet jobs, devices and PCs. It is safe for concurrent use. All SQL of
// the package is in this file.
type Store struct {
	pool *pgxpool.Pool
}

// New makes a store on a pool that the caller keeps. Its user must own the schema:
// commands carry the name of whoever gave them, and nobody else may say that.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Term is the leader's: a statement changes nothing once the term is over.
type Term interface {
	QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error
}

func limit(p view.Page) int {
	if p.Limit <= 0 {
		return 50
	}
	return min(p.Limit, 1000)
}

func idOrNil(text string) (*weir.ID, error) {
	if text == "" {
		return nil, nil
	}
	id, err := weir.ParseID(text)
	if err != nil {
		return nil, problem.Refuse("after", "give the id of the last one of the page before", "%q is no id", text)
	}
	return &id, nil
}

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

func notFound(what, name, next string) error {
	return problem.New(problem.NotFound, next, "there is no %s %s", what, name)
}

// --- jobs

func (s *Store) submit(ctx context.Context, name string, spec json.RawMessage, by, key string) (id weir.ID, err error) {
	err = s.pool.QueryRow(ctx, `select weir.fleet_submit($1, $2, nullif($3, ''), nullif($4, ''))`, name, spec, by, key).Scan(&id)
	return id, err
}

func (s *Store) cancel(ctx context.Context, id weir.ID, by, reason string) (c Canceled, err error) {
	err = s.pool.QueryRow(ctx, `select canceled, requested from weir.fleet_cancel($1, nullif($2, ''), nullif($3, ''))`, id, by, reason).Scan(&c.Canceled, &c.Requested)
	return c, err
}

const jobColumns = `j.id, coalesce(j.name, ''), j.state, j.priority, coalesce(j.by, ''), coalesce(j.schedule, ''), coalesce(j.cause, ''), coalesce(j.stopped, ''), j.targeted, j.waiting, j.running,
	j.retrying, j.done, j.failed, j.missed, j.canceled, j.created_at, j.activated_at, j.ended_at, j.lingers_at, j.lingers_at + j.linger`

const (
	jobFilter = `where ($1::uuid is null or j.id < $1) and ($2 = '' or j.state = $2) and ($3 = '' or strpos(lower(j.name), lower($3)) > 0) order by j.id desc limit $4`
	jobOf     = `where j.id = $1`
	jobActive = `where j.id = (select a.job from weir.fleet_jobs a where a.state = 'active')`
)

func (s *Store) jobs(ctx context.Context, rest string, args ...any) ([]Job, error) {
	rows, err := s.pool.Query(ctx, `select `+jobColumns+` from weir.fleet_job j `+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (j Job, err error) {
		c := &j.Counts
		err = row.Scan(&j.ID, &j.Name, &j.State, &j.Priority, &j.By, &j.Schedule, &j.Cause, &j.Stopped, &c.Total, &c.Waiting, &c.Running, &c.Retrying, &c.Done, &c.Failed, &c.Missed, &c.Canceled,
			&j.CreatedAt, &j.ActivatedAt, &j.EndedAt, &j.LingersAt, &j.MissedAt)
		return j, err
	})
}

func (s *Store) spec(ctx context.Context, id weir.ID) (text json.RawMessage, err error) {
	err = s.pool.QueryRow(ctx, `select j.spec from weir.fleet_jobs j where j.job = $1`, id).Scan((*[]byte)(&text))
	return text, err
}

const unitColumns = `u.job, u.unit, u.round, u.state, coalesce(u.device, ''), coalesce(u.pc, ''), u.task, u.attempt, u.infra, coalesce(u.cause, ''), u.started_at, u.deadline, u.retry_at, u.ended_at`

const (
	unitFilter = `from weir.fleet_unit u where u.job = $1 and u.unit > $2 and ($3 = '' or u.state = $3) and ($4 = '' or u.device = $4) and ($5 = '' or u.pc = $5) order by u.unit limit $6`
	// The units are chosen first: what is looked up for each is dear.
	unitOfDevice = `from (select x.job, x.unit from weir.fleet_units x where x.device = (select d.id from weir.devices d where d.serial = $1) order by x.job desc, x.unit desc limit $2) i,
		lateral (select * from weir.fleet_unit u where u.job = i.job and u.unit = i.unit offset 0) u order by u.job desc, u.unit desc`
)

func (s *Store) units(ctx context.Context, from string, args ...any) ([]Unit, error) {
	rows, err := s.pool.Query(ctx, `select `+unitColumns+` `+from, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (u Unit, err error) {
		var task *weir.ID
		err = row.Scan(&u.Job, &u.Unit, &u.Round, &u.State, &u.Device, &u.PC, &task, &u.Attempt, &u.Infra, &u.Cause, &u.StartedAt, &u.Deadline, &u.RetryAt, &u.EndedAt)
		u.Task = or(task)
		return u, err
	})
}

// or is the zero id for none.
func or(id *weir.ID) weir.ID {
	if id == nil {
		return weir.ID{}
	}
	return *id
}

func (s *Store) why(ctx context.Context, id weir.ID, most int) (w Why, err error) {
	rows, err := s.pool.Query(ctx, `select coalesce(x.device, ''), coalesce(x.pc, ''), x.why from weir.fleet_why($1, $2) x`, id, most)
	if err != nil {
		return w, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[WhyDevice])
	if err != nil || len(list) == 0 {
		return w, err
	}
	return Why{Summary: list[0].Why, Devices: list[1:]}, nil
}

// --- devices

const deviceColumns = `d.serial, coalesce(d.pc, ''), coalesce(d.hub, ''), coalesce(d.target, ''), d.labels, d.online, d.online_at, d.missing_at, d.health, d.health_at, coalesce(d.health_note, ''),
	coalesce(d.health_by, ''), d.health_job, d.evidence, d.checks, d.check_at, d.registered_at, d.eligible, coalesce(d.why, ''), d.task, d.job, coalesce(d.attempt, 0), d.claimed_at, d.deadline`

const (
	deviceFilter = `from (select x.id, x.serial from weir.devices x left join weir.nodes n on n.id = x.node where x.serial > $1 collate "C" and ($2 = '' or n.name = $2) and ($3 = '' or x.health = $3)
		and ($4::boolean is null or x.online = $4) and x.labels @> $5 and ($6 = '' or strpos(lower(x.serial), lower($6)) > 0) order by x.serial limit $7) i,
		lateral (select * from weir.device d where d.id = i.id offset 0) d order by d.serial`
	deviceOf = `from weir.device d where d.serial = $1`
)

func (s *Store) devices(ctx context.Context, from string, args ...any) ([]Device, error) {
	rows, err := s.pool.Query(ctx, `select `+deviceColumns+` `+from, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Device, err error) {
		var blamed, task, job *weir.ID
		err = row.Scan(&d.Serial, &d.PC, &d.Hub, &d.Target, &d.Labels, &d.Online, &d.OnlineAt, &d.MissingAt, &d.Health, &d.HealthAt, &d.HealthNote, &d.HealthBy, &blamed, &d.Evidence, &d.Checks, &d.CheckAt,
			&d.RegisteredAt, &d.Eligible, &d.Why, &task, &job, &d.Attempt, &d.ClaimedAt, &d.Deadline)
		d.HealthJob, d.Task, d.Job = or(blamed), or(task), or(job)
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
	maintainSQL   = `select weir.device_maintain($1, nullif($2, ''), nullif($3, ''))`
	releaseSQL    = `select weir.device_release($1, nullif($2, ''), nullif($3, ''))`
	retireSQL     = `select weir.device_retire($1, nullif($2, ''), nullif($3, ''))`
	quarantineSQL = `select weir.device_quarantine($1, nullif($2, ''), nullif($3, ''))`
)

func (s *Store) command(ctx context.Context, op, sql, serial, by, reason string) (changed bool, err error) {
	if err := s.pool.QueryRow(ctx, sql, serial, by, reason).Scan(&changed); err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	return changed, nil
}

// --- PCs

const pcColumns = `p.name, p.state, coalesce(p.why, ''), p.slots, p.set_slots, p.target, p.running, p.eligible, p.devices, p.online, p.quarantined, p.paused_until, p.reported_at, p.seen_at`

const (
	pcAll = `order by p.name`
	pcOf  = `where p.name = $1`
)

func (s *Store) pcs(ctx context.Context, rest string, args ...any) ([]PC, error) {
	rows, err := s.pool.Query(ctx, `select `+pcColumns+` from weir.pc p `+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p PC, err error) {
		err = row.Scan(&p.Name, &p.State, &p.Why, &p.Slots, &p.SetSlots, &p.Target, &p.Running, &p.Eligible, &p.Devices, &p.Online, &p.Quarantined, &p.PausedUntil, &p.ReportedAt, &p.SeenAt)
		return p, err
	})
}

func (s *Store) slots(ctx context.Context, pc string) ([]Slot, error) {
	rows, err := s.pool.Query(ctx, `select n.name, d.serial, d.health, r.task, r.job, coalesce((select j.name from weir.jobs j where j.id = r.job), ''), r.attempt::int, r.claimed_at, r.deadline
		from weir.running r join weir.devices d on d.id = r.device join weir.nodes n on n.id = r.node where $1 = '' or n.name = $1 order by n.name, r.claimed_at, d.serial`, pc)
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

// --- policy

func (s *Store) policy(ctx context.Context) (has json.RawMessage, err error) {
	err = s.pool.QueryRow(ctx, `select to_jsonb(f) - 'one' from weir.fleet_policy f`).Scan((*[]byte)(&has))
	return has, err
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
