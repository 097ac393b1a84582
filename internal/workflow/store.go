package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
)

// Options configure a store. The zero value works.
type Options struct {
	Log *slog.Logger
	// Vault keeps the secrets of webhooks. If it is nil, there are no webhooks.
	Vault *vault.Vault
}

// Store stores the workflows of one database and runs them. It is safe for concurrent
// use. All SQL of the package is in this file.
type Store struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	known *cache
	vault *vault.Vault
}

// New returns a store on a pool that the caller owns.
func New(pool *pgxpool.Pool, o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{pool: pool, log: o.Log, known: newCache(), vault: o.Vault}
}

// refused reports whether the database refused the request, as opposed to a failure of
// the database.
func refused(err error) bool {
	var state *pgconn.PgError
	if !errors.As(err, &state) || state.Code == "WR410" {
		return false
	}
	switch state.Code[:2] {
	case "WR", "22", "23", "54":
		return true
	}
	return false
}

// said returns the text of an error for a person.
func said(err error) string {
	p := problem.Explain(err)
	if p.Next == "" {
		return p.What
	}
	return p.What + " (" + p.Advice() + ")"
}

// --- workflows

const workflowColumns = `w.id, w.name, w.version, w.active, w.definition, coalesce(w.source, ''), coalesce(w.by, ''), w.created_at, w.updated_at,
	case jsonb_typeof(w.definition) when 'array' then jsonb_array_length(w.definition) else coalesce(jsonb_array_length(case when jsonb_typeof(w.definition -> 'steps') = 'array' then w.definition -> 'steps' end), 0) end,
	(select count(*) from weir.job_live l where l.definition = w.id and l.due is null), (select count(*) from weir.job_live l where l.definition = w.id and l.due is not null),
	(select j.id from weir.jobs j where j.definition = w.id order by j.id desc limit 1), w.deleted_at`

