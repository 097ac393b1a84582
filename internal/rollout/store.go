package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/refusal"
	"github.com/weirhq/weir/internal/rollout/target"
)

// Secrets keeps the addresses of databases. *vault.Vault is one.
type Secrets interface {
	PutWithin(ctx context.Context, tx pgx.Tx, by, name, value, note string) error
	Open(ctx context.Context, names []string) (map[string]string, error)
}

// Options of a store. Without a vault it reads and commands, and says what is
// missing when a database has to be reached.
type Options struct {
	Vault Secrets
	Log   *slog.Logger
}

// Store keeps databases and rollouts. It is safe for concurrent use. All SQL of the
// package is in this file.
type Store struct {
	pool  *pgxpool.Pool
	vault Secrets
	log   *slog.Logger
}

// New makes a store on a pool that the caller keeps. Its user must own the schema:
// commands carry the name of whoever gave them, and nobody else may say that.
func New(pool *pgxpool.Pool, o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{pool: pool, vault: o.Vault, log: o.Log}
}

// --- commands

// A command answers with whether it changed something, and what it says.
const (
	startSQL   = `select changed, answer from weir.rollout_start($1, nullif($2, ''))`
	pauseSQL   = `select changed, answer from weir.rollout_pause($1, nullif($2, ''), nullif($3, ''))`
	resumeSQL  = `select changed, answer from weir.rollout_resume($1, nullif($2, ''))`
	abortSQL   = `select changed, answer from weir.rollout_abort($1, nullif($2, ''), nullif($3, ''))`
	promoteSQL = `select changed, answer from weir.rollout_promote($1, $3, nullif($2, ''))`
	approveSQL = `select changed, answer from weir.rollout_approve($1, $3, $2, nullif($4, ''))`
	revokeSQL  = `select changed, answer from weir.rollout_revoke($1, $3, $2)`
	retrySQL   = `select changed, answer from weir.rollout_retry($1, nullif($2, ''))`
	skipSQL    = `select changed, answer from weir.rollout_skip($1, $3, nullif($2, ''))`
	cancelSQL  = `select changed, answer from weir.rollout_cancel($1, nullif($2, ''), nullif($3, ''))`
	resolveSQL = `select changed, answer from weir.rollout_resolve($1, $3, $4, nullif($2, ''))`
)

func command(ctx context.Context, db pg.Querier, op, sql string, id weir.ID, by string, args ...any) (a Answer, err error) {
	err = db.QueryRow(ctx, sql, append([]any{id, by}, args...)...).Scan(&a.Changed, &a.Text)
	if err != nil {
		return a, fmt.Errorf("%s: %w", op, err)
	}
	return a, nil
}

// --- databases

const databaseColumns = `d.name, d.engine, d.environment, d.labels, d.secret, coalesce(d.note, ''), coalesce(d.identity, ''), coalesce(d.server, ''), coalesce(d.version, ''), d.checked_at,
	coalesce(d.fault, ''), d.live, coalesce(d.by, ''), d.created_at, d.changed_at, d.drifted`

func (s *Store) databases(ctx context.Context, rest string, args ...any) ([]Database, error) {
	rows, err := s.pool.Query(ctx, `select `+databaseColumns+` from weir.rollout_database d `+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Database, err error) {
		err = row.Scan(&d.Name, &d.Engine, &d.Environment, &d.Labels, &d.Secret, &d.Note, &d.Identity, &d.Server, &d.Version, &d.CheckedAt, &d.Fault, &d.Live, &d.By, &d.CreatedAt, &d.ChangedAt, &d.Drifted)
		return d, err
	})
}

const databaseFilter = `where d.name > $1 collate "C" and ($2 = '' or d.environment = $2) and ($3 = '' or d.engine = $3) and d.labels @> $4 and ($5 = '' or strpos(lower(d.name), lower($5)) > 0)
	order by d.name limit $6`

const databaseNamed = `where d.name = $1`

