package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Store keeps workspaces. It is safe for concurrent use. All SQL of the package is in
// this file.
type Store struct {
	pool *pgxpool.Pool
}

// New makes a store on a pool that the caller keeps. Its user must own the schema.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Term is the leader's. A statement changes nothing once the term is over.
type Term interface {
	pg.Term
	// Go runs f beside the loops. Its context ends with the term, and no other term is
	// handed over to before f has returned.
	Go(f func(ctx context.Context))
}

const columns = `w.id, w.owner, u.name, w.name, coalesce(w.description, ''), coalesce(w.image, ''), w.provider, w.created_at, w.desired, coalesce(w.desired_by, ''), w.desired_at, w.phase, w.phase_changed_at,
	w.last_access_at, coalesce(w.last_activity, ''), w.busy_until, coalesce(w.standby_ttl, p.standby_ttl), coalesce(w.archive_ttl, p.archive_ttl), coalesce(p.max_life, '0 s'), w.conditions, w.observed_at,
	w.operation, w.op_id, w.op_started_at, w.op_progress_at, coalesce(w.op_progress, ''), w.op_retry_at, w.archive_op_id, coalesce(w.archive_key, ''), w.archive_meta, coalesce(w.error_reason, ''),
	coalesce(w.error_message, ''), w.error_count, w.generation, w.observed_generation, w.volume_generation, w.mounted, w.archive_generation, coalesce(w.archive_of, -1), w.had_home, w.deleted_at`

const (
	tables = ` from weir.workspaces w join weir.users u on u.id = w.owner cross join weir.workspace_policy p `
	byID   = `where w.id = $1`
	byName = `where w.name = $1 and w.deleted_at is null and ($2 = '' or u.name = $2) limit 2`
	// A DELETED workspace is the last sight of it, unless something of it is seen again.
	isLive = `where w.id in (select x.id from weir.workspaces x where x.phase <> 'DELETED' or x.operation <> 'NONE' union select unnest($1::uuid[])) order by w.id`
)

func scan(row pgx.CollectableRow) (w Workspace, err error) {
	var meta []byte
	var standby, archive, life time.Duration
	err = row.Scan(&w.ID, &w.OwnerID, &w.Owner, &w.Name, &w.Description, &w.Image, &w.Provider, &w.CreatedAt, &w.Desired, &w.DesiredBy, &w.DesiredAt, &w.Phase, &w.PhaseAt,
		&w.LastAccess, &w.LastUse, &w.BusyUntil, &standby, &archive, &life, &w.Conditions, &w.ObservedAt,
		&w.Operation, &w.Op, &w.OpStarted, &w.OpProgress, &w.OpSays, &w.OpRetry, &w.ArchiveOp, &w.ArchiveKey, &meta, &w.Error,
		&w.ErrorSays, &w.Errors, &w.Generation, &w.Observed, &w.Mounts, &w.Mounted, &w.ArchiveMounts, &w.ArchiveOf, &w.HadHome, &w.DeletedAt)
	w.StandbyTTL, w.ArchiveTTL, w.MaxLife = node.Span(standby), node.Span(archive), node.Span(life)
	if err == nil && meta != nil {
		err = json.Unmarshal(meta, &w.Archive)
	}
	return w, err
}

func (s *Store) workspaces(ctx context.Context, rest string, args ...any) ([]Workspace, error) {
	rows, err := s.pool.Query(ctx, `select `+columns+tables+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read workspaces: %w", err)
	}
	all, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read workspaces: %w", err)
	}
	return all, nil
}

// live reads all that are not gone, those of whom something was seen, and what the clock
// says.
func (s *Store) live(ctx context.Context, seen []weir.ID) (all []Workspace, now time.Time, err error) {
	if all, err = s.workspaces(ctx, isLive, seen); err != nil {
		return nil, now, err
	}
	if err = s.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now); err != nil {
		return nil, now, fmt.Errorf("read workspaces: %w", err)
	}
	return all, now, nil
}