func (s *Store) list(ctx context.Context, op, rest string, args ...any) ([]Workflow, error) {
	rows, err := s.pool.Query(ctx, `select `+workflowColumns+` from weir.workflows w `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Workflow, err error) {
		var last *weir.ID
		err = row.Scan(&w.ID, &w.Name, &w.Version, &w.Active, (*[]byte)(&w.Definition), &w.Source, &w.By, &w.CreatedAt, &w.UpdatedAt, &w.Steps, &w.Running, &w.Queued, &last, &w.DeletedAt)
		if last != nil {
			w.LastJob = *last
		}
		return w, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

// Workflows lists the workflows by name, each in the version that a run takes,
// or in its newest if none is active.
func (s *Store) Workflows(ctx context.Context, page view.Page) ([]Workflow, error) {
	return s.list(ctx, "list workflows", `where w.name > $1 collate "C" and w.version = (select x.version from weir.workflows x where x.name = w.name and x.deleted_at is null order by x.active desc, x.version desc limit 1)
		order by w.name limit $2`, page.After, page.Most())
}

// Versions lists the versions of a workflow, newest first. page.After is the last version
// of the previous page.
func (s *Store) Versions(ctx context.Context, name string, page view.Page) ([]Workflow, error) {
	list, err := s.list(ctx, "list versions", `where w.name = $1 and w.deleted_at is null and ($2 = '' or w.version < $2::int) order by w.version desc limit $3`, name, page.After, page.Most())
	if err == nil && len(list) == 0 && page.After == "" {
		err = s.unknown(ctx, name, 0)
	}
	return list, err
}

// Workflow reads one version of a workflow; 0 is the newest active one.
func (s *Store) Workflow(ctx context.Context, name string, version int) (Workflow, error) {
	return s.one(ctx, name, version, `where w.name = $1 and w.deleted_at is null and (w.version = $2 or $2 = 0 and w.active) order by w.version desc limit 1`, name, version)
}

// Of reads the version of a workflow that a job is a run of, by the job's definition.
func (s *Store) Of(ctx context.Context, id weir.ID) (Workflow, error) {
	return s.one(ctx, id.String(), 0, `where w.id = $1`, id)
}

func (s *Store) one(ctx context.Context, name string, version int, rest string, args ...any) (Workflow, error) {
	list, err := s.list(ctx, "read workflow", rest, args...)
	if err == nil && len(list) == 0 {
		err = s.unknown(ctx, name, version)
	}
	if err != nil {
		return Workflow{}, err
	}
	return list[0], nil
}

// names returns the names of workflows that can be run.
func (s *Store) names(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, `select distinct w.name from weir.workflows w where w.active order by 1 limit 1000`)
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func putRow(ctx context.Context, tx pg.Querier, name string, body json.RawMessage, version int, source string, active bool, by string) (id weir.ID, stored int, created bool, err error) {
	err = tx.QueryRow(ctx, `select id, stored, created from weir.put_workflow($1, $2, nullif($3, 0), nullif($4, ''), $5, nullif($6, ''))`,
		name, body, version, source, active, by).Scan(&id, &stored, &created)
	return id, stored, created, err
}

func setActive(ctx context.Context, tx pg.Querier, name string, version int, active bool, by string) error {
	_, err := tx.Exec(ctx, `select weir.set_workflow($1, $2, $3, nullif($4, ''))`, name, version, active, by)
	return err
}

func (s *Store) dropRows(ctx context.Context, name string, version int, by string) (n int, err error) {
	err = s.pool.QueryRow(ctx, `select weir.drop_workflow($1, nullif($2, 0), nullif($3, ''))`, name, version, by).Scan(&n)
	return n, err
}

// newestIn reads the definition that the schedules of a workflow follow.
func newestIn(ctx context.Context, tx pg.Querier, name string) (body json.RawMessage, err error) {
	err = tx.QueryRow(ctx, `select w.definition from weir.workflows w where w.name = $1 and w.active order by w.version desc limit 1`, name).Scan((*[]byte)(&body))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return body, err
}

// --- schedules of workflows

// scheduleRow is the existing row of a schedule that a definition owns.
type scheduleRow struct {
	name   string
	paused bool
}

func schedulesOf(ctx context.Context, tx pg.Querier, prefix string) (list []scheduleRow, now time.Time, err error) {
	if err := tx.QueryRow(ctx, `select clock_timestamp()`).Scan(&now); err != nil {
		return nil, now, err
	}
	rows, err := tx.Query(ctx, `select s.name, s.paused from weir.schedules s where starts_with(s.name, $1) and s.workflow is not null`, prefix)
	if err != nil {
		return nil, now, err
	}
	list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r scheduleRow, err error) {
		err = row.Scan(&r.name, &r.paused)
		return r, err
	})
	return list, now, err
}

func setSchedule(ctx context.Context, tx pg.Querier, s weir.Schedule, options json.RawMessage, next time.Time) error {
	_, err := tx.Exec(ctx, `select weir.set_schedule($1, $2, null, $3, zone => $4, missed => $5, paused => $6, by => nullif($7, ''), workflow => $8, options => $9, overlap => $10,
		catch_up => nullif($11::interval, '0'), jitter => nullif($12::interval, '0'))`,
		s.Name, s.Spec, next, s.Zone, string(s.Missed), s.Paused, s.By, s.Workflow, options, string(s.Overlap), s.CatchUp, s.Jitter)
	return err
}

func dropSchedule(ctx context.Context, tx pg.Querier, name, by string) error {
	_, err := tx.Exec(ctx, `select weir.drop_schedule($1, nullif($2, ''))`, name, by)
	return err
}

// scheduleNamed reads a workflow's schedule for a backfill.
func (s *Store) scheduleNamed(ctx context.Context, name string) (x weir.Schedule, options json.RawMessage, err error) {
	err = s.pool.QueryRow(ctx, `select s.name, s.spec, s.zone, coalesce(s.workflow, ''), s.options from weir.schedules s where s.name = $1`, name).
		Scan(&x.Name, &x.Spec, &x.Zone, &x.Workflow, (*[]byte)(&options))
	if errors.Is(err, pgx.ErrNoRows) {
		err = problem.New(problem.NotFound, "see what there is", "there is no schedule %q", name).Run("weir schedule list")
	}
	return x, options, err
}