// environments counts the databases of each environment.
func (s *Store) environments(ctx context.Context, most int) ([]Environment, error) {
	rows, err := s.pool.Query(ctx, `select d.environment, count(*)::int from weir.databases d group by 1 order by 1 limit $1`, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Environment])
}

// putDatabase writes a database and its address together, or neither. Without a secret
// it keeps the one it has, or takes usual.
func (s *Store) putDatabase(ctx context.Context, by string, d Database, usual, dsn string) error {
	labels := d.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select weir._rollout_database_lock($1)`, d.Name); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `select coalesce(nullif($2, ''), (select d.secret from weir.databases d where d.name = $1), $3)`, d.Name, d.Secret, usual).Scan(&d.Secret)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `select weir.rollout_put_database($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), $8)`, d.Name, d.Engine, d.Environment, d.Secret, labels, d.Note, by, dsn != "")
		if err != nil || dsn == "" {
			return err
		}
		return s.vault.PutWithin(ctx, tx, by, d.Secret, dsn, "address of database "+d.Name)
	})
}

func (s *Store) dropDatabase(ctx context.Context, by, name string) error {
	_, err := s.pool.Exec(ctx, `select weir.rollout_drop_database($1, nullif($2, ''))`, name, by)
	return err
}

// found is what a look at a database found.
type found struct {
	identity, server, version string
	rank                      *int64
	fault                     string
}

// checked writes it down, unless the database was changed since it was seen; nil: no
// matter when. With accept another database than before is taken for the right one.
func (s *Store) checked(ctx context.Context, name string, f found, seen *time.Time, accept bool, by string) error {
	_, err := s.pool.Exec(ctx, `select weir.rollout_checked($1, nullif($2, ''), nullif($3, ''), nullif($4, ''), $5, nullif($6, ''), $7, $8, nullif($9, ''))`, name, f.identity, f.server, f.version, f.rank, f.fault, seen, accept, by)
	return err
}

// base is the schema that a database is compared with. A zero hash: there is none.
type base struct {
	at         time.Time
	hash, text string
	by         string
	drifted    bool
	// mixed says why the difference may show changes of rollouts, too.
	mixed string
	// busy: a run goes on there, or nobody knows how one ended.
	busy bool
}

func (s *Store) base(ctx context.Context, database string) (b base, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce(s.at, 'epoch'), coalesce(s.hash, ''), coalesce(s.text, ''), coalesce(s.by, ''), coalesce(s.drifted, false), coalesce(s.mixed, ''),
			exists (select from weir.running r where r.lane = 'database/' || $1) or exists (select from weir.rollout_runs g join weir.rollout_tasks x on x.task = g.task where g.unknown and x.database = $1)
		from (values (1)) one left join weir.snapshots s on s.database = $1`, database).Scan(&b.at, &b.hash, &b.text, &b.by, &b.drifted, &b.mixed, &b.busy)
	return b, err
}

// keeping is what is to become of the schema that is kept: see weir.rollout_snapshot.
type keeping struct {
	hash, text, by  string
	drifted, accept bool
	follows, mixed  string
}

func (s *Store) putBase(ctx context.Context, database string, k keeping) (changed bool, err error) {
	err = s.pool.QueryRow(ctx, `select weir.rollout_snapshot($1, $2, $3, nullif($4, ''), $5, $6, nullif($7, ''), nullif($8, ''))`, database, k.hash, k.text, k.by, k.drifted, k.accept, k.follows, k.mixed).Scan(&changed)
	return changed, err
}

// --- plans

// freeze writes out the databases of a plan and hashes it.
func (s *Store) freeze(ctx context.Context, plan json.RawMessage) (frozen json.RawMessage, hash string, err error) {
	err = s.pool.QueryRow(ctx, `select x, weir._rollout_hash(x) from weir.rollout_freeze($1) x`, plan).Scan((*[]byte)(&frozen), &hash)
	return frozen, hash, err
}

