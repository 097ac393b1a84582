package target

import (
	"context"
	"strings"
	"time"
)

// seen are the columns of a session, the same for all who look.
const pgSeen = `a.pid, coalesce(a.application_name, ''), coalesce(a.usename, ''), coalesce(a.state, ''),
	coalesce(nullif(concat_ws(': ', a.wait_event_type, a.wait_event), 'Client: ClientRead'), ''), coalesce(a.query, ''),
	case when a.state = 'active' then a.query_start else a.state_change end`

func (s *pgSession) sessions(ctx context.Context, from string, args ...any) ([]Session, error) {
	var list []Session
	err := s.query(ctx, "select "+pgSeen+" from "+from, args, func(scan func(...any) error) error {
		var one Session
		var since *time.Time
		if err := scan(&one.ID, &one.Application, &one.User, &one.State, &one.Wait, &one.Query, &since); err != nil {
			return err
		}
		if since != nil {
			one.Since = *since
		}
		list = append(list, one)
		return nil
	})
	return list, err
}

func (s *pgSession) holders(ctx context.Context) ([]Session, error) {
	return s.sessions(ctx, `pg_locks l join pg_stat_activity a using (pid) where `+held+` order by a.pid`, lockClass, lockObject)
}

// here are the backends of this database. Those of others have their own locks.
const here = `pg_stat_activity a where a.datname = current_database() and a.pid <> pg_backend_pid()`

func (s *pgSession) attempts(ctx context.Context, task string, upTo int) ([]Session, error) {
	prefix := strings.TrimSuffix(ApplicationName(task, 0), "0")
	list, err := s.sessions(ctx, here+` and starts_with(a.application_name, $1) order by a.pid`, prefix)
	kept := list[:0]
	for _, one := range list {
		if n, ok := attemptOf(one.Application, task); ok && n <= upTo {
			kept = append(kept, one)
		}
	}
	return kept, err
}

func (s *pgSession) alive(ctx context.Context, backend int64, application string) (is bool, err error) {
	err = s.conn.QueryRow(ctx, `select exists (select from pg_stat_activity where pid = $1 and application_name = $2)`, backend, application).Scan(&is)
	return is, err
}

func (s *pgSession) stop(ctx context.Context, backend int64, terminate bool) (reached bool, err error) {
	query := `select coalesce((select pg_cancel_backend(pid) from pg_stat_activity where pid = $1), false)`
	if terminate {
		query = `select coalesce((select pg_terminate_backend(pid) from pg_stat_activity where pid = $1), false)`
	}
	err = s.conn.QueryRow(ctx, query, backend).Scan(&reached)
	return reached, err
}

func (s *pgSession) blockers(ctx context.Context, backend int64) ([]Blocker, error) {
	list, err := s.sessions(ctx, `unnest(pg_blocking_pids($1::int)) b(pid) join pg_stat_activity a on a.pid = b.pid order by a.pid`, backend)
	return asBlockers(list), err
}

func asBlockers(list []Session) []Blocker {
	var out []Blocker
	for _, one := range list {
		out = append(out, Blocker{ID: one.ID, Application: one.Application, User: one.User, State: one.State, Query: one.Query, Since: one.Since})
	}
	return out
}

func (s *pgSession) activity(ctx context.Context, application string) ([]Session, error) {
	list, err := s.sessions(ctx, here+` and a.application_name = $1 order by a.pid`, application)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].BlockedBy, err = s.blockers(ctx, list[i].ID); err != nil {
			return nil, err
		}
		behind, err := s.sessions(ctx, here+` and a.wait_event_type = 'Lock' and $1::int = any (pg_blocking_pids(a.pid)) order by a.pid`, list[i].ID)
		if err != nil {
			return nil, err
		}
		list[i].Blocks = asBlockers(behind)
	}
	return list, nil
}

func (s *pgSession) identity(ctx context.Context) (id Identity, err error) {
	err = s.conn.QueryRow(ctx, `select datname || '/' || oid, current_setting('server_version') from pg_database where datname = current_database()`).
		Scan(&id.Database, &id.Version)
	if err != nil {
		return id, read(s.p, "ask the target who it is", err)
	}
	// Some hosts keep it to themselves. The oid is then what is left to compare.
	err = s.conn.QueryRow(ctx, `select system_identifier::text from pg_control_system()`).Scan(&id.System)
	if err != nil && s.p.classify(err).code != CodeForbidden {
		return id, read(s.p, "ask the target who it is", err)
	}
	return id, nil
}

func (s *pgSession) sizes(ctx context.Context) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := s.query(ctx, `
		select n.nspname, c.relname, greatest(c.reltuples, 0)::bigint, pg_table_is_visible(c.oid)
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind in ('r', 'p', 'm') and n.nspname <> 'information_schema' and not starts_with(n.nspname, 'pg_')`, nil, func(scan func(...any) error) error {
		var schema, table string
		var rows int64
		var visible bool
		if err := scan(&schema, &table, &rows, &visible); err != nil {
			return err
		}
		sizes[schema+"."+table] = rows
		if visible {
			sizes[table] = rows
		}
		return nil
	})
	return sizes, err
}

func (s *pgSession) foreign(ctx context.Context) (*Foreign, error) {
	return readForeign(ctx, s, func(table string) (map[string]bool, error) {
		found := map[string]bool{}
		err := s.query(ctx, `select attname::text from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`, []any{table}, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			found[name] = true
			return err
		})
		return found, err
	})
}