// --- runs

// submission is a job whose tasks are planned.
type submission struct {
	definition weir.ID
	newest     bool
	tasks      []byte
	patience   json.RawMessage
	params     json.RawMessage
	options    json.RawMessage
	priority   int
	at         time.Time
	key, trace string
	hint       bool
}

const runSQL = `select weir.workflow_run($1, $2, $3, $4, priority => $5, params => $6, idempotency_key => nullif($7, ''), trace => nullif($8, ''), options => $9, scheduled_at => $10, hint => $11)`

func (r *submission) args() []any {
	return []any{r.definition, r.newest, r.tasks, r.patience, r.priority, r.params, r.key, r.trace, r.options, r.at, r.hint}
}

// submit returns the zero ID if the definition is no longer the newest.
func (s *Store) submit(ctx context.Context, list []submission) ([]weir.ID, error) {
	var batch pgx.Batch // one transaction, one trip
	for i := range list {
		batch.Queue(runSQL, list[i].args()...)
	}
	results := s.pool.SendBatch(ctx, &batch)
	ids := make([]weir.ID, len(list))
	for i := range ids {
		var id *weir.ID
		if err := results.QueryRow().Scan(&id); err != nil {
			_ = results.Close() // says the same
			return nil, err
		}
		if id != nil {
			ids[i] = *id
		}
	}
	return ids, results.Close()
}

// opening is a job that is built later.
type opening struct {
	Name        string          `json:"name"`
	Definition  weir.ID         `json:"definition"`
	Priority    int             `json:"priority"`
	Params      json.RawMessage `json:"params,omitempty"`
	Options     json.RawMessage `json:"options,omitempty"`
	Due         time.Time       `json:"due,omitzero"`
	ScheduledAt time.Time       `json:"scheduled_at,omitzero"`
	Key         string          `json:"key,omitempty"`
	Trace       string          `json:"trace,omitempty"`
	Schedule    string          `json:"schedule,omitempty"`
	Parent      weir.ID         `json:"parent,omitzero"`
	Origin      weir.ID         `json:"origin,omitzero"`
}

// open opens queued jobs, all or none, in order. It notifies the leader even of jobs that
// are due later, so that the leader knows when.
func (s *Store) open(ctx context.Context, list []opening) ([]weir.ID, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `select weir.open_job(x.name, kind => 'workflow', priority => x.priority, params => x.params, due => x.due, idempotency_key => x.key, trace => x.trace,
		definition => x.definition, schedule => x.schedule, parent => x.parent, origin => x.origin, options => x.options, scheduled_at => x.scheduled_at),
		case when e.n = 1 then pg_notify('weir_plan', '') end
		from jsonb_array_elements($1::jsonb) with ordinality e (o, n), jsonb_to_record(e.o) x (name text, definition uuid, priority int, params jsonb, options jsonb, due timestamptz,
			scheduled_at timestamptz, key text, trace text, schedule text, parent uuid, origin uuid) order by e.n`, text)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (id weir.ID, err error) {
		err = row.Scan(&id, nil)
		return id, err
	})
}

const keyedSQL = `select k.id from weir.idempotency k where k.job and k.key = any($1)`

// --- jobs

// jobRow is what building and planning need of a job.
type jobRow struct {
	ID          weir.ID
	Definition  weir.ID
	Name        string
	Options     json.RawMessage
	Params      json.RawMessage
	ScheduledAt time.Time
	Origin      weir.ID
	Priority    int
	Trace       string
	// State is read only by jobOf.
	State string
}

const jobColumns = `j.id, j.definition, j.name, j.options, j.params, coalesce(j.scheduled_at, j.created_at), j.origin, j.priority, coalesce(j.trace, '')`

