package vault

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

const keyBytes = 32

// Keys seal and open secrets: the first one seals, all of them open. They print as their
// ids.
type Keys struct {
	keys []key
	// why is the reason why there are no keys; it becomes the error of every use.
	why error
}

type key struct {
	id   string
	bits [keyBytes]byte
}

// NoKeys returns an empty set whose uses fail with the reason why.
func NoKeys(why error) Keys { return Keys{why: why} }

// newKeys makes keys from bits, the newest first.
func newKeys(bits ...[keyBytes]byte) Keys {
	var k Keys
	for _, b := range bits {
		sum := sha256.Sum256(b[:])
		k.keys = append(k.keys, key{hex.EncodeToString(sum[:4]), b})
	}
	return k
}

// RandomKeys returns one new key, for a vault that lives no longer than its process.
func RandomKeys() Keys {
	return newKeys(randomBits())
}

// IDs returns the ids of the keys, which do not reveal them.
func (k Keys) IDs() []string {
	ids := make([]string, len(k.keys))
	for i := range k.keys {
		ids[i] = k.keys[i].id
	}
	return ids
}

// String returns the ids, so that printing the keys by accident reveals nothing.
func (k Keys) String() string { return "keys " + strings.Join(k.IDs(), ", ") }

// GoString is String.
func (k Keys) GoString() string { return k.String() }

func (k Keys) find(id string) (key, bool) {
	for _, c := range k.keys {
		if c.id == id {
			return c, true
		}
	}
	return key{}, false
}

// LoadKeys reads a key file: a key a line, 32 bytes in base64, the newest first. Lines
// that begin with # are comments. With create, a missing file is created with one new
// key. A file that other users may read is refused.
func LoadKeys(path string, create bool) (Keys, error) {
	text, err := os.ReadFile(path) // #nosec G304 -- the operator of the server names its key file
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := writeKeys(path, nil); err != nil && !errors.Is(err, fs.ErrExist) {
			return Keys{}, fmt.Errorf("make the key file: %w", err)
		}
		text, err = os.ReadFile(path) // #nosec G304 -- as above; another server may have been first
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Keys{}, problem.Refuse("secret_key_file", "copy it from the server that made it; without it no secret can be opened", "there is no file %s", path)
	}
	if err != nil {
		return Keys{}, fmt.Errorf("read the key file: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Keys{}, fmt.Errorf("read the key file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Keys{}, problem.Refuse("secret_key_file", "chmod 600 "+path, "others may read %s", path)
	}
	return parseKeys(path, text)
}

// AddKey puts a new key in front of those in the file: from the next start on it seals.
func AddKey(path string) error {
	if _, err := LoadKeys(path, false); err != nil {
		return err
	}
	old, err := os.ReadFile(path) // #nosec G304 -- the operator of the server names its key file
	if err != nil {
		return fmt.Errorf("read the key file: %w", err)
	}
	if err := writeKeys(path, old); err != nil {
		return fmt.Errorf("write the key file: %w", err)
	}
	return nil
}

// parseKeys reads the lines. An error names the line, never its text.
func parseKeys(path string, text []byte) (Keys, error) {
	var bits [][keyBytes]byte
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != keyBytes {
			return Keys{}, problem.Refuse("secret_key_file", "a key is 32 random bytes in base64: openssl rand -base64 32", "line %d of %s is not a key", n, path)
		}
		bits = append(bits, [keyBytes]byte(raw))
	}
	if err := lines.Err(); err != nil || len(bits) == 0 {
		return Keys{}, problem.Refuse("secret_key_file", "a key is 32 random bytes in base64: openssl rand -base64 32", "there is no key in %s", path)
	}
	return newKeys(bits...), nil
}

// writeKeys writes a new key and then the old lines. A new file appears complete, and
// never replaces another one, because two servers that start at once must end up with the
// same key.
func writeKeys(path string, old []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(dir, ".keys-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(draft.Name()); err == nil && !errors.Is(gone, fs.ErrNotExist) {
			err = gone
		}
	}()
	bits := randomBits()
	_, err = fmt.Fprintf(draft, "%s\n%s", base64.StdEncoding.EncodeToString(bits[:]), old)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if old != nil {
		return os.Rename(draft.Name(), path)
	}
	return os.Link(draft.Name(), path)
}

func randomBits() (bits [keyBytes]byte) {
	_, _ = rand.Read(bits[:]) // never fails
	return bits
}