// stock reads whether any that is not gone has an archive, and what runs those that are
// not gone.
func (s *Store) stock(ctx context.Context) (archived bool, providers []string, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce(bool_or(w.archive_key is not null and w.deleted_at is null), false), coalesce(array_agg(distinct w.provider), '{}')
		from weir.workspaces w where w.phase <> 'DELETED' or w.operation <> 'NONE'`).Scan(&archived, &providers)
	if err != nil {
		return false, nil, fmt.Errorf("read workspaces: %w", err)
	}
	return archived, providers, nil
}

// where says it as the database does. What is not asked for is not in it, so that there is
// an index for what is.
func (f Filter) where() (sql string, args []any) {
	sql = `where true`
	and := func(condition string, value any) {
		args = append(args, value)
		sql += fmt.Sprintf(" and "+condition, len(args))
	}
	if !f.Owner.IsZero() {
		and(`w.owner = $%d`, f.Owner)
	}
	if f.Phase != "" {
		and(`w.phase = $%d`, f.Phase)
	}
	if f.Provider != "" {
		and(`w.provider = $%d`, f.Provider)
	}
	if f.Search != "" {
		and(`strpos(lower(concat_ws(' ', w.name, w.description, u.name)), lower($%d)) > 0`, f.Search)
	}
	if f.Failed {
		sql += ` and w.phase = 'ERROR'`
	}
	if !f.Deleted && f.Phase != ladder.Deleted && f.Phase != ladder.Deleting {
		sql += ` and w.deleted_at is null`
	}
	return sql, args
}

// list reads a page, newest first.
func (s *Store) list(ctx context.Context, f Filter, after weir.ID, most int) ([]Workspace, error) {
	where, args := f.where()
	if !after.IsZero() {
		args = append(args, after)
		where += fmt.Sprintf(` and w.id < $%d`, len(args))
	}
	args = append(args, most)
	return s.workspaces(ctx, where+fmt.Sprintf(` order by w.id desc limit $%d`, len(args)), args...)
}

func (s *Store) count(ctx context.Context, column string, f Filter) (map[string]int, error) {
	where, args := f.where()
	rows, err := s.pool.Query(ctx, `select `+column+`, count(*)::int`+tables+where+` group by 1`, args...)
	if err != nil {
		return nil, fmt.Errorf("count workspaces: %w", err)
	}
	counts := map[string]int{}
	var word string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&word, &n}, func() error { counts[word] = n; return nil }); err != nil {
		return nil, fmt.Errorf("count workspaces: %w", err)
	}
	return counts, nil
}

// --- what people do

func (s *Store) create(ctx context.Context, by string, d Draft) (id weir.ID, existed bool, err error) {
	err = s.pool.QueryRow(ctx, `with was as materialized (select k.id from weir.idempotency k where k.key = format('workspace/%s/%s', $1::uuid, $9::text) and k.job),
		now as materialized (select weir.workspace_create($1, $2, $3, nullif($4, ''), nullif($5, ''), $6, nullif($7, interval '0 s'), nullif($8, interval '0 s'), nullif($10, ''), nullif($9, '')) as id)
		select n.id, exists (select from was w where w.id = n.id) from now n`,
		d.Owner, d.Name, d.Provider, d.Image, d.Description, d.Desired, time.Duration(d.StandbyTTL), time.Duration(d.ArchiveTTL), d.Key, by).Scan(&id, &existed)
	return id, existed, err
}

func (s *Store) patch(ctx context.Context, id weir.ID, change json.RawMessage, by string) (changed bool, err error) {
	err = s.pool.QueryRow(ctx, `select weir.workspace_patch($1, $2, nullif($3, ''))`, id, change, by).Scan(&changed)
	return changed, err
}

func (s *Store) want(ctx context.Context, id weir.ID, expected, want ladder.Phase, by, reason string) (changed bool, err error) {
	err = s.pool.QueryRow(ctx, `select weir.workspace_want($1, $2, nullif($3, ''), nullif($4, ''), nullif($5, ''))`, id, want, by, expected, reason).Scan(&changed)
	return changed, err
}

func (s *Store) recover(ctx context.Context, id weir.ID, by, reason string, fresh bool, archive string) (changed bool, err error) {
	err = s.pool.QueryRow(ctx, `select weir.workspace_recover($1, nullif($2, ''), $3, nullif($4, ''), nullif($5, ''))`, id, by, fresh, archive, reason).Scan(&changed)
	return changed, err
}

func (s *Store) busy(ctx context.Context, id weir.ID, by string, lasts time.Duration, reason string) (until time.Time, err error) {
	err = s.pool.QueryRow(ctx, `select weir.workspace_busy($1, $2, nullif($3, ''), nullif($4, ''))`, id, lasts, by, reason).Scan(&until)
	return until, err
}

// Touch notes when workspaces were last used. A time never goes back.
func (s *Store) Touch(ctx context.Context, ids []weir.ID, at []time.Time, sources []string) error {
	if _, err := s.pool.Exec(ctx, `select weir.workspace_touch($1, $2, $3)`, ids, at, sources); err != nil {
		return fmt.Errorf("note activity: %w", err)
	}
	return nil
}

func (s *Store) takeOver(ctx context.Context, row json.RawMessage, key string, meta json.RawMessage, owner weir.ID, provider, by string) (outcome, says string, err error) {
	err = s.pool.QueryRow(ctx, `select outcome, says from weir.workspace_import($1, nullif($2, ''), $3, $4, nullif($5, ''), nullif($6, ''))`, row, key, meta, orNull(owner), provider, by).Scan(&outcome, &says)
	return outcome, says, err
}

func (s *Store) exists(ctx context.Context, id weir.ID) (there bool, err error) {
	err = s.pool.QueryRow(ctx, `select exists (select from weir.workspaces w where w.id = $1)`, id).Scan(&there)
	return there, err
}

// --- what they see

func (s *Store) entries(ctx context.Context, id weir.ID, before int64, most int) ([]Entry, error) {
	rows, err := s.pool.Query(ctx, `select e.seq, e.at, e.type, coalesce(e.source, ''), coalesce(e.level, ''), coalesce(e.message, ''), coalesce(e.data ->> 'operation', ''), (e.data ->> 'op_id')::uuid,
		coalesce(e.data ->> 'reason', ''), e.data from weir.events e where e.kind = 'workspace' and e.subject = $1 and ($2 = 0 or e.seq < $2) order by e.seq desc limit $3`, id.String(), before, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Entry, err error) {
		err = row.Scan(&e.Seq, &e.At, &e.Type, &e.By, &e.Level, &e.Message, &e.Operation, &e.Op, &e.Reason, (*[]byte)(&e.Data))
		return e, err
	})
}

func (s *Store) archives(ctx context.Context, id weir.ID) ([]Archive, error) {
	rows, err := s.pool.Query(ctx, `select a.key, a.verified_at, a.meta, a.key is not distinct from w.archive_key, a.orphan_since from weir.workspace_archives a join weir.workspaces w on w.id = a.workspace
		where a.workspace = $1 order by a.verified_at desc nulls last, a.key`, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Archive, err error) {
		var meta []byte
		err = row.Scan(&a.Key, &a.VerifiedAt, &meta, &a.Current, &a.OrphanSince)
		if err == nil && meta != nil {
			err = json.Unmarshal(meta, &a.Meta)
		}
		return a, err
	})
}

func (s *Store) policy(ctx context.Context) (p Policy, err error) {
	var standby, archive, life, busy time.Duration
	err = s.pool.QueryRow(ctx, `select p.per_user, p.in_all, p.standby_ttl, p.archive_ttl, coalesce(p.max_life, '0 s'), p.busy_most, p.unknown_at, p.unknown_of, coalesce(p.unknown, '') from weir.workspace_policy p`).
		Scan(&p.PerUser, &p.InAll, &standby, &archive, &life, &busy, &p.UnknownAt, &p.UnknownOf, &p.Unknown)
	p.StandbyTTL, p.ArchiveTTL, p.MaxLife, p.BusyMost = node.Span(standby), node.Span(archive), node.Span(life), node.Span(busy)
	return p, err
}

func (s *Store) setPolicy(ctx context.Context, by string, change json.RawMessage) error {
	_, err := s.pool.Exec(ctx, `select weir.set_workspace_policy($1, nullif($2, ''))`, change, by)
	return err
}

// --- the leader

// leads is what the controller writes, as long as its term lasts. clock is what a test
// says that the time is; nil: the database knows.
type leads struct {
	pool  *pgxpool.Pool
	term  Term
	clock func() time.Time
}

func (l leads) at() *time.Time {
	if l.clock == nil {
		return nil
	}
	now := l.clock()
	return &now
}

// sight is what was seen of one workspace.
type sight struct {
	ID         weir.ID           `json:"id"`
	Conditions ladder.Conditions `json:"conditions"`
	Phase      ladder.Phase      `json:"phase"`
	Mounted    *int64            `json:"mounted,omitempty"`
	Generation int64             `json:"generation"`
}

func (l leads) see(ctx context.Context, sights []sight) (changed int, err error) {
	text, err := json.Marshal(sights)
	if err != nil {
		return 0, err
	}
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_see($1, at => $2)`, []any{text, l.at()}, &changed)
	return changed, err
}

