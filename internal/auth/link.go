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
	setupTTL    = 24 * time.Hour
	linkTTL     = 15 * time.Minute
	mostLinkTTL = 7 * 24 * time.Hour
)

// LinkInfo describes what a link is for.
type LinkInfo struct {
	// Setup means that the person who uses the link becomes the first user, an admin.
	Setup bool
	// User is the user that the link logs in, if it is no set-up link.
	User      string
	ExpiresAt time.Time
}

// NeedsSetup reports whether there is no user yet.
func (s *Store) NeedsSetup(ctx context.Context) (needs bool, err error) {
	if err := s.pool.QueryRow(ctx, `select not exists (select from weir.users)`).Scan(&needs); err != nil {
		return false, fmt.Errorf("look for users: %w", err)
	}
	return needs, nil
}

// NewLink makes a link that logs a user in, once. Without a name it is the set-up link,
// which creates the first user; a newer set-up link replaces it. ttl zero means 15
// minutes, and a day for the set-up link.
func (s *Store) NewLink(ctx context.Context, by Subject, name string, ttl time.Duration) (secret string, err error) {
	if err := Allow(by, Administer, Object{Kind: "user"}); err != nil {
		return "", err
	}
	if ttl == 0 {
		if ttl = linkTTL; name == "" {
			ttl = setupTTL
		}
	}
	if ttl < time.Second || ttl > mostLinkTTL {
		return "", problem.Refuse("ttl", "for example 15m", "a link lives between a second and a week")
	}
	secret = newSecret(linkSecret)
	hash, err := hashOf(linkSecret, secret)
	if err != nil {
		return "", err
	}
	err = s.tx(ctx, "make a link", func(tx pgx.Tx) error {
		if name == "" {
			return s.insertSetup(ctx, tx, by, hash, ttl)
		}
		u, err := s.user(ctx, tx, name, "for share")
		if err != nil {
			return err
		}
		if u.Disabled() {
			return problem.New(problem.Conflict, "enable it first", "%s is disabled", u.Name).Run("weir user enable " + u.Name)
		}
		if err := s.insertLink(ctx, tx, hash, &u.ID, ttl); err != nil {
			return err
		}
		return s.note(ctx, tx, event{by: by, typ: "link_created", subject: u.Name, message: "link to log in created"})
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func (s *Store) insertSetup(ctx context.Context, tx pgx.Tx, by Subject, hash []byte, ttl time.Duration) error {
	if err := lockSetup(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from weir.links where user_id is null`); err != nil {
		return err
	}
	if err := s.insertLink(ctx, tx, hash, nil, ttl); err != nil {
		return err
	}
	return s.note(ctx, tx, event{by: by, typ: "link_created", message: "set-up link created"})
}

func (s *Store) insertLink(ctx context.Context, tx pgx.Tx, hash []byte, userID *string, ttl time.Duration) error {
	_, err := tx.Exec(ctx, `
		insert into weir.links (hash, user_id, created_at, expires_at) select $2, $3, t, t + $4::interval from coalesce($1, now()) t`, s.clock(), hash, userID, ttl)
	return err
}

// lockSetup makes set-ups run one after another, and refuses if there is a user.
func lockSetup(ctx context.Context, tx pgx.Tx) error {
	if err := lockUsers(ctx, tx); err != nil {
		return err
	}
	var users bool
	if err := tx.QueryRow(ctx, `select exists (select from weir.users)`).Scan(&users); err != nil {
		return err
	}
	if users {
		return problem.New(problem.Conflict, "log in, or make a link for a user", "Weir is set up already").Run("weir user link NAME")
	}
	return nil
}

// Link describes a link without using it, because mail programs and chats open links to
// show a preview.
func (s *Store) Link(ctx context.Context, secret string) (LinkInfo, error) {
	hash, err := hashOf(linkSecret, secret)
	if err != nil {
		return LinkInfo{}, err
	}
	return s.link(ctx, s.pool, `
		select l.user_id is null, coalesce(u.name, ''), l.expires_at from weir.links l left join weir.users u on u.id = l.user_id
		where l.hash = $2 and l.expires_at > coalesce($1, now()) and u.disabled_at is null and (l.user_id is not null or not exists (select from weir.users))`, hash)
}

func (s *Store) link(ctx context.Context, db querier, sql string, hash []byte) (info LinkInfo, err error) {
	err = db.QueryRow(ctx, sql, s.clock(), hash).Scan(&info.Setup, &info.User, &info.ExpiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return info, refused(linkSecret)
	}
	if err != nil {
		return info, fmt.Errorf("read link: %w", err)
	}
	return info, nil
}

// UseLink uses a link up and starts a session. n is for the set-up link alone; if it is
// refused, the link is not used up.
func (s *Store) UseLink(ctx context.Context, secret string, n NewUser, from Client) (session string, subject Subject, err error) {
	info, err := s.Link(ctx, secret)
	if err != nil {
		return "", Subject{}, err
	}
	hash, err := hashOf(linkSecret, secret)
	if err != nil {
		return "", Subject{}, err
	}
	var password *string
	if info.Setup {
		n.Role = Admin
		if err := n.check(); err != nil {
			return "", Subject{}, err
		}
		if password, err = n.hash(ctx); err != nil {
			return "", Subject{}, err
		}
	}
	err = s.tx(ctx, "use the link", func(tx pgx.Tx) error {
		// Lock the user before the link, in the same order as a deletion of the user.
		u, err := s.linkUser(ctx, tx, info, n, password)
		if err != nil {
			return err
		}
		// Of two browsers that use the link at once, one deletes the row and the other
		// finds none.
		if _, err := s.link(ctx, tx, `
			delete from weir.links where hash = $2 and expires_at > coalesce($1, now()) returning user_id is null, '', expires_at`, hash); err != nil {
			return err
		}
		session, subject, err = s.startSession(ctx, tx, u, "link", from)
		return err
	})
	if err != nil {
		return "", Subject{}, err
	}
	return session, subject, nil
}

// linkUser returns the user that a link logs in.
func (s *Store) linkUser(ctx context.Context, tx pgx.Tx, info LinkInfo, n NewUser, password *string) (User, error) {
	if info.Setup {
		if err := lockSetup(ctx, tx); err != nil {
			return User{}, err
		}
		return s.insertUser(ctx, tx, System("set-up link"), n, password)
	}
	// "for share" would be wrong: all transactions that use the link at once would hold it, and
	// none could record the login.
	u, err := s.user(ctx, tx, info.User, "for no key update")
	if err == nil && u.Disabled() {
		err = refused(linkSecret)
	}
	return u, err
}