func (s *Store) create(ctx context.Context, by string, plan json.RawMessage, texts map[string]string, warnings []PlanWarning, note, key string, replaces weir.ID) (id weir.ID, err error) {
	if warnings == nil {
		warnings = []PlanWarning{}
	}
	var old *weir.ID
	if !replaces.IsZero() {
		old = &replaces
	}
	err = s.pool.QueryRow(ctx, `select weir.rollout_create($1, $2, $3, nullif($4, ''), nullif($5, ''), $6, nullif($7, ''))`, plan, texts, warnings, note, key, old, by).Scan(&id)
	return id, err
}

// --- rollouts

const rolloutColumns = `r.id, r.name, r.state, coalesce(r.waits, ''), r.hash, r.revision, r.replaces, r.replaced_by, r.parallel, r.out_of_order, r.run_at, coalesce(r.note, ''), coalesce(r.by, ''), r.created_at,
	r.started_at, coalesce(r.started_by, ''), r.paused_at, coalesce(r.paused_by, ''), coalesce(r.pause_note, ''), r.aborted_at, coalesce(r.aborted_by, ''), coalesce(r.abort_note, ''), r.finished_at, r.reason ->> 'code', r.reason - 'code', `

// countColumns are the columns of Counts, from tasks t that have a status.
const countColumns = `count(*)::int, count(*) filter (where t.status = 'NOT_STARTED')::int, count(*) filter (where t.status = 'PENDING')::int, count(*) filter (where t.status = 'AVAILABLE')::int,
	count(*) filter (where t.status = 'RUNNING')::int, count(*) filter (where t.status = 'DONE')::int, count(*) filter (where t.status = 'FAILED')::int, count(*) filter (where t.status = 'CANCELED')::int,
	count(*) filter (where t.status = 'UNKNOWN')::int, count(*) filter (where t.status = 'SKIPPED')::int`

func (c *Counts) into() []any {
	return []any{&c.Total, &c.NotStarted, &c.Pending, &c.Available, &c.Running, &c.Done, &c.Failed, &c.Canceled, &c.Unknown, &c.Skipped}
}

func (s *Store) rollouts(ctx context.Context, rest string, args ...any) ([]Rollout, error) {
	// The page first: only what is on it is counted.
	rows, err := s.pool.Query(ctx, `select `+rolloutColumns+` n.* from (select r.* from weir.rollout r `+rest+`) r, lateral (select `+countColumns+` from weir._rollout_status t where t.rollout = r.id) n order by r.id desc`, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Rollout, err error) {
		var replaces, replacedBy *weir.ID
		var code *string
		var args map[string]any
		err = row.Scan(append([]any{
			&r.ID, &r.Name, &r.State, &r.Waits, &r.Hash, &r.Revision, &replaces, &replacedBy, &r.Parallel, &r.OutOfOrder, &r.RunAt, &r.Note, &r.By, &r.CreatedAt,
			&r.StartedAt, &r.StartedBy, &r.PausedAt, &r.PausedBy, &r.PauseNote, &r.AbortedAt, &r.AbortedBy, &r.AbortNote, &r.FinishedAt, &code, &args,
		}, r.Counts.into()...)...)
		r.Replaces, r.ReplacedBy, r.Reason = orZero(replaces), orZero(replacedBy), reason.Of(code, args)
		return r, err
	})
}

const rolloutFilter = `where ($1::uuid is null or r.id < $1) and ($2 = '' or r.state = $2) and ($3 = '' or strpos(lower(r.name), lower($3)) > 0)
	and ($4 = '' or exists (select from weir.rollout_tasks x where x.rollout = r.id and x.database = $4)) order by r.id desc limit $5`

const rolloutOf = `where r.id = $1`

