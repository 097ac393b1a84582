package auth

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

// User is a person.
type User struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
	Role  Role   `json:"role"`
	// Password reports whether the user has one.
	Password bool `json:"password"`
	// Issuer names the identity provider, if the user comes from one.
	Issuer     string     `json:"issuer,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	LoginAt    *time.Time `json:"login_at,omitempty"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
}

// Disabled reports whether the user may not log in.
func (u User) Disabled() bool { return u.DisabledAt != nil }

// Place returns the parts of the address of a user.
func (u User) Place() []string { return []string{"users", u.Name} }

// NewUser describes a user to create.
type NewUser struct {
	Name string `json:"name"`
	// Role is empty in a set-up link: the first user is an admin.
	Role  Role   `json:"role" enum:"viewer,operator,maintainer,admin"`
	Email string `json:"email,omitempty"`
	// Password may be empty: then the user needs a link to log in.
	Password string `json:"password,omitempty" doc:"Left out: the user needs a link to log in."`
}

var (
	nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

	// ErrLastAdmin is the cause of the refusal to remove the last admin.
	ErrLastAdmin = errors.New("the last admin")
)

// fold returns the canonical form of a typed name.
func fold(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// check returns an error if a field is invalid.
func (n *NewUser) check() error {
	n.Name = fold(n.Name)
	if !nameForm.MatchString(n.Name) {
		return problem.Refuse("name", "1 to 64 letters, digits and . _ @ + -, starting with a letter or a digit", "%q is not a name for a user", n.Name)
	}
	if n.Email != "" {
		if a, err := mail.ParseAddress(n.Email); err != nil || a.Address != n.Email || len(n.Email) > 254 {
			return problem.Refuse("email", "for example ada@example.com, or leave it out", "%q is not an address", n.Email)
		}
	}
	if _, err := ParseRole(string(n.Role)); err != nil {
		return err
	}
	if n.Password == "" {
		return nil
	}
	return CheckPassword(n.Name, n.Password)
}

const userColumns = `u.id::text, u.name, coalesce(u.email, ''), u.role, u.password is not null, coalesce(u.issuer, ''), u.created_at, u.login_at, u.disabled_at`

func userInto(u *User) []any {
	return []any{&u.ID, &u.Name, &u.Email, &u.Role, &u.Password, &u.Issuer, &u.CreatedAt, &u.LoginAt, &u.DisabledAt}
}

// Users lists users by name.
func (s *Store) Users(ctx context.Context, page Page) ([]User, error) {
	return collect(ctx, s.pool, "list users", userInto, `select `+userColumns+` from weir.users u where u.name > $1 order by u.name limit $2`, page.After, page.limit())
}

// User returns the user with a name.
func (s *Store) User(ctx context.Context, name string) (User, error) {
	return s.user(ctx, s.pool, name, "")
}

func (s *Store) user(ctx context.Context, db querier, name, lock string) (u User, err error) {
	err = db.QueryRow(ctx, `select `+userColumns+` from weir.users u where u.name = $1 `+lock, fold(name)).Scan(userInto(&u)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return u, problem.New(problem.NotFound, "see who there is", "there is no user %q", oneLine(fold(name), 64)).Run("weir user list")
	}
	if err != nil {
		return u, fmt.Errorf("read user: %w", err)
	}
	return u, nil
}

// CreateUser adds a user. It takes an admin.
func (s *Store) CreateUser(ctx context.Context, by Subject, n NewUser) (u User, err error) {
	if err := Allow(by, Administer, Object{Kind: "user"}); err != nil {
		return u, err
	}
	if err := n.check(); err != nil {
		return u, err
	}
	hash, err := n.hash(ctx)
	if err != nil {
		return u, err
	}
	err = s.tx(ctx, "create user", func(tx pgx.Tx) error {
		u, err = s.insertUser(ctx, tx, by, n, hash)
		return err
	})
	return u, err
}

// hash returns the hash of the password, or nil if there is none. It is slow, so call it
// outside of a transaction.
func (n NewUser) hash(ctx context.Context) (*string, error) {
	if n.Password == "" {
		return nil, nil
	}
	hash, err := hashPassword(ctx, n.Password)
	return &hash, err
}

func (s *Store) insertUser(ctx context.Context, tx pgx.Tx, by Subject, n NewUser, hash *string) (u User, err error) {
	if err := lockUsers(ctx, tx); err != nil {
		return u, err
	}
	err = tx.QueryRow(ctx, `
		insert into weir.users as u (id, name, email, role, password, created_at)
		values (weir._id(coalesce($1, now())), $2, nullif($3, ''), $4, $5, coalesce($1, now())) returning `+userColumns,
		s.clock(), n.Name, n.Email, n.Role, hash).Scan(userInto(&u)...)
	if taken(err) {
		return u, problem.New(problem.Conflict, "choose another name", "there is a user %q already", n.Name)
	}
	if err != nil {
		return u, err
	}
	return u, s.note(ctx, tx, event{by: by, typ: "user_created", subject: u.Name, message: "created with the role " + string(u.Role), data: map[string]any{"role": u.Role}})
}

// change locks a user and lets f change it, if by may. f returns the event of the change.
func (s *Store) change(ctx context.Context, by Subject, op, name string, f func(tx pgx.Tx, u User) (event, error)) error {
	if err := Allow(by, Administer, Object{Kind: "user"}); err != nil {
		return err
	}
	return s.tx(ctx, op, func(tx pgx.Tx) error {
		if err := lockUsers(ctx, tx); err != nil {
			return err
		}
		u, err := s.user(ctx, tx, name, "for update")
		if err != nil {
			return err
		}
		e, err := f(tx, u)
		if err != nil || e.typ == "" {
			return err
		}
		e.by, e.subject = by, u.Name
		return s.note(ctx, tx, e)
	})
}

// lockUsers makes transactions that create, change and remove users run one after
// another, so that two admins cannot remove each other at once. It does not wait for a
// login.
func lockUsers(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `select pg_advisory_xact_lock(97, 0)`)
	return err
}

