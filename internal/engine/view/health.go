package view

import (
	"context"
	"time"
)

// Health is what an operator looks at first when the database is slow.
type Health struct {
	Database Database `json:"database"`
	// Tables are those of the engine; the partitions of one count as one.
	Tables []TableHealth `json:"tables"`
	// XminAge is how many transactions ago the oldest snapshot was taken: what
	// died since then cannot be vacuumed.
	XminAge int64 `json:"xmin_age"`
	// OldestTransaction is when the oldest one that is open began.
	OldestTransaction time.Time   `json:"oldest_transaction,omitzero"`
	Partitions        []Partition `json:"partitions"`
	Locks             []Lock      `json:"locks"`
}

// Database is the server as a whole.
type Database struct {
	Version        string `json:"version"`
	Size           int64  `json:"size"`
	Connections    int    `json:"connections"`
	MaxConnections int    `json:"max_connections"`
}

// TableHealth is what PostgreSQL knows about a table. The numbers of rows are
// estimates; Size includes indexes.
type TableHealth struct {
	Name       string    `json:"name"`
	Live       int64     `json:"live"`
	Dead       int64     `json:"dead"`
	LastVacuum time.Time `json:"last_vacuum,omitzero"`
	Size       int64     `json:"size"`
}

// Partition is a stretch of time of a table that keeps history. The number of
// rows is an estimate.
type Partition struct {
	Parent string    `json:"parent"`
	Name   string    `json:"name"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Rows   int64     `json:"rows"`
	Bytes  int64     `json:"bytes"`
}

// Lock is a leader's term.
type Lock struct {
	Name   string    `json:"name"`
	Holder string    `json:"holder"`
	Epoch  int64     `json:"epoch"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

// Health reads the state of the database. It looks at no row of ours, only at
// what PostgreSQL keeps about them.
func (s *Store) Health(ctx context.Context) (h Health, err error) {
	const op = "read the health of the database"
	whole, err := list(ctx, s, op, `select current_setting('server_version'), pg_database_size(current_database()), (select count(*) from pg_stat_activity a where a.backend_type = 'client backend'),
		current_setting('max_connections')::int, coalesce((select max(age(a.backend_xmin)) from pg_stat_activity a), 0)::bigint,
		(select min(a.xact_start) from pg_stat_activity a where a.backend_type = 'client backend' and a.pid <> pg_backend_pid())`, nil, func(h *Health) []any {
		return []any{&h.Database.Version, &h.Database.Size, &h.Database.Connections, &h.Database.MaxConnections, &h.XminAge, (*moment)(&h.OldestTransaction)}
	})
	if err != nil {
		return Health{}, err
	}
	h = whole[0]
	h.Tables, err = list(ctx, s, op, `select coalesce(p.relname, c.relname)::text, sum(s.n_live_tup)::bigint, sum(s.n_dead_tup)::bigint, max(greatest(s.last_vacuum, s.last_autovacuum)),
		sum(pg_total_relation_size(c.oid))::bigint
		from pg_class c join pg_stat_all_tables s on s.relid = c.oid left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
		where c.relnamespace = 'weir'::regnamespace and c.relkind = 'r' group by 1 order by 5 desc, 1`, nil, func(t *TableHealth) []any {
		return []any{&t.Name, &t.Live, &t.Dead, (*moment)(&t.LastVacuum), &t.Size}
	})
	if err != nil {
		return Health{}, err
	}
	h.Partitions, err = list(ctx, s, op, `select p.parent, p.name, p.lo, p.hi, greatest(c.reltuples, s.n_live_tup, 0)::bigint, pg_total_relation_size(c.oid)
		from weir._partitions() p join pg_class c on c.relname = p.name and c.relnamespace = 'weir'::regnamespace join pg_stat_all_tables s on s.relid = c.oid
		order by p.parent, p.lo desc`, nil, func(p *Partition) []any {
		return []any{&p.Parent, &p.Name, (*moment)(&p.From), (*moment)(&p.To), &p.Rows, &p.Bytes}
	})
	if err != nil {
		return Health{}, err
	}
	h.Locks, err = list(ctx, s, op, `select l.lock_name, l.holder_id, l.epoch, l.acquired_at, l.expires_at from weir.system_locks l order by l.lock_name`, nil, func(l *Lock) []any {
		return []any{&l.Name, &l.Holder, &l.Epoch, (*moment)(&l.Since), (*moment)(&l.Until)}
	})
	return h, err
}