func (s *Store) stages(ctx context.Context, id weir.ID) ([]StageState, error) {
	rows, err := s.pool.Query(ctx, `select s.name, coalesce(s.environment, ''), s.databases, s.state, coalesce(s.waits, ''), s.reason ->> 'code', s.reason - 'code', s.approvals, case when s.manual then 'manual' else 'auto' end, s.promoted_at, coalesce(s.promoted_by, ''),
			s.on_failure, s.max_failures, s.canary, coalesce((select jsonb_agg(jsonb_build_object('by', a.by, 'note', a.note, 'at', a.at, 'hash', a.hash) order by a.at)
				from weir.rollout_approvals a join weir.rollouts r on r.job = a.rollout where a.rollout = s.rollout and a.stage = s.n and a.hash = r.hash), '[]'), n.*
		from weir.rollout_stages s, lateral (select `+countColumns+` from weir._rollout_status t where t.rollout = s.rollout and t.stage = s.n) n where s.rollout = $1 order by s.n`, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (x StageState, err error) {
		var code *string
		var args map[string]any
		err = row.Scan(append([]any{
			&x.Name, &x.Environment, &x.Databases, &x.State, &x.Waits, &code, &args, &x.Approvals, &x.Promote, &x.PromotedAt, &x.PromotedBy, &x.OnFailure, &x.MaxFailures, &x.Canary, &x.Approved,
		}, x.Counts.into()...)...)
		x.Reason = reason.Of(code, args)
		return x, err
	})
}

// frozen reads the changes of a plan and what was found about them. With only, the
// text of that change is read too.
func (s *Store) frozen(ctx context.Context, id weir.ID, only string) (changes []ChangeState, warnings []PlanWarning, err error) {
	rows, err := s.pool.Query(ctx, `select coalesce(c.value ->> 'version', ''), c.value ->> 'name', c.value ->> 'kind', coalesce(c.value ->> 'file', ''), c.value ->> 'checksum',
			coalesce(case when $2 <> '' then x.sql end, ''), r.warnings
		from weir.rollouts r, jsonb_array_elements(r.plan -> 'changes') with ordinality c left join weir.changes x on x.checksum = c.value ->> 'checksum'
		where r.job = $1 and ($2 = '' or $2 in (c.value ->> 'version', c.value ->> 'name')) order by c.ordinality`, id, only)
	if err != nil {
		return nil, nil, err
	}
	changes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c ChangeState, err error) {
		err = row.Scan(&c.Version, &c.Name, &c.Kind, &c.File, &c.Checksum, &c.SQL, &warnings)
		return c, err
	})
	return changes, warnings, err
}

// frozenStage is a stage as it was asked for, with the databases it took.
type frozenStage struct {
	stage Stage
	names []string
	// whole: they are all that its environment has today.
	whole bool
}

// planned reads a frozen plan back: all but its stages and texts.
func (s *Store) planned(ctx context.Context, id weir.ID) (plan json.RawMessage, note string, err error) {
	err = s.pool.QueryRow(ctx, `select r.plan, coalesce(r.note, '') from weir.rollouts r where r.job = $1`, id).Scan((*[]byte)(&plan), &note)
	if errors.Is(err, pgx.ErrNoRows) {
		err = notFound("rollout", id.String(), "see what there is", "weir rollout list")
	}
	return plan, note, err
}

func (s *Store) plannedStages(ctx context.Context, id weir.ID) ([]frozenStage, error) {
	rows, err := s.pool.Query(ctx, `select s.value - 'databases', x.names,
			not exists (select d.name from weir.databases d where d.environment = x.environment except select unnest(x.names))
			and not exists (select unnest(x.names) except select d.name from weir.databases d where d.environment = x.environment)
		from weir.rollouts r, jsonb_array_elements(r.plan -> 'stages') with ordinality s,
			lateral (select coalesce(nullif(s.value ->> 'environment', ''), s.value ->> 'name') as environment, array(select d.value ->> 'name' from jsonb_array_elements(s.value -> 'databases') d) as names) x
		where r.job = $1 order by s.ordinality`, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (f frozenStage, err error) {
		err = row.Scan(&f.stage, &f.names, &f.whole)
		return f, err
	})
}

// texts are those of the changes of a plan, by checksum.
func (s *Store) texts(ctx context.Context, id weir.ID) (map[string]string, error) {
	rows, err := s.pool.Query(ctx, `select x.checksum, x.sql from weir.rollouts r, jsonb_array_elements(r.plan -> 'changes') c join weir.changes x on x.checksum = c.value ->> 'checksum' where r.job = $1`, id)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	var sum, sql string
	_, err = pgx.ForEachRow(rows, []any{&sum, &sql}, func() error {
		out[sum] = sql
		return nil
	})
	return out, err
}