// keepAdmin refuses the change if no other admin who may log in would remain.
func keepAdmin(ctx context.Context, tx pgx.Tx, u User) error {
	if u.Role != Admin || u.Disabled() {
		return nil
	}
	var others bool
	err := tx.QueryRow(ctx, `select exists (select from weir.users where role = 'admin' and disabled_at is null and id <> $1)`, u.ID).Scan(&others)
	if err != nil || others {
		return err
	}
	p := problem.New(problem.Conflict, "make somebody else an admin first", "%s is the last admin", u.Name).Run("weir user role NAME admin")
	p.Err = ErrLastAdmin
	return p
}

// SetRole gives a user another role. It takes effect with the next request.
func (s *Store) SetRole(ctx context.Context, by Subject, name string, role Role) error {
	if _, err := ParseRole(string(role)); err != nil {
		return err
	}
	return s.change(ctx, by, "set role", name, func(tx pgx.Tx, u User) (event, error) {
		if u.Role == role {
			return event{}, nil
		}
		if err := keepAdmin(ctx, tx, u); err != nil {
			return event{}, err
		}
		_, err := tx.Exec(ctx, `update weir.users set role = $2 where id = $1`, u.ID, role)
		return event{typ: "role_set", message: fmt.Sprintf("role %s, was %s", role, u.Role), data: map[string]any{"role": role, "was": u.Role}}, err
	})
}

// Disable keeps a user from logging in and ends their sessions. Their tokens are refused
// meanwhile.
func (s *Store) Disable(ctx context.Context, by Subject, name string) error {
	return s.change(ctx, by, "disable user", name, func(tx pgx.Tx, u User) (event, error) {
		if u.Disabled() {
			return event{}, nil
		}
		if err := keepAdmin(ctx, tx, u); err != nil {
			return event{}, err
		}
		if _, err := tx.Exec(ctx, `update weir.users set disabled_at = coalesce($1, now()) where id = $2`, s.clock(), u.ID); err != nil {
			return event{}, err
		}
		return event{typ: "user_disabled", message: "disabled"}, endSessions(ctx, tx, u.ID, "")
	})
}

// Enable lets a disabled user log in again.
func (s *Store) Enable(ctx context.Context, by Subject, name string) error {
	return s.change(ctx, by, "enable user", name, func(tx pgx.Tx, u User) (event, error) {
		if !u.Disabled() {
			return event{}, nil
		}
		_, err := tx.Exec(ctx, `update weir.users set disabled_at = null where id = $1`, u.ID)
		return event{typ: "user_enabled", message: "enabled"}, err
	})
}

// DeleteUser removes a user with their sessions, tokens and links.
func (s *Store) DeleteUser(ctx context.Context, by Subject, name string) error {
	return s.change(ctx, by, "delete user", name, func(tx pgx.Tx, u User) (event, error) {
		if err := keepAdmin(ctx, tx, u); err != nil {
			return event{}, err
		}
		_, err := tx.Exec(ctx, `delete from weir.users where id = $1`, u.ID)
		return event{typ: "user_deleted", message: "deleted"}, err
	})
}

// SetPassword sets a password. Users must give the old one of their own account; an admin
// sets the password of another user without it. Every other session of the user ends.
func (s *Store) SetPassword(ctx context.Context, by Subject, name, old, password string) error {
	u, err := s.User(ctx, name)
	if err != nil {
		if refusal := Allow(by, Manage, Object{Kind: "user", Owner: "somebody"}); refusal != nil {
			return refusal
		}
		return err
	}
	if err := Allow(by, Manage, Object{Kind: "user", Owner: u.ID}); err != nil {
		return err
	}
	if u.Issuer != "" {
		return problem.New(problem.Conflict, "change the password there", "%s logs in at %s", u.Name, u.Issuer)
	}
	if err := CheckPassword(u.Name, password); err != nil {
		return err
	}
	if by.UserID == u.ID && u.Password {
		if err := s.checkOld(ctx, u, old); err != nil {
			return err
		}
	}
	hash, err := hashPassword(ctx, password)
	if err != nil {
		return err
	}
	return s.tx(ctx, "set password", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `update weir.users set password = $2 where id = $1`, u.ID, hash); err != nil {
			return err
		}
		keep := ""
		if by.UserID == u.ID {
			keep = by.Session
		}
		if err := endSessions(ctx, tx, u.ID, keep); err != nil {
			return err
		}
		return s.note(ctx, tx, event{by: by, typ: "password_set", subject: u.Name, message: "password set"})
	})
}

// checkOld counts like a login, so that an open session cannot be used to guess the
// password.
func (s *Store) checkOld(ctx context.Context, u User, old string) error {
	from := Client{Address: "password of " + u.ID}
	if err := s.attempt(ctx, u.Name, from); err != nil {
		return err
	}
	var hash string
	if err := s.pool.QueryRow(ctx, `select coalesce(password, '') from weir.users where id = $1`, u.ID).Scan(&hash); err != nil {
		return fmt.Errorf("read password: %w", err)
	}
	good, _, err := verifyPassword(ctx, hash, old)
	if err != nil {
		return err
	}
	if !good {
		return problem.Refuse("old", "give the password you log in with, or ask an admin to set a new one", "the old password is wrong")
	}
	return s.tx(ctx, "count the attempt", func(tx pgx.Tx) error { return s.forgive(ctx, tx, u.Name, from) })
}
