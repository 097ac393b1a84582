package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/problem"
)

const (
	valueMost = 64 << 10
	noteMost  = 500
	// putTries is how often a Put starts over because another caller set the same secret
	// meanwhile.
	putTries = 10
	// rotateBatch is how many secrets one statement of Rotate reads.
	rotateBatch = 200
)

var goodName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// Vault keeps secrets in one database. It is safe for concurrent use, and
// several servers share one database if they have the same keys.
type Vault struct {
	pool *pgxpool.Pool
	log  *slog.Logger

	mu   sync.Mutex
	keys Keys
	// file is the file of the keys, if they may change while the vault lives; seen is its
	// stamp when they were read.
	file string
	seen stamp
}

// Secret describes a secret without its value.
type Secret struct {
	Name      string    `json:"name"`
	Version   int       `json:"version"`
	By        string    `json:"by,omitempty"`
	Note      string    `json:"note,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`
}

// New makes a vault on a pool that the caller keeps. The pool's user must own the schema,
// because no other role can access the table. Without keys a vault lists and deletes, and
// every other call fails with the reason. A nil log discards.
func New(pool *pgxpool.Pool, keys Keys, log *slog.Logger) *Vault {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Vault{pool: pool, keys: keys, log: log}
}

// Pool returns the database of the vault, for what signs something of it.
func (v *Vault) Pool() *pgxpool.Pool { return v.pool }

// querier is implemented by a pool and by a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Put sets a secret, or gives it a new version.
func (v *Vault) Put(ctx context.Context, by, name, value, note string) error {
	return v.set(ctx, v.pool, by, name, value, note)
}

// PutWithin is Put in a transaction of the caller: the secret is set if that commits.
func (v *Vault) PutWithin(ctx context.Context, tx pgx.Tx, by, name, value, note string) error {
	return v.set(ctx, tx, by, name, value, note)
}

func (v *Vault) set(ctx context.Context, db querier, by, name, value, note string) error {
	switch {
	case !goodName.MatchString(name):
		return problem.Refuse("name", "letters, digits and _, not a digit first, at most 100: such as DB_PASSWORD", "%.120q is not a name for a secret", name)
	case strings.TrimSpace(value) == "":
		return problem.Refuse("value", "give a value, or remove the secret", "it is empty")
	case len(value) > valueMost:
		return problem.Refuse("value", "keep large files in the bucket", "%d bytes are over the limit of 64 KiB", len(value))
	case len(note) > noteMost:
		return problem.Refuse("note", "shorten it", "it is longer than %d bytes", noteMost)
	}
	keys := v.current()
	if len(keys.keys) == 0 {
		return keys.none()
	}
	for range putTries {
		set, err := v.put(ctx, db, keys.keys[0], by, name, value, note)
		if err != nil || set {
			return err
		}
	}
	return problem.New(problem.Conflict, "try again", "others set secret %s at the same time", name)
}

// put seals for the next version and stores it, unless another caller did meanwhile.
func (v *Vault) put(ctx context.Context, db querier, first key, by, name, value, note string) (set bool, err error) {
	version := 0
	err = db.QueryRow(ctx, `select s.version from weir.secrets s where s.name = $1`, name).Scan(&version)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("set secret %s: %w", name, err)
	}
	sealed, err := first.seal(name, version+1, value)
	if err != nil {
		return false, fmt.Errorf("set secret %s: %w", name, err)
	}
	err = db.QueryRow(ctx, `select weir.put_secret($1, $2, $3, $4, by => nullif($5, ''), note => nullif($6, ''))`,
		name, sealed, first.id, version+1, by, note).Scan(&set)
	if err != nil {
		return false, fmt.Errorf("set secret %s: %w", name, err)
	}
	return set, nil
}

// List returns all secrets, by name. There are few, because each was typed.
func (v *Vault) List(ctx context.Context) ([]Secret, error) {
	rows, err := v.pool.Query(ctx, `select s.name, s.version, coalesce(s.by, ''), coalesce(s.note, ''), s.created_at, s.changed_at
		from weir.secrets s order by s.name`)
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Secret])
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	return all, nil
}

// Delete removes a secret. Work that has received it keeps it.
func (v *Vault) Delete(ctx context.Context, by, name string) error {
	if _, err := v.pool.Exec(ctx, `select weir.drop_secret($1, by => nullif($2, ''))`, name, by); err != nil {
		return fmt.Errorf("remove secret %.120q: %w", name, err)
	}
	return nil
}

// Open returns the values of secrets by name. It returns all of them or none.
func (v *Vault) Open(ctx context.Context, names []string) (map[string]string, error) {
	values := make(map[string]string, len(names))
	if len(names) == 0 {
		return values, nil
	}
	keys := v.current()
	if len(keys.keys) == 0 {
		return nil, keys.none()
	}
	rows, err := v.pool.Query(ctx, `select s.name, s.version, s.key_id, s.sealed from weir.secrets s where s.name = any ($1)`, names)
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[box])
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	for _, b := range all {
		if values[b.Name], err = keys.unseal(b); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if _, ok := values[name]; !ok {
			return nil, problem.New(problem.NotFound, "set it", "there is no secret %.120q", name).Run("weir secret set NAME")
		}
	}
	return values, nil
}

// box is a secret in the form of the database.
type box struct {
	Name    string
	Version int
	KeyID   string
	Sealed  []byte
}

func (k Keys) unseal(b box) (string, error) {
	found, ok := k.find(b.KeyID)
	if !ok {
		return "", problem.New(problem.Failed, "put the line of that key back into the key file, or set the secret again",
			"secret %s was sealed with key %s, which is not in the key file", b.Name, b.KeyID)
	}
	return found.open(b.Name, b.Version, b.Sealed)
}

// none returns the error that there are no keys.
func (k Keys) none() error {
	if k.why != nil {
		return k.why
	}
	return problem.New(problem.Failed, "set secret_key_file (WEIR_SECRET_KEY_FILE) and start the server again", "this server has no key for secrets")
}