// --- tasks and runs

const rolloutTaskColumns = `t.id, t.rollout, t.key, t.stage, t.database, t.change, coalesce(t.version, ''), t.kind, t.canary, t.status, coalesce(t.cause, ''), t.blocker, t.since, t.attempt, coalesce(t.phase, ''), coalesce(t.code, ''),
	coalesce(t.error, ''), coalesce(t.worker, ''), t.started_at, t.finished_at, coalesce(t.stopping, false), t.reason ->> 'code', t.reason - 'code'`

func (s *Store) tasks(ctx context.Context, from string, args ...any) ([]Task, error) {
	rows, err := s.pool.Query(ctx, `select `+rolloutTaskColumns+` `+from, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Task, err error) {
		var blocker *weir.ID
		var since *time.Time
		var code *string
		var args map[string]any
		err = row.Scan(&t.ID, &t.Rollout, &t.Key, &t.Stage, &t.Database, &t.Change, &t.Version, &t.Kind, &t.Canary, &t.Status, &t.Cause, &blocker, &since, &t.Attempt, &t.Phase, &t.Code,
			&t.Error, &t.Worker, &t.StartedAt, &t.FinishedAt, &t.Stopping, &code, &args)
		t.Blocker, t.Reason = orZero(blocker), reason.Of(code, args)
		if since != nil {
			t.Since = *since
		}
		return t, err
	})
}

// taskOf is one by itself.
const taskOf = `from weir.rollout_task t where t.id = $1`

// taskPage is a part of the tasks of a rollout, in the order of the plan. The index of
// a job's tasks gives the page, and only what is on it is looked at closely: as a plain
// join it may be planned as a look at all of them.
const taskPage = `from (select q.id, q.position from weir.tasks q, lateral (select x.stage, x.database from weir.rollout_tasks x where x.task = q.id offset 0) x
		where q.job = $1 and q.position > case when $2::uuid is null then 0 else (select a.position from weir.tasks a where a.id = $2 and a.job = $1) end and ($3 = '' or q.key = $3) and ($4 = '' or x.database = $4)
			and ($5 = '' or x.stage = (select s.n from weir.rollout_stages s where s.rollout = $1 and s.name = $5)) and ($6 = '' or (select s.status from weir._rollout_status s where s.task = q.id) = $6)
		order by q.position limit $7) page, lateral (select * from weir.rollout_task t where t.id = page.id offset 0) t order by page.position`

// tasksNamed are some by their ids, of any rollout.
const tasksNamed = `from unnest($1::uuid[]) u (id), lateral (select * from weir.rollout_task t where t.id = u.id offset 0) t`

// boardOf is some tasks of each stage, by how much they matter. Only those are looked
// at closely: why a task waits is the dear part.
const boardOf = `from (select k.task, k.stage, array_position($2::text[], k.status) as place,
			row_number() over (partition by k.stage order by array_position($2::text[], k.status), x.database, x.change) as nth
		from weir._rollout_status k join weir.rollout_tasks x on x.task = k.task where k.rollout = $1) k,
	lateral (select * from weir.rollout_task t where t.id = k.task offset 0) t where k.nth <= $3 order by k.stage, k.place, t.n`

// hasTask says whether a rollout is there, and has this task.
func (s *Store) hasTask(ctx context.Context, id weir.ID, task *weir.ID) (there, has bool, err error) {
	err = s.pool.QueryRow(ctx, `select exists (select from weir.rollouts r where r.job = $1), exists (select from weir.rollout_tasks x where x.task = $2 and x.rollout = $1)`, id, task).Scan(&there, &has)
	return there, has, err
}

