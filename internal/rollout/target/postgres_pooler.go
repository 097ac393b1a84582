package target

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// poolerLooks is how often a session compares backends: others use the same
	// pool and can take one out of its sight for a moment.
	poolerLooks = 8
	// poolerWait bounds all of them, and the wait for a second connection.
	poolerWait = 15 * time.Second
)

// own looks for a pooler. One in transaction mode lends a backend for the time of
// a transaction: a lock or a setting of the session would stay with a backend that
// somebody else gets next. A pooler makes up the number of the backend that the
// protocol tells, so without one there is nothing to ask.
func (s *pgSession) own(ctx context.Context) error {
	if int64(s.conn.PgConn().PID()) == s.pid {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, poolerWait)
	defer cancel()
	lent, err := s.lent(ctx)
	switch {
	case err != nil:
		return pooled("there is a pooler, and no way to see that the session has a backend of its own", s.p.hide(err))
	case lent:
		return pooled("the pooler lends the backend of this session to others", nil)
	}
	return nil
}

// lent tells whether the backend is anybody's while the session is idle: another
// one gets it, we get another one, or somebody's statement is the last one there. In
// session mode none of it can happen.
func (s *pgSession) lent(ctx context.Context) (is bool, err error) {
	config := s.p.config.Copy()
	config.RuntimeParams["application_name"] = s.p.o.ApplicationName
	other, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer func() { _ = other.Close(ctx) }() // it is gone either way
	for range poolerLooks {
		if is, err = s.lentTo(ctx, other); is || err != nil {
			break
		}
	}
	return is, err
}

// lentTo compares while the other one is in a transaction, and after it: whether a
// pool gives out the backend that was used last or the one that rested longest, one
// of the two shows.
func (s *pgSession) lentTo(ctx context.Context, other *pgx.Conn) (bool, error) {
	tx, err := other.Begin(ctx)
	if err != nil {
		return false, err
	}
	theirs, err := backendOf(ctx, tx)
	if err != nil || theirs == s.pid { // were it the only one, we would wait for it
		return true, errors.Join(err, tx.Rollback(ctx))
	}
	mine, err := backendOf(ctx, s.conn)
	if err = errors.Join(err, tx.Rollback(ctx)); err != nil || mine != s.pid {
		return true, err
	}
	if theirs, err = backendOf(ctx, other); err != nil || theirs == s.pid {
		return true, err
	}
	return s.used(ctx, other)
}

// used tells whether the last statement of the backend is somebody else's. Where
// PostgreSQL does not say which it was, nothing is known.
func (s *pgSession) used(ctx context.Context, other *pgx.Conn) (is bool, err error) {
	err = other.QueryRow(ctx, `select exists (select from pg_stat_activity where pid = $1 and query <> all (array[$2, '', '<insufficient privilege>']))`, s.pid, askBackend).Scan(&is)
	return is, err
}

// askBackend is the last statement of a session that looks for a pooler.
const askBackend = `select pg_backend_pid()`

func backendOf(ctx context.Context, on interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
},
) (pid int64, err error) {
	err = on.QueryRow(ctx, askBackend).Scan(&pid)
	return pid, err
}
