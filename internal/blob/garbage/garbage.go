package garbage

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

const (
	every = time.Hour
	// batch is how many rows or objects are handled at once.
	batch = 500
	// batches limits one tick.
	batches = 100
	// uploadsFor is how long an upload may take before its remains are removed.
	uploadsFor = 24 * time.Hour
)

// Loop removes, once an hour, the objects of jobs and tasks that the retention has
// dropped, and the remains of broken uploads.
func Loop(pool *pgxpool.Pool, bucket blob.Bucket, term pg.Term, log *slog.Logger) loop.Loop {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &collector{pool: pool, bucket: bucket, term: term, log: log}
	return loop.Loop{Name: "garbage", Tick: c.tick, Every: every, Timeout: 30 * time.Minute}
}

type collector struct {
	pool   *pgxpool.Pool
	bucket blob.Bucket
	term   pg.Term
	log    *slog.Logger
}

// gap is a range of ids that no partition holds, from lo up to hi.
type gap struct{ lo, hi string }

func (c *collector) tick(ctx context.Context, now time.Time) (more bool, err error) {
	tasks, err := c.gaps(ctx, "tasks")
	if err != nil {
		return false, err
	}
	jobs, err := c.gaps(ctx, "jobs")
	if err != nil {
		return false, err
	}
	left, gone := batches, 0
	rows, err := c.rows(ctx, tasks, &left)
	if err != nil {
		return false, err
	}
	for _, kind := range []blob.Kind{blob.Input, blob.Output, blob.Log} {
		n, err := c.objects(ctx, string(kind)+"/", jobs, c.goneJobs, &left)
		if err != nil {
			return false, err
		}
		m, err := c.objects(ctx, string(kind)+"/"+blob.NoJob+"/", tasks, c.goneTasks, &left)
		if err != nil {
			return false, err
		}
		gone += n + m
	}
	broken, err := c.bucket.Sweep(ctx, now.Add(-uploadsFor))
	if err != nil {
		return false, err
	}
	stranded, err := c.incoming(ctx, now.Add(-uploadsFor), &left)
	if err != nil {
		return false, err
	}
	broken += stranded
	if rows+gone+broken > 0 {
		c.log.Info("removed what belongs to nobody", "artifacts", rows, "objects", gone, "uploads", broken)
	}
	return left <= 0, nil
}

// gaps returns the ranges of ids whose partition was dropped. Ids younger than a day are
// never in a gap, whatever the partitions say.
func (c *collector) gaps(ctx context.Context, table string) ([]gap, error) {
	rows, err := c.pool.Query(ctx, `select weir._id_at(coalesce(g.lo, 'epoch'))::text, weir._id_at(least(g.hi, clock_timestamp() - interval '1 day'))::text
		from (select lag(p.hi) over (order by p.lo) as lo, p.lo as hi from weir._partitions() p where p.parent = $1) g
		where coalesce(g.lo, 'epoch') < least(g.hi, clock_timestamp() - interval '1 day') order by g.hi`, table)
	if err != nil {
		return nil, fmt.Errorf("look for dropped %s: %w", table, err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g gap, err error) { return g, row.Scan(&g.lo, &g.hi) })
	if err != nil {
		return nil, fmt.Errorf("look for dropped %s: %w", table, err)
	}
	return found, nil
}

// rows removes the rows of artifacts whose task is gone, and their objects.
func (c *collector) rows(ctx context.Context, gaps []gap, left *int) (n int, err error) {
	for _, g := range gaps {
		for *left > 0 {
			*left--
			ids, keys, err := c.lost(ctx, g)
			if err != nil || len(ids) == 0 {
				if err != nil {
					return n, err
				}
				break
			}
			if err := c.bucket.Delete(ctx, keys...); err != nil {
				return n, err
			}
			var deleted int
			err = c.term.QueryRow(ctx, c.pool, `with d as (delete from weir.artifacts a where a.id = any ($1) returning 1) select count(*) from d`, []any{ids}, &deleted)
			if err != nil {
				return n, fmt.Errorf("forget artifacts: %w", err)
			}
			if others := len(ids) - len(keys); others > 0 {
				c.log.Warn("forgot artifacts that lie in another bucket or elsewhere in this one: those objects stay", "count", others)
			}
			n += deleted
		}
	}
	return n, nil
}

