package target

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

// mySession is one connection to MySQL or MariaDB.
type mySession struct {
	m           *mySQL
	db          *sql.DB
	conn        *sql.Conn
	application string
	id          int64
	maria       bool
	books       *ledger
	// named: the session holds the lock that is its name. MySQL shows no name of a
	// session to others, but it tells who holds a lock.
	named bool
	// locked: it has the lock of the target; open: it may be in a transaction.
	locked, open bool
}

// greet learns what the session needs to know of itself.
func (s *mySession) greet(ctx context.Context) error {
	var version string
	if err := s.conn.QueryRowContext(ctx, `select connection_id(), version()`).Scan(&s.id, &version); err != nil {
		return err
	}
	s.maria = strings.Contains(strings.ToLower(version), "mariadb")
	return s.name(ctx)
}

// name takes the lock that names the session of a run. It is refused while a
// connection of the same attempt is still known to the server.
func (s *mySession) name(ctx context.Context) error {
	if s.named || !strings.HasPrefix(s.application, "weir/") {
		return nil
	}
	var got sql.NullInt64
	err := s.conn.QueryRowContext(ctx, `select get_lock(?, 0)`, s.application).Scan(&got)
	s.named = got.Int64 == 1
	return err
}

func (s *mySession) backend() int64 { return s.id }

func (s *mySession) ledger() *ledger { return s.books }

// own: nothing here tells what stands before the server. The fence asks for the
// lock in every transaction.
func (s *mySession) own(context.Context) error { return nil }

// close gives the locks back itself: the server does so only when it has noticed
// that we hung up, and the next run would find them held.
func (s *mySession) close() {
	if s.locked && !s.open {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, _ = s.conn.ExecContext(ctx, `do release_lock(?), release_lock(?)`, s.m.lock, s.application) // they go with the session at the latest
		cancel()
	}
	_ = s.conn.Close() // it is gone either way
	_ = s.db.Close()
}

func (s *mySession) exec(ctx context.Context, text string, args ...any) (int64, error) {
	result, err := s.conn.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s *mySession) query(ctx context.Context, text string, args []any, row func(scan func(into ...any) error) error) error {
	rows, err := s.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *mySession) exists(ctx context.Context) (is bool, err error) {
	err = s.conn.QueryRowContext(ctx, `select count(*) = 3 from information_schema.tables where table_schema = ? and table_name in ('weir_history', 'weir_steps', 'weir_fence')`,
		s.schemaName()).Scan(&is)
	return is, err
}

// schemaName is where the ledger is.
func (s *mySession) schemaName() string {
	if s.m.o.Schema != "" {
		return s.m.o.Schema
	}
	return s.m.config.DBName
}

// The tables of the ledger. Names are compared byte by byte, as everywhere else.
var myTables = []string{
	`create table if not exists {s}.weir_history (
		id bigint not null auto_increment primary key,
		version varchar(190) unique,
		name varchar(500) not null,
		kind varchar(20) not null,
		checksum varchar(100) not null,
		rollout varchar(190),
		task varchar(190) unique,
		attempt int not null,
		applied_at datetime(6) not null,
		duration_ms bigint not null,
		applied_by varchar(500) not null,
		note text not null,
		statements int not null
	) engine = InnoDB, character set utf8mb4, collate utf8mb4_bin, comment 'The changes that Weir applied to this database'`,
	`create table if not exists {s}.weir_steps (
		script varchar(190) not null,
		step int not null,
		task varchar(190) not null,
		attempt int not null,
		hash varchar(100) not null,
		state varchar(20) not null,
		seen varchar(190) not null,
		at datetime(6) not null,
		primary key (script, step)
	) engine = InnoDB, character set utf8mb4, collate utf8mb4_bin, comment 'How far changes got that cannot run in one transaction'`,
	`create table if not exists {s}.weir_fence (
		task varchar(190) not null primary key,
		attempt int not null,
		token varchar(190) not null,
		at datetime(6) not null
	) engine = InnoDB, character set utf8mb4, collate utf8mb4_bin, comment 'Per task the newest attempt that was let in'`,
}

func (s *mySession) create(ctx context.Context) error {
	if is, err := s.ledger().there(ctx); is || err != nil {
		return err
	}
	for _, table := range myTables {
		if _, err := s.exec(ctx, s.books.text(table)); err != nil {
			return err
		}
	}
	return nil
}

// limit: whole seconds are all that locks know here. MySQL has no timeout for
// statements that change something: there the guard keeps it.
func (s *mySession) limit(ctx context.Context, l limits) error {
	lock := max(1, int(math.Ceil(l.lock.Seconds())))
	set := fmt.Sprintf(`set session lock_wait_timeout = %d, innodb_lock_wait_timeout = %d`, lock, lock)
	if s.maria {
		set += fmt.Sprintf(`, max_statement_time = %.3f, idle_transaction_timeout = %d`, l.statement.Seconds(), int(idleTimeout.Seconds()))
	}
	_, err := s.exec(ctx, set)
	return err
}

