package timeline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
)

const (
	exportEvery = 10 * time.Minute
	// exportBatch is how many rows one statement reads: an export holds no snapshot for
	// long, and a range that has ended does not change.
	exportBatch = 5000
)

// Rows are the events of a partition in order, each a JSON object. An error
// ends them.
type Rows = iter.Seq2[json.RawMessage, error]

// Exporter writes a partition of the timeline to another place. It returns the location
// and the number of rows, once they are stored safely. It may be called for the same
// partition again, and then replaces the earlier export.
type Exporter interface {
	Export(ctx context.Context, partition string, rows Rows) (location string, n int64, err error)
}

// ExportLoop exports partitions that have ended, one a tick, the oldest first.
func ExportLoop(pool *pgxpool.Pool, to Exporter, term pg.Term, log *slog.Logger) loop.Loop {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &export{pool: pool, to: to, term: term, log: log}
	return loop.Loop{Name: "export", Tick: e.tick, Every: exportEvery, Timeout: 6 * time.Hour}
}

type export struct {
	pool *pgxpool.Pool
	to   Exporter
	term pg.Term
	log  *slog.Logger
}

func (e *export) tick(ctx context.Context, _ time.Time) (more bool, err error) {
	names, err := e.sealed(ctx)
	if err != nil || len(names) == 0 {
		return false, err
	}
	name := names[0]
	location, n, err := e.to.Export(ctx, name, e.rows(ctx, name))
	if err != nil {
		return false, fmt.Errorf("export %s: %w", name, err)
	}
	var done bool
	err = e.term.QueryRow(ctx, e.pool, `select true from weir.mark_exported($1, $2, $3)`, []any{name, location, n}, &done)
	if err != nil {
		return false, fmt.Errorf("note the export of %s: %w", name, err)
	}
	e.log.Info("exported a partition", "partition", name, "location", location, "rows", n)
	return len(names) > 1, nil
}

// sealed lists partitions to export. Their range ended an hour ago, and every running
// transaction has begun since, so none can still add to them.
func (e *export) sealed(ctx context.Context) ([]string, error) {
	rows, err := e.pool.Query(ctx, `select p.name from weir._partitions() p
		where p.parent = 'events' and p.hi < clock_timestamp() - interval '1 hour'
			and not exists (select from pg_stat_activity a where a.datname = current_database() and a.backend_xid is not null and a.xact_start < p.hi)
			and not exists (select from weir.exports x where x.partition = p.name)
		order by p.hi limit 2`)
	if err != nil {
		return nil, fmt.Errorf("look for partitions to export: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// rows reads a partition batch by batch.
func (e *export) rows(ctx context.Context, partition string) Rows {
	query := `select e.xid, e.seq, jsonb_strip_nulls(to_jsonb(e) - 'data' || jsonb_build_object('worker', w.name))
			|| case when e.data is null then '{}' else jsonb_build_object('data', e.data) end
		from ` + pgx.Identifier{"weir", partition}.Sanitize() + ` e left join weir.workers w on w.id = e.worker
		where (e.xid, e.seq) > ($1, $2) order by e.xid, e.seq limit $3`
	return func(yield func(json.RawMessage, error) bool) {
		var xid, seq int64
		var line json.RawMessage
		for n := exportBatch; n == exportBatch; {
			n = 0
			rows, err := e.pool.Query(ctx, query, xid, seq, exportBatch)
			if err != nil {
				yield(nil, err)
				return
			}
			stopped := false
			for !stopped && rows.Next() {
				if err := rows.Scan(&xid, &seq, (*[]byte)(&line)); err != nil {
					rows.Close()
					yield(nil, err)
					return
				}
				n++
				stopped = !yield(line, nil)
			}
			rows.Close()
			if stopped {
				return
			}
			if err := rows.Err(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}
