package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

const (
	sessionIdle = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour
	// touchEvery is how often the time of last use is written, so that a page view does
	// not write.
	touchEvery = time.Minute
)

// Session is a browser that is logged in.
type Session struct {
	ID     string `json:"id"`
	UserID string `json:"user_id"`
	User   string `json:"user"`
	// Method is password, link or oidc.
	Method    string    `json:"method"`
	Address   string    `json:"address,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// startSession creates a session; no other function does. The secret goes to the browser
// and nowhere else.
func (s *Store) startSession(ctx context.Context, tx pgx.Tx, u User, method string, from Client) (string, Subject, error) {
	secret := newSecret(sessionSecret)
	hash, err := hashOf(sessionSecret, secret)
	if err != nil {
		return "", Subject{}, err
	}
	subject := Subject{Kind: KindUser, ID: u.ID, Name: u.Name, UserID: u.ID, Role: u.Role}
	err = tx.QueryRow(ctx, `
		insert into weir.sessions (hash, id, user_id, method, created_at, seen_at, expires_at, address, agent)
		select $2, weir._id(t), $3, $4, t, t, t + $5::interval, nullif($6, ''), nullif($7, '') from coalesce($1, now()) t returning id::text`,
		s.clock(), hash, u.ID, method, sessionLife, oneLine(from.Address, 64), oneLine(from.Agent, 200)).Scan(&subject.Session)
	if err != nil {
		return "", Subject{}, fmt.Errorf("start a session: %w", err)
	}
	if _, err := tx.Exec(ctx, `update weir.users set login_at = coalesce($1, now()) where id = $2`, s.clock(), u.ID); err != nil {
		return "", Subject{}, fmt.Errorf("start a session: %w", err)
	}
	return secret, subject, s.note(ctx, tx, event{
		by: subject, typ: "login", subject: u.Name, message: "logged in by " + method,
		data: map[string]any{"method": method, "address": from.Address, "session": subject.Session},
	})
}

// Session returns the subject of a session's secret, and counts as use of the session.
func (s *Store) Session(ctx context.Context, secret string) (Subject, error) {
	subject, hash, touch, err := s.session(ctx, secret)
	if err != nil || !touch {
		return subject, err
	}
	// A failed update of the last use does no harm: the next request tries again.
	if _, err := s.pool.Exec(ctx, `
		update weir.sessions set seen_at = coalesce($1, now()) where hash = $2 and seen_at < coalesce($1, now()) - $3::interval`, s.clock(), hash, touchEvery); err != nil {
		s.log.Warn("note the use of a session", "error", err)
	}
	return subject, nil
}

// PeekSession is Session without counting as use, because a page left open must not keep
// its session from ending.
func (s *Store) PeekSession(ctx context.Context, secret string) (Subject, error) {
	subject, _, _, err := s.session(ctx, secret)
	return subject, err
}

// session reads a live session. touch reports that its last use must be written.
func (s *Store) session(ctx context.Context, secret string) (subject Subject, hash []byte, touch bool, err error) {
	if hash, err = hashOf(sessionSecret, secret); err != nil {
		return Subject{}, nil, false, err
	}
	subject.Kind = KindUser
	err = s.pool.QueryRow(ctx, `
		select s.id::text, u.id::text, u.name, u.role, s.seen_at < t - $4::interval
		from weir.sessions s join weir.users u on u.id = s.user_id, coalesce($1, now()) t
		where s.hash = $2 and s.expires_at > t and s.seen_at > t - $3::interval and u.disabled_at is null`,
		s.clock(), hash, sessionIdle, touchEvery).Scan(&subject.Session, &subject.ID, &subject.Name, &subject.Role, &touch)
	if errors.Is(err, pgx.ErrNoRows) {
		return Subject{}, nil, false, refused(sessionSecret)
	}
	if err != nil {
		return Subject{}, nil, false, fmt.Errorf("read session: %w", err)
	}
	subject.UserID = subject.ID
	return subject, hash, touch, nil
}

// Logout ends the session of a secret. A session that is over already is no error.
func (s *Store) Logout(ctx context.Context, secret string) error {
	hash, err := hashOf(sessionSecret, secret)
	if err != nil {
		return nil
	}
	return s.tx(ctx, "log out", func(tx pgx.Tx) error {
		by := Subject{Kind: KindUser}
		err := tx.QueryRow(ctx, `
			delete from weir.sessions s using weir.users u where s.hash = $1 and u.id = s.user_id returning s.id::text, u.name`, hash).Scan(&by.Session, &by.Name)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.note(ctx, tx, event{by: by, typ: "logout", subject: by.Name, message: "logged out", data: map[string]any{"session": by.Session}})
	})
}

// Sessions lists the live sessions of a user, or of all users if userID is empty, newest
// first.
func (s *Store) Sessions(ctx context.Context, userID string) ([]Session, error) {
	return collect(ctx, s.pool, "list sessions", func(x *Session) []any {
		return []any{&x.ID, &x.UserID, &x.User, &x.Method, &x.Address, &x.Agent, &x.CreatedAt, &x.SeenAt, &x.ExpiresAt}
	}, `
		select s.id::text, u.id::text, u.name, s.method, coalesce(s.address, ''), coalesce(s.agent, ''), s.created_at, s.seen_at,
			least(s.expires_at, s.seen_at + $2::interval)
		from weir.sessions s join weir.users u on u.id = s.user_id, coalesce($1, now()) t
		where ($3 = '' or u.id::text = $3) and s.expires_at > t and s.seen_at > t - $2::interval order by s.id desc limit 1000`,
		s.clock(), sessionIdle, userID)
}

// RevokeSession ends a session: one of the subject's own, or as an admin any session.
func (s *Store) RevokeSession(ctx context.Context, by Subject, id string) error {
	return s.tx(ctx, "end session", func(tx pgx.Tx) error {
		var owner, name string
		err := tx.QueryRow(ctx, `
			select u.id::text, u.name from weir.sessions s join weir.users u on u.id = s.user_id where s.id::text = $1 for update of s`, id).Scan(&owner, &name)
		if errors.Is(err, pgx.ErrNoRows) {
			return absent(by, "session", id)
		}
		if err != nil {
			return err
		}
		if err := Allow(by, Manage, Object{Kind: "session", Owner: owner}); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from weir.sessions where id::text = $1`, id); err != nil {
			return err
		}
		return s.note(ctx, tx, event{by: by, typ: "session_revoked", subject: name, message: "session ended", data: map[string]any{"session": id}})
	})
}

// endSessions ends all sessions of a user but one.
func endSessions(ctx context.Context, tx pgx.Tx, userID, keep string) error {
	_, err := tx.Exec(ctx, `delete from weir.sessions where user_id = $1 and id::text <> $2`, userID, keep)
	return err
}

// absent returns the answer to an id that does not exist. It is the same as the answer to
// an id of another owner, so that no caller can distinguish the two.
func absent(by Subject, kind, id string) error {
	if err := Allow(by, Manage, Object{Kind: kind, Owner: "somebody"}); err != nil {
		return err
	}
	return problem.New(problem.NotFound, "", "there is no such %s", kind)
}