func scanJob(row pgx.CollectableRow, more ...any) (j jobRow, err error) {
	var definition, origin *weir.ID
	err = row.Scan(append([]any{&j.ID, &definition, &j.Name, (*[]byte)(&j.Options), (*[]byte)(&j.Params), &j.ScheduledAt, &origin, &j.Priority, &j.Trace}, more...)...)
	j.Definition, j.Origin = orZero(definition), orZero(origin)
	return j, err
}

func (s *Store) jobs(ctx context.Context, ids []weir.ID) (map[weir.ID]jobRow, error) {
	rows, err := s.pool.Query(ctx, `select `+jobColumns+` from unnest($1::uuid[]) x (id), lateral (select * from weir.jobs j where j.id = x.id offset 0) j`, ids)
	if err != nil {
		return nil, err
	}
	out := map[weir.ID]jobRow{}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (jobRow, error) { return scanJob(row) })
	for _, j := range list {
		out[j.ID] = j
	}
	return out, err
}

// jobOf reads one job with its state.
func (s *Store) jobOf(ctx context.Context, id weir.ID) (jobRow, error) {
	j, err := s.jobs(ctx, []weir.ID{id})
	if err != nil {
		return jobRow{}, fmt.Errorf("read job: %w", err)
	}
	job, ok := j[id]
	if !ok {
		return jobRow{}, problem.New(problem.NotFound, "see what there is", "there is no job %s", id).Run("weir job list")
	}
	err = s.pool.QueryRow(ctx, `select j.state from weir.job j where j.id = $1`, id).Scan(&job.State)
	return job, err
}

// taskRow is a task of a job as another task sees it.
type taskRow struct {
	ID     weir.ID
	Job    weir.ID
	Key    string
	State  string // empty while it has not ended
	Result json.RawMessage
	Cause  string
	Passes bool
	Node   string
}

const taskFacts = `q.id, q.job, q.key, coalesce(f.outcome::text, ''), f.result, coalesce(f.cause, ''), coalesce(f.passes, false)`

const taskColumns = taskFacts + `, coalesce(n.name, '')`

// ranOn is the node of a task, or of the task that it took its result from, because a
// rerun ends it without running it.
const ranOn = `coalesce(n.name, case when f.worker is null and f.outcome = 'done' then (
	with recursive line (job, depth) as (
		select j.origin, 1 from weir.jobs j where j.id = q.job and j.origin is not null
		union all
		select j.origin, b.depth + 1 from line b, lateral (select j.origin from weir.jobs j where j.id = b.job offset 0) j where j.origin is not null and b.depth < 100
	)
	select o.name from line b, lateral (select x.id from weir.tasks x where x.job = b.job and x.key = q.key offset 0) x,
		lateral (select y.worker from weir.finished y where y.task = x.id and y.worker is not null offset 0) y, weir.workers v, weir.nodes o
	where v.id = y.worker and o.id = v.node order by b.depth limit 1) end, '')`

const taskJoins = ` left join lateral (select f.outcome, f.result, f.cause, f.passes, f.worker from weir.finished f where f.task = q.id offset 0) f on true
	left join weir.workers w on w.id = f.worker left join weir.nodes n on n.id = w.node`

func scanTasks(rows pgx.Rows, err error) ([]taskRow, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t taskRow, err error) {
		err = row.Scan(&t.ID, &t.Job, &t.Key, &t.State, (*[]byte)(&t.Result), &t.Cause, &t.Passes, &t.Node)
		return t, err
	})
}

// facts reads tasks of several jobs by their keys.
func (s *Store) facts(ctx context.Context, jobs []weir.ID, keys []string) ([]taskRow, error) {
	return scanTasks(s.pool.Query(ctx, `select `+taskFacts+`, `+ranOn+` from weir.tasks q`+taskJoins+` where q.job = any ($1) and q.key = any ($2)`, jobs, keys))
}

