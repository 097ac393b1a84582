package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

const (
	tokenTTL     = 90 * 24 * time.Hour
	mostTokenTTL = 366 * 24 * time.Hour
)

// Token lets a program act for a user, within its scopes.
type Token struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	UserID    string     `json:"user_id"`
	User      string     `json:"user"`
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
	ExpiresAt time.Time  `json:"expires_at"`
}

// NewToken describes a token to create.
type NewToken struct {
	// Name describes what the token is for.
	Name string
	// Scopes are kind:verb, with * for all.
	Scopes []string
	// TTL is the lifetime, at most a year. Zero means 90 days.
	TTL time.Duration
	// User is the name of the user that the token acts for. Empty means the calling user.
	// The system has no user of its own and must name one; no other subject may.
	User string
}

func (n *NewToken) check() (err error) {
	n.Name = strings.TrimSpace(n.Name)
	if c := utf8.RuneCountInString(n.Name); c < 1 || c > 100 || oneLine(n.Name, 100) != n.Name {
		return problem.Refuse("name", "say what the token is for, for example ci", "a token has a name of 1 to 100 characters")
	}
	if n.TTL == 0 {
		n.TTL = tokenTTL
	}
	if n.TTL < time.Minute || n.TTL > mostTokenTTL {
		return problem.Refuse("ttl", "for example 2160h, which is 90 days", "a token lives between a minute and 366 days")
	}
	n.Scopes, err = checkScopes(n.Scopes)
	return err
}

// CreateToken creates a token. Its secret is returned only here.
func (s *Store) CreateToken(ctx context.Context, by Subject, n NewToken) (t Token, secret string, err error) {
	userID := by.UserID
	if n.User != "" || by.Kind == KindSystem {
		if by.Kind != KindSystem {
			return t, "", problem.Refuse("user", "leave it out", "a token acts for the one who makes it")
		}
		u, err := s.User(ctx, n.User)
		if err != nil {
			return t, "", err
		}
		userID = u.ID
	}
	if err := Allow(by, Manage, Object{Kind: "token", Owner: userID}); err != nil {
		return t, "", err
	}
	if err := n.check(); err != nil {
		return t, "", err
	}
	secret = newSecret(tokenSecret)
	hash, err := hashOf(tokenSecret, secret)
	if err != nil {
		return t, "", err
	}
	err = s.tx(ctx, "create token", func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			with made as (
				insert into weir.tokens (hash, id, user_id, name, scopes, created_at, expires_at)
				select $2, weir._id(t), $3, $4, $5, t, t + $6::interval from coalesce($1, now()) t returning *)
			select `+tokenColumns+` from made k join weir.users u on u.id = k.user_id`,
			s.clock(), hash, userID, n.Name, n.Scopes, n.TTL).Scan(tokenInto(&t)...)
		if taken(err) {
			return problem.New(problem.Conflict, "choose another name, or revoke that one first", "you have a token %q already", n.Name)
		}
		if err != nil {
			return err
		}
		return s.note(ctx, tx, event{
			by: by, typ: "token_created", subject: t.User, message: "token " + t.Name + " created",
			data: map[string]any{"token": t.ID, "name": t.Name, "scopes": t.Scopes, "expires_at": t.ExpiresAt},
		})
	})
	if err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

const tokenColumns = `k.id::text, k.name, u.id::text, u.name, k.scopes, k.created_at, k.used_at, k.expires_at` // #nosec G101 -- names of columns

func tokenInto(t *Token) []any {
	return []any{&t.ID, &t.Name, &t.UserID, &t.User, &t.Scopes, &t.CreatedAt, &t.UsedAt, &t.ExpiresAt}
}

// Tokens lists the subject's own tokens, or as an admin those of all users, also expired
// ones that were not swept yet.
func (s *Store) Tokens(ctx context.Context, by Subject, all bool) ([]Token, error) {
	verb, object := Read, Object{Kind: "token", Owner: by.UserID}
	if all {
		verb, object = Administer, Object{Kind: "token"}
	}
	if err := Allow(by, verb, object); err != nil {
		return nil, err
	}
	return collect(ctx, s.pool, "list tokens", tokenInto, `
		select `+tokenColumns+` from weir.tokens k join weir.users u on u.id = k.user_id where $1 or u.id::text = $2 order by u.name, k.name limit 1000`, all, by.UserID)
}

// RevokeToken ends a token: one of the subject's own, or as an admin any token.
func (s *Store) RevokeToken(ctx context.Context, by Subject, id string) error {
	return s.tx(ctx, "revoke token", func(tx pgx.Tx) error {
		var owner, user, name string
		err := tx.QueryRow(ctx, `
			select u.id::text, u.name, k.name from weir.tokens k join weir.users u on u.id = k.user_id where k.id::text = $1 for update of k`, id).Scan(&owner, &user, &name)
		if errors.Is(err, pgx.ErrNoRows) {
			return absent(by, "token", id)
		}
		if err != nil {
			return err
		}
		// A token may end itself, because that takes rights away and grants none.
		if self := by.Kind == KindToken && by.ID == id; !self {
			if err := Allow(by, Manage, Object{Kind: "token", Owner: owner}); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `delete from weir.tokens where id::text = $1`, id); err != nil {
			return err
		}
		return s.note(ctx, tx, event{by: by, typ: "token_revoked", subject: user, message: "token " + name + " revoked", data: map[string]any{"token": id, "name": name}})
	})
}

// Token returns the subject of a token's secret.
func (s *Store) Token(ctx context.Context, secret string) (Subject, error) {
	hash, err := hashOf(tokenSecret, secret)
	if err != nil {
		return Subject{}, err
	}
	subject := Subject{Kind: KindToken}
	var touch bool
	err = s.pool.QueryRow(ctx, `
		select k.id::text, k.name, k.scopes, u.id::text, u.name, u.role, coalesce(k.used_at < t - $3::interval, true)
		from weir.tokens k join weir.users u on u.id = k.user_id, coalesce($1, now()) t
		where k.hash = $2 and k.expires_at > t and u.disabled_at is null`,
		s.clock(), hash, touchEvery).Scan(&subject.ID, &subject.Token, &subject.Scopes, &subject.UserID, &subject.Name, &subject.Role, &touch)
	if errors.Is(err, pgx.ErrNoRows) {
		return Subject{}, refused(tokenSecret)
	}
	if err != nil {
		return Subject{}, fmt.Errorf("read token: %w", err)
	}
	if touch {
		// A failed update of the last use does no harm: the next request tries again.
		if _, err := s.pool.Exec(ctx, `
			update weir.tokens set used_at = coalesce($1, now()) where hash = $2 and (used_at is null or used_at < coalesce($1, now()) - $3::interval)`, s.clock(), hash, touchEvery); err != nil {
			s.log.Warn("note the use of a token", "error", err)
		}
	}
	return subject, nil
}
