package target

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// mySeen are the columns of a session.
const mySeen = `p.id, p.user, p.command, coalesce(p.state, ''), coalesce(p.info, ''), coalesce(p.time, 0)`

func (s *mySession) sessions(ctx context.Context, from string, args ...any) ([]Session, error) {
	var list []Session
	err := s.query(ctx, "select "+mySeen+" from "+from, args, func(scan func(...any) error) error {
		var one Session
		var seconds int64
		if err := scan(&one.ID, &one.User, &one.State, &one.Wait, &one.Query, &seconds); err != nil {
			return err
		}
		one.State = strings.ToLower(one.State)
		if !strings.HasPrefix(strings.ToLower(one.Wait), "waiting") {
			one.Wait = ""
		}
		one.Since = since(seconds)
		list = append(list, one)
		return nil
	})
	return list, err
}

// holderOf is the session that holds a lock, if one does.
func (s *mySession) holderOf(ctx context.Context, lock string) (*Session, error) {
	var id sql.NullInt64
	if err := s.conn.QueryRowContext(ctx, `select is_used_lock(?)`, lock).Scan(&id); err != nil || !id.Valid {
		return nil, err
	}
	list, err := s.sessions(ctx, `information_schema.processlist p where p.id = ?`, id.Int64)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		// It belongs to a user whose sessions ours may not see.
		return &Session{ID: id.Int64}, nil
	}
	return &list[0], nil
}

// holders name the run that has the target: each session in the fence that holds
// the lock of its own name, and that of the target.
func (s *mySession) holders(ctx context.Context) ([]Session, error) {
	one, err := s.holderOf(ctx, s.m.lock)
	if one == nil || err != nil {
		return nil, err
	}
	if is, err := s.ledger().there(ctx); !is || err != nil {
		return []Session{*one}, err
	}
	type pair struct {
		task    string
		attempt int
	}
	var recent []pair
	err = s.query(ctx, s.books.text(`select task, attempt from {s}.weir_fence order by at desc limit 20`), nil, func(scan func(...any) error) error {
		var p pair
		err := scan(&p.task, &p.attempt)
		recent = append(recent, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range recent {
		name := ApplicationName(p.task, p.attempt)
		var is sql.NullBool
		if err := s.conn.QueryRowContext(ctx, `select is_used_lock(?) = ?`, name, one.ID).Scan(&is); err != nil {
			return nil, err
		}
		if is.Bool {
			one.Application = name
			break
		}
	}
	return []Session{*one}, nil
}

// mostAttempts is how far back older attempts are looked for: each has a lock of
// its own name, which must be asked for by that.
const mostAttempts = 50

func (s *mySession) attempts(ctx context.Context, task string, upTo int) ([]Session, error) {
	var list []Session
	for n := upTo; n > max(0, upTo-mostAttempts); n-- {
		name := ApplicationName(task, n)
		one, err := s.holderOf(ctx, name)
		if err != nil {
			return nil, err
		}
		if one != nil && one.ID != s.id {
			one.Application = name
			list = append(list, *one)
		}
	}
	return list, nil
}

func (s *mySession) alive(ctx context.Context, backend int64, application string) (bool, error) {
	one, err := s.holderOf(ctx, application)
	return one != nil && one.ID == backend, err
}

func (s *mySession) stop(ctx context.Context, backend int64, terminate bool) (bool, error) {
	what := "kill query %d"
	if terminate {
		what = "kill %d"
	}
	_, err := s.exec(ctx, fmt.Sprintf(what, backend))
	if err != nil && s.m.classify(err).state == "1094" { // there is no such connection
		return false, nil
	}
	return err == nil, err
}

// blockers are those that a connection waits for. For rows the server knows them;
// for the lock of a table it does not, and the transactions that are open and
// older are who it can be. All of it needs the right PROCESS: without, nothing is
// known.
func (s *mySession) blockers(ctx context.Context, backend int64) ([]Blocker, error) {
	self, err := s.sessions(ctx, `information_schema.processlist p where p.id = ?`, backend)
	if err != nil || len(self) == 0 {
		return nil, err
	}
	var list []Session
	switch {
	case strings.Contains(self[0].Wait, "metadata lock") || strings.Contains(self[0].Wait, "table lock"):
		list, err = s.sessions(ctx, `information_schema.innodb_trx t join information_schema.processlist p on p.id = t.trx_mysql_thread_id
			where p.id <> ? and p.id <> connection_id() order by t.trx_started limit 5`, backend)
	case self[0].State == "query":
		list, err = s.sessions(ctx, `information_schema.innodb_lock_waits w
			join information_schema.innodb_trx mine on mine.trx_id = w.requesting_trx_id
			join information_schema.innodb_trx t on t.trx_id = w.blocking_trx_id
			join information_schema.processlist p on p.id = t.trx_mysql_thread_id
			where mine.trx_mysql_thread_id = ? order by t.trx_started limit 5`, backend)
	}
	if err != nil && s.m.classify(err).class != lost {
		return nil, nil
	}
	for i := range list {
		list[i].State = strings.Replace(list[i].State, "sleep", "idle in transaction", 1)
	}
	return asBlockers(list), err
}

func (s *mySession) activity(ctx context.Context, application string) ([]Session, error) {
	one, err := s.holderOf(ctx, application)
	if one == nil || err != nil {
		return nil, err
	}
	one.Application = application
	if one.BlockedBy, err = s.blockers(ctx, one.ID); err != nil {
		return nil, err
	}
	behind, err := s.sessions(ctx, `information_schema.innodb_lock_waits w
		join information_schema.innodb_trx mine on mine.trx_id = w.blocking_trx_id
		join information_schema.innodb_trx t on t.trx_id = w.requesting_trx_id
		join information_schema.processlist p on p.id = t.trx_mysql_thread_id
		where mine.trx_mysql_thread_id = ? order by p.id`, one.ID)
	if err != nil && s.m.classify(err).class == lost {
		return nil, err
	}
	one.Blocks = asBlockers(behind)
	return []Session{*one}, nil
}

func (s *mySession) identity(ctx context.Context) (id Identity, err error) {
	err = s.conn.QueryRowContext(ctx, `select database(), version()`).Scan(&id.Database, &id.Version)
	if err != nil {
		return id, read(s.m, "ask the target who it is", err)
	}
	// MySQL has a uuid. MariaDB has one since 10.11 or so, and before that the
	// host and its data folder have to do.
	for _, ask := range []string{`select @@server_uuid`, `select @@server_uid`, `select concat(@@hostname, ':', @@port, @@datadir)`} {
		if err = s.conn.QueryRowContext(ctx, ask).Scan(&id.System); err == nil {
			return id, nil
		}
	}
	return id, read(s.m, "ask the target who it is", err)
}

func (s *mySession) sizes(ctx context.Context) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := s.query(ctx, `select table_schema, table_name, coalesce(table_rows, 0), table_schema = database() from information_schema.tables
		where table_type = 'BASE TABLE' and table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema')`, nil, func(scan func(...any) error) error {
		var schema, table string
		var rows int64
		var ours bool
		if err := scan(&schema, &table, &rows, &ours); err != nil {
			return err
		}
		sizes[schema+"."+table] = rows
		if ours {
			sizes[table] = rows
		}
		return nil
	})
	return sizes, err
}

func (s *mySession) foreign(ctx context.Context) (*Foreign, error) {
	return readForeign(ctx, s, func(table string) (map[string]bool, error) {
		found := map[string]bool{}
		err := s.query(ctx, `select column_name from information_schema.columns where table_schema = database() and table_name = ?`, []any{table}, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			found[name] = true
			return err
		})
		return found, err
	})
}