func (l leads) unknown(ctx context.Context, what []string, why string) (changed bool, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_unknown($1, nullif($2, ''), at => $3)`, []any{what, why, l.at()}, &changed)
	return changed, err
}

func (l leads) resume(ctx context.Context) (n int, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_resume(at => $1)`, []any{l.at()}, &n)
	return n, err
}

func (l leads) begin(ctx context.Context, w *Workspace, op ladder.Operation) (id *weir.ID, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_begin($1, $2, $3, at => $4)`, []any{w.ID, op, w.Generation, l.at()}, &id)
	return id, err
}

// holds reports whether the operation goes on: nothing may be done for one that does not.
func (l leads) holds(ctx context.Context, w *Workspace) (holds bool, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select exists (select from weir.workspaces w where w.id = $1 and w.op_id = $2)`, []any{w.ID, w.Op}, &holds)
	return holds, err
}

// rests reports whether nothing is under way or wanted that was not when w was read.
func (l leads) rests(ctx context.Context, w *Workspace) (rests bool, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select exists (select from weir.workspaces w where w.id = $1 and w.operation = 'NONE' and w.generation = $2 and w.archive_key = $3)`,
		[]any{w.ID, w.Generation, w.ArchiveKey}, &rests)
	return rests, err
}

func (l leads) progress(ctx context.Context, w *Workspace, says string) error {
	var changed bool
	return l.term.QueryRow(ctx, l.pool, `select weir.workspace_progress($1, $2, $3, at => $4)`, []any{w.ID, w.Op, says, l.at()}, &changed)
}

func (l leads) archived(ctx context.Context, w *Workspace, key string, meta home.Meta, mounted int64) (counts bool, err error) {
	text, err := json.Marshal(meta)
	if err != nil {
		return false, err
	}
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_archived($1, $2, $3, $4, $5, at => $6)`, []any{w.ID, w.Op, key, text, mounted, l.at()}, &counts)
	return counts, err
}