// relimit puts back what a change switched off.
func (s *mySession) relimit(ctx context.Context, l limits) error {
	if !s.maria {
		return nil
	}
	_, err := s.exec(ctx, fmt.Sprintf(`set session max_statement_time = if(@@max_statement_time = 0, %.3f, @@max_statement_time), idle_transaction_timeout = %d`,
		l.statement.Seconds(), int(idleTimeout.Seconds())))
	return err
}

// tryLock: the lock has no shared form here, so all changes take turns.
func (s *mySession) tryLock(ctx context.Context, _ bool) (bool, error) {
	if err := s.name(ctx); err != nil {
		return false, err
	}
	if !s.named && strings.HasPrefix(s.application, "weir/") {
		return false, nil
	}
	var got sql.NullInt64
	err := s.conn.QueryRowContext(ctx, `select get_lock(?, 0)`, s.m.lock).Scan(&got)
	s.locked = s.locked || got.Int64 == 1
	return got.Int64 == 1, err
}

func (s *mySession) holdsLock(ctx context.Context) (has bool, err error) {
	err = s.conn.QueryRowContext(ctx, `select coalesce(is_used_lock(?) = connection_id(), false)`, s.m.lock).Scan(&has)
	return has, err
}

func (s *mySession) begin(ctx context.Context) error {
	s.open = true
	_, err := s.exec(ctx, "start transaction")
	return err
}

func (s *mySession) commit(ctx context.Context) error {
	_, err := s.exec(ctx, "commit")
	s.open = err != nil
	return err
}

func (s *mySession) rollback(ctx context.Context) error {
	_, err := s.exec(ctx, "rollback")
	s.open = err != nil
	return err
}

// run sends a statement as it stands: as text, without arguments.
func (s *mySession) run(ctx context.Context, text string) (rows int64, notices []string, err error) {
	err = s.conn.Raw(func(raw any) error {
		result, err := raw.(driver.ExecerContext).ExecContext(ctx, text, nil)
		if err != nil {
			return err
		}
		rows, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return rows, s.warnings(ctx), nil
}

// warnings are what the server had to say. They are for people only, so nothing
// is lost when they cannot be read.
func (s *mySession) warnings(ctx context.Context) (list []string) {
	_ = s.query(ctx, "show warnings limit 100", nil, func(scan func(...any) error) error {
		var level, message string
		var code int
		if err := scan(&level, &code, &message); err != nil {
			return err
		}
		list = append(list, fmt.Sprintf("%s %d: %s", level, code, message))
		return nil
	})
	return list
}

// asItself: a role there adds rights and takes none.
func (s *mySession) asItself(_ context.Context, do func() error) error { return do() }

// probe looks for what a DDL statement makes or removes. There is nothing half
// made: the server does each as a whole.
func (s *mySession) probe(ctx context.Context, p script.Probe) (presence, error) {
	queries := map[string]string{
		script.ProbeTable:      `select count(*) from information_schema.tables where table_schema = ifnull(?, database()) and table_name = ?`,
		script.ProbeView:       `select count(*) from information_schema.views where table_schema = ifnull(?, database()) and table_name = ?`,
		script.ProbeRoutine:    `select count(*) from information_schema.routines where routine_schema = ifnull(?, database()) and routine_name = ?`,
		script.ProbeTrigger:    `select count(*) from information_schema.triggers where trigger_schema = ifnull(?, database()) and trigger_name = ?`,
		script.ProbeEvent:      `select count(*) from information_schema.events where event_schema = ifnull(?, database()) and event_name = ?`,
		script.ProbeColumn:     `select count(*) from information_schema.columns where table_schema = ifnull(?, database()) and column_name = ? and table_name = ?`,
		script.ProbeIndex:      `select count(*) from information_schema.statistics where table_schema = ifnull(?, database()) and index_name = ? and table_name = ?`,
		script.ProbeConstraint: `select count(*) from information_schema.table_constraints where table_schema = ifnull(?, database()) and constraint_name = ? and table_name = ?`,
		script.ProbePartition:  `select count(*) from information_schema.partitions where table_schema = ifnull(?, database()) and partition_name = ? and table_name = ?`,
		script.ProbeDatabase:   `select count(*) from information_schema.schemata where ifnull(?, '') = '' and schema_name = ?`,
		script.ProbeUser:       `select count(*) from mysql.user where ifnull(?, '') = '' and user = ?`,
	}
	query, ok := queries[p.What]
	if !ok {
		return "", fmt.Errorf("there is no probe for a %s on MySQL", p.What)
	}
	args := []any{null(p.Schema), p.Name}
	if strings.Count(query, "?") == 3 {
		args = append(args, p.Table)
	}
	var n int
	if err := s.conn.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		return "", err
	}
	if n == 0 {
		return absent, nil
	}
	return there, nil
}

// fingerprint tells whether a DDL statement without a probe did anything.
func (s *mySession) fingerprint(ctx context.Context) (string, error) {
	snap, err := s.snapshot(ctx)
	return snap.Hash, err
}

// since is a time so many seconds ago, by this machine's clock: the server tells
// durations only.
func since(seconds int64) time.Time { return time.Now().Add(-time.Duration(seconds) * time.Second) }