// tasksOf reads all tasks of one job.
func (s *Store) tasksOf(ctx context.Context, job weir.ID) ([]taskRow, error) {
	return scanTasks(s.pool.Query(ctx, `select `+taskColumns+` from weir.tasks q`+taskJoins+` where q.job = $1 order by q.position`, job))
}

// outcomes returns how the tasks of a job ended, without their results.
func (s *Store) outcomes(ctx context.Context, job weir.ID) (map[string]taskRow, error) {
	list, err := scanTasks(s.pool.Query(ctx, `select q.id, q.job, q.key, f.outcome::text, null::jsonb, '', f.passes is true, '' from weir.tasks q
		join lateral (select f.outcome, f.passes from weir.finished f where f.task = q.id offset 0) f on true where q.job = $1`, job))
	if err != nil {
		return nil, fmt.Errorf("read job %s: %w", job, err)
	}
	out := make(map[string]taskRow, len(list))
	for _, t := range list {
		out[t.Key] = t
	}
	return out, nil
}

// items reads the items of maps, in order.
func (s *Store) items(ctx context.Context, jobs []weir.ID, keys []string) ([]taskRow, error) {
	return scanTasks(s.pool.Query(ctx, `select `+taskColumns+` from unnest($1::uuid[], $2::text[]) x (job, key) join weir.tasks q on q.job = x.job and starts_with(q.key, x.key || '[')`+taskJoins+`
		order by q.job, q.position`, jobs, keys))
}

// --- the leader's reads

// signs says what work there may be.
type signs struct {
	plan, patience, children, pools, asks, firings bool
	// due is when the next queued job is due, and now the database's time.
	due *time.Time
	now time.Time
}

func (s *Store) signs(ctx context.Context) (x signs, err error) {
	err = s.pool.QueryRow(ctx, `select exists (select from weir.pending p where p.gate = 'plan'), exists (select from weir.patience),
		exists (select from weir.job_live l where l.parent is not null), exists (select from weir.pools p where starts_with(p.name, 'map:')), exists (select from weir.asks a where a.open), exists (select from weir.firings f where f.state = 'pending'),
		(select min(l.due) from weir.job_live l where l.due is not null and l.definition is not null), clock_timestamp()`).Scan(&x.plan, &x.patience, &x.children, &x.pools, &x.asks, &x.firings, &x.due, &x.now)
	return x, err
}

// dueJob is a queued job whose time has come. note says why it is not built.
type dueJob struct {
	job  weir.ID
	note *string
}

func (s *Store) due(ctx context.Context, most int) ([]dueJob, error) {
	rows, err := s.pool.Query(ctx, `select d.job, d.note from weir.workflow_due($1) d`, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d dueJob, err error) {
		err = row.Scan(&d.job, &d.note)
		return d, err
	})
}

// waiting is a task at the gate plan.
type waiting struct {
	task    weir.ID
	key     string
	attempt int
	params  json.RawMessage
	// split is set if the task has its items.
	split bool
	job   jobRow
	// child is the job that the task waited for, and outcome is how that ended.
	child          weir.ID
	outcome, cause string
}

// planning reads the tasks at the gate plan whose job, if they wait for one, has ended.
func (s *Store) planning(ctx context.Context, most int) ([]waiting, error) {
	rows, err := s.pool.Query(ctx, `with p as materialized (
			select p.task, p.attempt, p.job, c.id as child, p.priority, p.order_seq, p.position
			from weir.pending p join weir.job_live l on l.job = p.job and l.definition is not null
				and (l.cancel_at is null or p.rule = 'finally' and l.stop_at is null)
			left join lateral (select k.id from weir.idempotency k where k.job and k.key = 'child:' || p.task || ':' || (p.attempt + 1) offset 0) c on true
			where p.gate = 'plan' and not exists (select from weir.job_live x where x.job = c.id)
			order by p.priority desc, p.order_seq, p.position limit $1
		)
		select `+jobColumns+`, p.task, q.key, p.attempt, q.params, q.awaits is not null, p.child, coalesce(f.outcome::text, ''), coalesce(f.cause, '')
		from p join lateral (select q.key, q.params, q.awaits from weir.tasks q where q.id = p.task offset 0) q on true
		join lateral (select * from weir.jobs j where j.id = p.job offset 0) j on true
		left join lateral (select f.outcome, f.cause from weir.job_finished f where f.job = p.child offset 0) f on true
		order by p.priority desc, p.order_seq, p.position`, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (w waiting, err error) {
		var child *weir.ID
		w.job, err = scanJob(row, &w.task, &w.key, &w.attempt, (*[]byte)(&w.params), &w.split, &child, &w.outcome, &w.cause)
		w.child = orZero(child)
		return w, err
	})
}