func (l leads) complete(ctx context.Context, w *Workspace) (changed bool, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_end($1, $2, at => $3)`, []any{w.ID, w.Op, l.at()}, &changed)
	return changed, err
}

func (l leads) fail(ctx context.Context, w *Workspace, reason ladder.Reason, says string) (changed bool, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_end($1, $2, $3, $4, terminal => $5, wanted => $6, at => $7)`,
		[]any{w.ID, w.Op, reason, says, reason.Terminal(), w.Generation, l.at()}, &changed)
	return changed, err
}

func (l leads) expire(ctx context.Context, alive []weir.ID) (n int, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_expire($1, at => $2)`, []any{alive, l.at()}, &n)
	return n, err
}

func (l leads) orphans(ctx context.Context, found json.RawMessage) (keys []string, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_orphans($1, $2, $3, at => $4)`, []any{found, keepNewest, orphanFor, l.at()}, &keys)
	return keys, err
}

func (l leads) collected(ctx context.Context, keys []string) (n int, err error) {
	err = l.term.QueryRow(ctx, l.pool, `select weir.workspace_collected($1, at => $2)`, []any{keys, l.at()}, &n)
	return n, err
}

// --- the door

func (s *Store) makeCode(ctx context.Context, id weir.ID, user string, hash []byte, host, session, token string) error {
	_, err := s.pool.Exec(ctx, `select weir.workspace_code_make($1, $2, $3, $4, nullif($5, '')::uuid, nullif($6, '')::uuid)`, id, user, hash, host, session, token)
	if err != nil {
		return fmt.Errorf("open workspace: %w", err)
	}
	return nil
}