// attempts reads the runs of a task. How one of them ended, if it is not the newest,
// its successor tells: it was not done.
func (s *Store) attempts(ctx context.Context, task weir.ID) ([]Attempt, error) {
	rows, err := s.pool.Query(ctx, `select g.attempt, case when g.attempt = t.attempt and t.status in ('RUNNING', 'DONE', 'FAILED', 'CANCELED', 'UNKNOWN') then t.status
			when g.unknown then 'UNKNOWN' when g.code = 'canceled' then 'CANCELED' else 'FAILED' end, g.phase, coalesce(g.code, ''), coalesce(g.note, ''), coalesce(g.worker, ''), g.claimed_at,
			case when g.attempt = t.attempt then coalesce(g.ended_at, t.finished_at) else g.ended_at end, coalesce(g.resolved_by, '')
		from weir.rollout_runs g join weir.rollout_task t on t.id = g.task where g.task = $1 order by g.attempt`, task)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Attempt, err error) {
		err = row.Scan(&a.Attempt, &a.Status, &a.Phase, &a.Code, &a.Note, &a.Worker, &a.StartedAt, &a.EndedAt, &a.ResolvedBy)
		return a, err
	})
}

// logMost bounds what is read of one run.
const logMost = 5000

// lines reads what an attempt said.
func (s *Store) lines(ctx context.Context, task weir.ID, attempt int) ([]LogLine, error) {
	rows, err := s.pool.Query(ctx, `select e.at, e.type, coalesce(e.level, ''), coalesce(e.message, ''), e.data from weir.events e where e.task = $1 and e.attempt = $2 order by e.seq limit $3`, task, attempt, logMost)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l LogLine, err error) {
		err = row.Scan(&l.At, &l.Type, &l.Level, &l.Message, (*[]byte)(&l.Data))
		if err == nil && l.Type == eventStatement {
			err = json.Unmarshal(l.Data, &l.Statement)
			l.Data = nil
		}
		return l, err
	})
}

// --- the executor

// order is what an executor is to do. A code says why it must not.
type order struct {
	code, problem            string
	rollout                  weir.ID
	key, by                  string
	outOfOrder, first        bool
	database                 string
	engine, secret, identity string
	change                   frozenChange
	sql                      string
	// base is the hash of the schema that is kept, empty: none is. drifted: the
	// database has another one.
	base    string
	drifted bool
	// before is the schema just before the run, if somebody looked.
	before *target.Snapshot
	// alone: a step of the change runs in no transaction, so that a run that fails may
	// leave something. patient: one waits for locks as long as it takes.
	alone, patient bool
}

func (s *Store) brief(ctx context.Context, l lease, worker string) (o order, err error) {
	var rollout *weir.ID
	err = s.pool.QueryRow(ctx, `select coalesce(b.code, ''), coalesce(b.problem, ''), b.rollout, coalesce(b.key, ''), coalesce(b.run_by, ''), coalesce(b.out_of_order, false), coalesce(b.first, false), coalesce(b.database, ''),
			coalesce(b.engine, ''), coalesce(b.secret, ''), coalesce(b.identity, ''), coalesce(b.change, '{}'), coalesce(b.sql, ''), coalesce(b.base, ''), coalesce(b.drifted, false)
		from weir.rollout_brief($1, $2, $3, $4) b`, l.task, l.attempt, l.token, worker).Scan(
		&o.code, &o.problem, &rollout, &o.key, &o.by, &o.outOfOrder, &o.first, &o.database, &o.engine, &o.secret, &o.identity, &o.change, &o.sql, &o.base, &o.drifted)
	o.rollout = orZero(rollout)
	return o, err
}

// lease names the attempt that an executor has.
type lease struct {
	task    weir.ID
	attempt int
	token   weir.ID
}

func (s *Store) phase(ctx context.Context, l lease, phase string) (ours bool, err error) {
	err = s.pool.QueryRow(ctx, `select weir.rollout_phase($1, $2, $3, $4)`, l.task, l.attempt, l.token, phase).Scan(&ours)
	return ours, err
}