// orphans returns live jobs whose task no longer waits for them.
func (s *Store) orphans(ctx context.Context) ([]weir.ID, error) {
	rows, err := s.pool.Query(ctx, `select l.job from weir.job_live l where l.parent is not null and l.cancel_at is null and l.definition is not null
		and exists (select from weir.finished f where f.task = l.parent) limit 100`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[weir.ID])
}

// emptyPools returns the pools of maps that have ended.
func (s *Store) emptyPools(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, `select p.name from weir.pools p where p.name ~ '^map:[0-9a-f]{8}-[0-9a-f-]{27}$'
		and not exists (select from weir.pending x where x.task = substr(p.name, 5)::uuid) and not exists (select from weir.pending x where x.pool = p.name)
		and not exists (select from weir.available x where x.pool = p.name) and not exists (select from weir.running x where x.pool = p.name) limit 100`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// depth returns how many jobs a job is nested in.
func (s *Store) depth(ctx context.Context, job weir.ID) (n int, err error) {
	err = s.pool.QueryRow(ctx, `select count(*) from weir.workflow_ancestors($1)`, job).Scan(&n)
	return n, err
}

// --- the leader's writes

// Each is one statement that returns one row, for the term.
const (
	buildSQL    = `select weir.workflow_build($1)`
	planSQL     = `select weir.workflow_plan($1)`
	patienceSQL = `select weir.workflow_patience()`
	asksSQL     = `select weir.settle_asks()`
	closeSQL    = `select true from weir.close_job($1, $2, $3)`
	noteSQL     = `select count(*) from unnest($1::uuid[], $2::text[]) x (job, note), lateral weir.set_job_note(x.job, x.note)`
	cancelSQL   = `select canceled >= 0 from weir.cancel_job($1, 'workflow', $2)`
	dropPoolSQL = `select true from weir.drop_pool($1, by => 'workflow')`
)

// --- triggers

const (
	triggerColumns    = `g.name, g.kind, g.workflow, coalesce(g.after, ''), coalesce(g.outcome, ''), coalesce(g.condition, ''), g.params, g.paused, g.changed_at, g.last_at, g.last_job, g.secret is not null, case when g.before_until > clock_timestamp() then g.before_until end`
	firingColumns     = `f.trigger, f.key, f.source, f.state, coalesce(weir._sentence(f.reason), ''), coalesce(f.reason ->> 'code', ''), f.reason - 'code', f.job, f.at`
	fireSQL           = `select weir.workflow_fire($1)`
	triggersSQL       = `select ` + triggerColumns + ` from weir.triggers g where g.name > $1 collate "C" and ($3 = '' or $3 in (g.workflow, g.after)) order by g.name limit $2`
	triggerSQL        = `select ` + triggerColumns + ` from weir.triggers g where g.name = $1`
	setTriggerSQL     = `select weir.set_trigger($1, $2, after => nullif($3, ''), outcome => $4, condition => nullif($5, ''), params => $6, paused => $7, by => nullif($8, ''), seen => $9)`
	pauseTriggerSQL   = `select weir.pause_trigger($1, $2, by => nullif($3, ''))`
	dropTriggerSQL    = `select weir.drop_trigger($1, by => nullif($2, ''))`
	firingsSQL        = `select ` + firingColumns + ` from weir.firings f where f.trigger = $1 and ($2 = '' or (f.at, f.key) < (select x.at, x.key from weir.firings x where x.trigger = $1 and x.key = $2)) order by f.at desc, f.key desc limit $3`
	firingsOfSQL      = `select ` + firingColumns + ` from weir.firings f where f.source = $1 order by f.trigger limit 100`
	hookSQL           = `select coalesce(array_remove(array[g.secret, case when g.before_until > clock_timestamp() then g.secret_before end], null), '{}'), clock_timestamp(), g.workflow, coalesce(g.condition, ''), g.params from (select 1) x left join weir.triggers g on g.name = $1 and g.kind = 'webhook'`
	hookSecretSQL     = `select weir.workflow_hook_secret($1, $2, $3, $4, by => nullif($5, ''))`
	deliverSQL        = `select d.state, coalesce(weir._sentence(d.reason), ''), coalesce(d.reason ->> 'code', ''), d.reason - 'code', d.job, d.again from weir.workflow_deliver($1, $2, $3) d`
	unsignedSQL       = `select weir.workflow_unsigned($1, $2)`
	pendingFiringsSQL = `select ` + jobColumns + `, f.key, coalesce(e.outcome::text, ''), coalesce(e.cause, ''), coalesce(w.version, 0), g.name, g.kind, g.workflow, coalesce(g.after, ''), coalesce(g.condition, ''), g.params from weir.firings f join weir.triggers g on g.name = f.trigger join lateral (select * from weir.jobs j where j.id = f.source offset 0) j on true left join lateral (select e.outcome, e.cause from weir.job_finished e where e.job = f.source offset 0) e on true left join weir.workflows w on w.id = j.definition where f.state = 'pending' order by f.at, f.trigger, f.key limit $1`
)

// --- nodes

// machine is a live node or worker for a preview.
type machine struct {
	Node, State string
	Services    []string
	Labels      map[string]string
}

// machines reads the workers that have not stopped, each with its node.
func (s *Store) machines(ctx context.Context) ([]machine, error) {
	rows, err := s.pool.Query(ctx, `select coalesce(n.name, w.name), coalesce(n.state, w.state), w.services, w.labels || coalesce(n.labels, '{}') || case when n.name is null then '{}' else jsonb_build_object('node', n.name) end
		from weir.worker w left join weir.node n on n.name = w.node where w.state = 'live' order by 1 limit 1000`)
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m machine, err error) {
		err = row.Scan(&m.Node, &m.State, &m.Services, &m.Labels)
		return m, err
	})
}

// absent returns which pools, secrets, workflows (name or name@version) and users do not
// exist, each as a kind and a name. named has the names of each kind.
func (s *Store) absent(ctx context.Context, named map[string][]string) (map[[2]string]bool, error) {
	rows, err := s.pool.Query(ctx, `select 'pool', n from unnest($1::text[]) n where not exists (select from weir.pools p where p.name = n)
		union all select 'secret', n from unnest($2::text[]) n where not exists (select from weir.secrets x where x.name = n)
		union all select 'workflow', n from unnest($3::text[]) n where not exists (select from weir.workflows w where w.name = split_part(n, '@', 1) and w.active
			and split_part(n, '@', 2) in ('', w.version::text))
		union all select 'user', n from unnest(weir._unknown_users($4)) n`, named["pool"], named["secret"], named["workflow"], named["user"])
	if err != nil {
		return nil, fmt.Errorf("look for what the steps name: %w", err)
	}
	out := map[[2]string]bool{}
	var what, name string
	_, err = pgx.ForEachRow(rows, []any{&what, &name}, func() error { out[[2]string{what, name}] = true; return nil })
	return out, err
}

func orZero(id *weir.ID) weir.ID {
	if id == nil {
		return weir.ID{}
	}
	return *id
}
