package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

// Rotation is the result of a rotation.
type Rotation struct {
	// Key is the id of the key that seals now: the first of the key file.
	Key string `json:"key"`
	// Sealed is how many secrets were sealed with it, Before how many were already.
	Sealed int `json:"sealed"`
	Before int `json:"before"`
	// Left is how many secrets another key still seals: those that failed, and those that
	// were set meanwhile on a server that did not know the key.
	Left   int             `json:"left"`
	Failed []RotationFault `json:"failed"`
}

// RotationFault is a secret that could not be sealed anew.
type RotationFault struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// Rotate seals with the first key the secrets that another one has sealed. It continues
// after a secret that does not open, and may be repeated at any time, also by two servers
// at once: each secret is one write, which changes nothing if the secret was set
// meanwhile.
func (v *Vault) Rotate(ctx context.Context) (Rotation, error) {
	keys := v.current()
	if len(keys.keys) == 0 {
		return Rotation{}, keys.none()
	}
	done := Rotation{Key: keys.keys[0].id, Failed: []RotationFault{}}
	err := v.pool.QueryRow(ctx, `select count(*) from weir.secrets s where s.key_id = $1`, done.Key).Scan(&done.Before)
	if err != nil {
		return done, fmt.Errorf("rotate secrets: %w", err)
	}
	for after, more := "", true; more; {
		boxes, err := v.sealedOtherwise(ctx, done.Key, after)
		if err != nil {
			return done, fmt.Errorf("rotate secrets: %w", err)
		}
		for _, b := range boxes {
			after = b.Name
			resealed, err := v.reseal(ctx, keys, b)
			switch own := new(problem.Problem); {
			case errors.As(err, &own):
				done.Failed = append(done.Failed, RotationFault{b.Name, own.What})
			case err != nil:
				return done, fmt.Errorf("rotate secrets: %w", err)
			case resealed:
				done.Sealed++
			}
		}
		more = len(boxes) == rotateBatch
	}
	err = v.pool.QueryRow(ctx, `select count(*) from weir.secrets s where s.key_id <> $1`, done.Key).Scan(&done.Left)
	if err != nil {
		return done, fmt.Errorf("rotate secrets: %w", err)
	}
	v.log.Warn("rotated secrets", "key", done.Key, "sealed", done.Sealed, "left", done.Left)
	return done, nil
}

// sealedOtherwise returns secrets that another key has sealed, by name, after a name.
func (v *Vault) sealedOtherwise(ctx context.Context, key, after string) ([]box, error) {
	rows, err := v.pool.Query(ctx, `select s.name, s.version, s.key_id, s.sealed from weir.secrets s
		where s.key_id <> $1 and s.name > $2 collate "C" order by s.name collate "C" limit $3`, key, after, rotateBatch)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[box])
}

// reseal does not change a secret that was set meanwhile: it is sealed with a newer key,
// or the next Rotate handles it.
func (v *Vault) reseal(ctx context.Context, keys Keys, b box) (done bool, err error) {
	value, err := keys.unseal(b)
	if err != nil {
		return false, err
	}
	with := keys.keys[0]
	sealed, err := with.seal(b.Name, b.Version, value)
	if err != nil {
		return false, err
	}
	err = v.pool.QueryRow(ctx, `select weir.reseal_secret($1, $2, $3, $4, $5)`, b.Name, b.Version, b.KeyID, sealed, with.id).Scan(&done)
	return done, err
}

// stamp changes when a file is written.
type stamp struct {
	at   time.Time
	size int64
}

func stampOf(path string) (s stamp) {
	if info, err := os.Stat(path); err == nil {
		s = stamp{info.ModTime(), info.Size()}
	}
	return s
}

// Follow makes the vault read its keys again whenever the file has changed, so that a new
// key is known without a restart, and a key whose line was removed seals nothing more.
func (v *Vault) Follow(file string) *Vault {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.file = file // seen stays empty, so that the first use reads it
	return v
}

// current returns the keys of the file. A file that cannot be read changes nothing,
// because its writer may be in the middle.
func (v *Vault) current() Keys {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.file == "" {
		return v.keys
	}
	now := stampOf(v.file)
	if now == v.seen {
		return v.keys
	}
	keys, err := LoadKeys(v.file, false)
	if err != nil {
		v.log.Error("the key file cannot be used; the keys that were read before stay", "error", err)
	} else {
		v.keys = keys
	}
	v.seen = now
	return v.keys
}
