package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// identity is a person as an identity provider knows them. issuer and subject identify
// the person. Name and e-mail are labels that people choose, so they never lead to an
// account.
type identity struct {
	issuer, subject string
	name, email     string
	role            Role
}

// endVisit uses a visit up and returns the time by which the answer is judged.
func (s *Store) endVisit(ctx context.Context, state string) (now time.Time, err error) {
	sum := sha256.Sum256([]byte(state))
	err = s.pool.QueryRow(ctx, `delete from weir.oidc_visits where hash = $2 and expires_at > coalesce($1, now()) returning coalesce($1, now())`, s.clock(), sum[:]).Scan(&now)
	if errors.Is(err, pgx.ErrNoRows) {
		return now, refused(visitSecret)
	}
	if err != nil {
		return now, fmt.Errorf("end a visit to the identity provider: %w", err)
	}
	return now, nil
}

// identityLogin starts a session for an identity, and creates its user at the first
// login. follow means that the provider decides the role.
func (s *Store) identityLogin(ctx context.Context, who identity, follow bool, from Client) (secret string, subject Subject, err error) {
	var disabled *User
	err = s.tx(ctx, "log in", func(tx pgx.Tx) error {
		// Two browsers may log in for the first time at once.
		if err := lockUsers(ctx, tx); err != nil {
			return err
		}
		u, err := s.identityUser(ctx, tx, who, follow)
		if err != nil {
			return err
		}
		if u.Disabled() {
			disabled = &u
			return nil
		}
		secret, subject, err = s.startSession(ctx, tx, u, "oidc", from)
		return err
	})
	if err != nil {
		return "", Subject{}, err
	}
	if disabled != nil {
		if err := s.noteFailed(ctx, *disabled, true, "oidc", from); err != nil {
			return "", Subject{}, err
		}
		return "", Subject{}, distrust("the user is disabled")
	}
	return secret, subject, nil
}

func (s *Store) identityUser(ctx context.Context, tx pgx.Tx, who identity, follow bool) (u User, err error) {
	err = tx.QueryRow(ctx, `select `+userColumns+` from weir.users u where u.issuer = $1 and u.subject = $2 for update`, who.issuer, who.subject).Scan(userInto(&u)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.insertIdentity(ctx, tx, who)
	}
	if err != nil || !follow || u.Role == who.role {
		return u, err
	}
	if err := keepAdmin(ctx, tx, u); err != nil {
		if errors.Is(err, ErrLastAdmin) {
			s.log.Warn("the identity provider takes the role of the last admin away; it stays", "user", u.Name)
			return u, nil
		}
		return u, err
	}
	if _, err := tx.Exec(ctx, `update weir.users set role = $2 where id = $1`, u.ID, who.role); err != nil {
		return u, err
	}
	was := u.Role
	u.Role = who.role
	return u, s.note(ctx, tx, event{
		by: System("identity provider"), typ: "role_set", subject: u.Name, message: fmt.Sprintf("role %s, was %s", u.Role, was), data: map[string]any{"role": u.Role, "was": was},
	})
}

// insertIdentity creates the user of an identity. If the name is taken, its owner keeps
// it, and the new user's name gets a suffix.
func (s *Store) insertIdentity(ctx context.Context, tx pgx.Tx, who identity) (u User, err error) {
	sum := sha256.Sum256([]byte(who.issuer + "\n" + who.subject))
	name := nameFrom(who.name)
	var isTaken bool
	if err := tx.QueryRow(ctx, `select exists (select from weir.users where name = $1)`, name).Scan(&isTaken); err != nil {
		return u, err
	}
	if isTaken {
		name = name[:min(len(name), 64-9)] + "-" + hex.EncodeToString(sum[:4])
	}
	if a, err := mail.ParseAddress(who.email); err != nil || a.Address != who.email || len(who.email) > 254 {
		who.email = ""
	}
	u, err = s.insertUser(ctx, tx, System("identity provider"), NewUser{Name: name, Email: who.email, Role: who.role}, nil)
	if err != nil {
		return u, err
	}
	u.Issuer = who.issuer
	_, err = tx.Exec(ctx, `update weir.users set issuer = $2, subject = $3 where id = $1`, u.ID, who.issuer, who.subject)
	return u, err
}

var notInNames = regexp.MustCompile(`[^a-z0-9._@+-]+`)

// nameFrom makes a user name from the name that a provider gives a person.
func nameFrom(s string) string {
	s = strings.TrimLeft(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "._@+-")
	s = strings.TrimRight(s[:min(len(s), 64)], "-")
	if s == "" {
		return "user"
	}
	return s
}