// lost reads a few artifacts without a task; keys are those in this bucket, at places
// where objects of that task can lie.
func (c *collector) lost(ctx context.Context, g gap) (ids []int64, keys []string, err error) {
	rows, err := c.pool.Query(ctx, `select a.id, a.bucket, a.key, a.kind, coalesce(a.job::text, ''), a.task::text, a.attempt from weir.artifacts a
		where a.task >= $1::uuid and a.task < $2::uuid and not exists (select from weir.tasks t where t.id = a.task) order by a.task limit $3`, g.lo, g.hi, batch)
	if err != nil {
		return nil, nil, fmt.Errorf("look for artifacts without a task: %w", err)
	}
	var id int64
	var bucket, key, kind, job, task string
	var attempt int
	_, err = pgx.ForEachRow(rows, []any{&id, &bucket, &key, &kind, &job, &task, &attempt}, func() error {
		ids = append(ids, id)
		if bucket == c.bucket.Name() && blob.Owned(key, kind, job, task, attempt) {
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look for artifacts without a task: %w", err)
	}
	return ids, keys, nil
}

// objects removes the objects below a prefix whose ids are gone.
func (c *collector) objects(ctx context.Context, prefix string, gaps []gap, gone func(context.Context, []string) ([]string, error), left *int) (n int, err error) {
	for _, g := range gaps {
		for after := prefix + g.lo; *left > 0; {
			*left--
			page, err := c.bucket.List(ctx, prefix, after, batch)
			if err != nil {
				return n, err
			}
			byID := map[string][]string{}
			for _, o := range page {
				id, _, _ := strings.Cut(strings.TrimPrefix(o.Key, prefix), "/")
				after = o.Key
				if _, err := weir.ParseID(id); err == nil && id >= g.lo && id < g.hi {
					byID[id] = append(byID[id], o.Key)
				}
			}
			deleted, err := c.remove(ctx, byID, gone)
			n += deleted
			if err != nil {
				return n, err
			}
			if len(page) < batch || after >= prefix+g.hi {
				break
			}
		}
	}
	return n, nil
}

// incoming removes objects that nodes have put into the bucket and never recorded.
func (c *collector) incoming(ctx context.Context, before time.Time, left *int) (n int, err error) {
	for after := ""; *left > 0; {
		*left--
		page, err := c.bucket.List(ctx, blob.IncomingPrefix, after, batch)
		if err != nil {
			return n, err
		}
		var keys []string
		for _, o := range page {
			after = o.Key
			if o.ModifiedAt.Before(before) {
				keys = append(keys, o.Key)
			}
		}
		if err := c.bucket.Delete(ctx, keys...); err != nil {
			return n, err
		}
		n += len(keys)
		if len(page) < batch {
			break
		}
	}
	return n, nil
}

// remove deletes the objects of those ids that no longer exist.
func (c *collector) remove(ctx context.Context, byID map[string][]string, gone func(context.Context, []string) ([]string, error)) (int, error) {
	if len(byID) == 0 {
		return 0, nil
	}
	ids := make([]string, 0, len(byID))
	for id := range byID {
		ids = append(ids, id)
	}
	unknown, err := gone(ctx, ids)
	if err != nil {
		return 0, err
	}
	var keys []string
	for _, id := range unknown {
		keys = append(keys, byID[id]...)
	}
	if len(keys) == 0 {
		return 0, nil
	}
	return len(keys), c.bucket.Delete(ctx, keys...)
}

// goneJobs returns those of the ids that are no job and have no artifact.
func (c *collector) goneJobs(ctx context.Context, ids []string) ([]string, error) {
	return c.gone(ctx, `select i::text from unnest($1::uuid[]) i where not exists (select from weir.jobs j where j.id = i) and not exists (select from weir.artifacts a where a.job = i)`, ids)
}

// goneTasks returns those of the ids that are no task and have no artifact.
func (c *collector) goneTasks(ctx context.Context, ids []string) ([]string, error) {
	return c.gone(ctx, `select i::text from unnest($1::uuid[]) i where not exists (select from weir.tasks t where t.id = i) and not exists (select from weir.artifacts a where a.task = i)`, ids)
}

func (c *collector) gone(ctx context.Context, sql string, ids []string) ([]string, error) {
	rows, err := c.pool.Query(ctx, sql, ids)
	if err != nil {
		return nil, fmt.Errorf("look for what is gone: %w", err)
	}
	unknown, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for what is gone: %w", err)
	}
	return unknown, nil
}