// ended writes down how a run ended. It returns ok, last or lost.
func (s *Store) ended(ctx context.Context, l lease, code string, unknown bool, note, version string, rank *int64) (answer string, err error) {
	err = s.pool.QueryRow(ctx, `select weir.rollout_ended($1, $2, $3, nullif($4, ''), $5, nullif($6, ''), nullif($7, ''), $8)`, l.task, l.attempt, l.token, code, unknown, note, version, rank).Scan(&answer)
	return answer, err
}

// says adds to the log of the attempt: see weir.rollout_says.
func (s *Store) says(ctx context.Context, l lease, kind, message string, data any, quiet bool) (answer string, err error) {
	err = s.pool.QueryRow(ctx, `select weir.rollout_says($1, $2, $3, $4, $5, $6, $7)`, l.task, l.attempt, l.token, kind, message, data, quiet).Scan(&answer)
	return answer, err
}

// --- the leader

// signs says what there may be to do.
type signs struct {
	unknown, live, any bool
}

func (s *Store) signs(ctx context.Context) (x signs, err error) {
	err = s.pool.QueryRow(ctx, `select exists (select from weir.rollout_runs g where g.unknown and g.look_at <= clock_timestamp()), exists (select from weir.job_live l where l.watched),
		exists (select from weir.rollouts)`).Scan(&x.unknown, &x.live, &x.any)
	return x, err
}

// mystery is a run of which nobody knows whether it was applied.
type mystery struct {
	task, rollout  weir.ID
	attempt        int
	token          weir.ID
	key, by        string
	database       string
	engine, secret string
	// identity is that of the database the run was for; empty: nobody knew it.
	identity string
	change   frozenChange
	sql      string
}

const mysteryColumns = `g.task, x.rollout, g.attempt, g.token, coalesce(k.key, ''), coalesce(r.started_by, r.by, ''), x.database, coalesce(d.engine, ''), coalesce(d.secret, ''),
	coalesce((select f.value ->> 'identity' from jsonb_array_elements(r.plan -> 'stages' -> (x.stage - 1) -> 'databases') f where f.value ->> 'name' = x.database), d.identity, ''), r.plan -> 'changes' -> x.change::int, coalesce(c.sql, '')`

const mysteryTables = ` from weir.rollout_runs g join weir.rollout_tasks x on x.task = g.task join weir.rollouts r on r.job = x.rollout left join weir.databases d on d.name = x.database
	left join lateral (select q.key from weir.tasks q where q.id = g.task offset 0) k on true left join weir.changes c on c.checksum = r.plan -> 'changes' -> x.change::int ->> 'checksum' `

func (s *Store) mysteries(ctx context.Context, rest string, args ...any) ([]mystery, error) {
	rows, err := s.pool.Query(ctx, `select `+mysteryColumns+mysteryTables+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m mystery, err error) {
		err = row.Scan(&m.task, &m.rollout, &m.attempt, &m.token, &m.key, &m.by, &m.database, &m.engine, &m.secret, &m.identity, &m.change, &m.sql)
		return m, err
	})
}

// due are unknown runs that the resolver should look at.
const due = `where g.unknown and g.look_at <= clock_timestamp() order by g.look_at limit $1`

// ofTask is the unknown run of a task.
const ofTask = `where g.unknown and g.task = $1`

// emptyPools are limits of rollouts that have ended.
func (s *Store) emptyPools(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, `select p.name from weir.pools p where p.name ~ '^rollout/[0-9a-f]{8}-[0-9a-f-]{27}$' and not exists (select from weir.job_live l where l.job = substr(p.name, 9)::uuid) limit 100`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Each is one statement that returns one row, for the term.
const (
	sweepSQL    = `select weir.rollout_sweep()`
	tidySQL     = `select weir.rollout_tidy()`
	verdictSQL  = `select weir.rollout_verdict($1, $2, $3, $4)`
	dropPoolSQL = `select true from weir.drop_pool($1, by => 'rollout')`
)

func orZero(id *weir.ID) weir.ID {
	if id == nil {
		return weir.ID{}
	}
	return *id
}

func notFound(noun, name, next, command string) error {
	return problem.New(problem.NotFound, next, refusal.NoSuch, noun, name).Run(command)
}
