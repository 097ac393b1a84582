package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

// Login starts a session for a person who knows the password. Unknown name, no password,
// disabled and wrong password give the same answer after the same work.
func (s *Store) Login(ctx context.Context, name, password string, from Client) (secret string, _ Subject, err error) {
	name = fold(name)
	u, hash, err := s.account(ctx, name)
	if err != nil {
		return "", Subject{}, err
	}
	if err := s.attempt(ctx, name, from); err != nil {
		return "", Subject{}, err
	}
	good, stale, err := verifyPassword(ctx, hash, password)
	if err != nil {
		return "", Subject{}, err
	}
	if !good || u.Disabled() {
		if err := s.noteFailed(ctx, u, good, "password", from); err != nil {
			return "", Subject{}, err
		}
		return "", Subject{}, wrong()
	}
	fresh := ""
	if stale {
		if fresh, err = hashPassword(ctx, password); err != nil {
			return "", Subject{}, err
		}
	}
	var subject Subject
	err = s.tx(ctx, "log in", func(tx pgx.Tx) error {
		if err := s.forgive(ctx, tx, name, from); err != nil {
			return err
		}
		// An admin may have disabled the user, or changed the password, since it was
		// read.
		tag, err := tx.Exec(ctx, `
			update weir.users set password = coalesce(nullif($3, ''), password) where id = $1 and password = $2 and disabled_at is null`, u.ID, hash, fresh)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return wrong()
		}
		secret, subject, err = s.startSession(ctx, tx, u, "password", from)
		return err
	})
	if err != nil {
		return "", Subject{}, err
	}
	return secret, subject, nil
}

// account returns the user with a name and the hash of their password. Both are empty if
// there is none.
func (s *Store) account(ctx context.Context, name string) (u User, hash string, err error) {
	if !nameForm.MatchString(name) {
		return u, "", nil
	}
	err = s.pool.QueryRow(ctx, `select `+userColumns+`, coalesce(u.password, '') from weir.users u where u.name = $1`, name).Scan(append(userInto(&u), &hash)...)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return u, "", fmt.Errorf("log in: %w", err)
	}
	return u, hash, nil
}

func wrong() error {
	return problem.New(problem.Unauthenticated, "check both; an admin can give you a link to log in", "the name or the password is wrong").Run("weir user link NAME")
}

// noteFailed records a login that failed. The name is recorded only if it is a user's,
// because people type passwords where names belong.
func (s *Store) noteFailed(ctx context.Context, u User, good bool, method string, from Client) error {
	message := "wrong password"
	switch {
	case u.ID == "":
		message = "unknown name"
	case good:
		message = "the user is disabled"
	}
	return s.note(ctx, s.pool, event{
		typ: "login_failed", level: "warn", subject: u.Name, message: message, data: map[string]any{"address": from.Address, "method": method},
	})
}