func (s *Store) useCode(ctx context.Context, code []byte, host string, visit []byte) (id *weir.ID, err error) {
	if err = s.pool.QueryRow(ctx, `select weir.workspace_code_use($1, $2, $3)`, code, host, visit).Scan(&id); err != nil {
		return nil, fmt.Errorf("enter workspace: %w", err)
	}
	return id, nil
}

func (s *Store) visit(ctx context.Context, hash []byte, host string, used bool) (*Visit, error) {
	var id, user *weir.ID
	var name *string
	if err := s.pool.QueryRow(ctx, `select workspace, user_id, name from weir.workspace_visit($1, $2, $3)`, hash, host, used).Scan(&id, &user, &name); err != nil {
		return nil, fmt.Errorf("look who is inside: %w", err)
	}
	if id == nil {
		return nil, nil
	}
	return &Visit{Workspace: *id, User: *user, Name: *name}, nil
}

// Used notes when workspaces were last used, counted back from the database's clock. A
// time never goes back.
func (s *Store) Used(ctx context.Context, uses []Use) error {
	ids, ages, sources := make([]weir.ID, len(uses)), make([]time.Duration, len(uses)), make([]string, len(uses))
	for i, u := range uses {
		ids[i], ages[i], sources[i] = u.ID, max(u.Ago, 0), u.Source
	}
	_, err := s.pool.Exec(ctx, `
		select weir.workspace_touch($1, array(select weir._clock(null) - x.age from unnest($2::interval[]) with ordinality as x (age, n) order by x.n), $3)`, ids, ages, sources)
	if err != nil {
		return fmt.Errorf("note activity: %w", err)
	}
	return nil
}

// Idle reports whether a workspace is due to be stopped for want of use, as far as the
// database knows.
func (s *Store) Idle(ctx context.Context) (idle bool, err error) {
	err = s.pool.QueryRow(ctx, `
		select exists (select from weir.workspaces w, weir.workspace_policy p, weir._clock(null) t
			where w.deleted_at is null and w.phase = 'RUNNING' and w.desired = 'RUNNING' and w.operation = 'NONE' and coalesce(w.busy_until, '-infinity') < t
				and w.last_access_at < t - coalesce(w.standby_ttl, p.standby_ttl))`).Scan(&idle)
	if err != nil {
		return false, fmt.Errorf("look for idle workspaces: %w", err)
	}
	return idle, nil
}

// Nudge makes the controller look at once, for somebody saw that a workspace is not what
// it was last seen to be.
func (s *Store) Nudge(ctx context.Context, id weir.ID) error {
	if _, err := s.pool.Exec(ctx, `select pg_notify($1, $2)`, Channel, id.String()); err != nil {
		return fmt.Errorf("nudge the controller: %w", err)
	}
	return nil
}

// AskUse asks all servers to note at once what they know of the use of workspaces.
func (s *Store) AskUse(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `select pg_notify($1, '')`, UseChannel); err != nil {
		return fmt.Errorf("ask for the use of workspaces: %w", err)
	}
	return nil
}
