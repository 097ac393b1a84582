package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/weirhq/weir/internal/problem"
)

// cost is the work of one guess. An old hash keeps its cost and gets this one at the next
// login.
type cost struct {
	memory  uint32 // KiB
	time    uint32
	threads uint8
}

var today = cost{memory: 19 * 1024, time: 2, threads: 1}

const (
	saltBytes, hashBytes = 16, 32
	leastPassword        = 12   // characters
	mostPassword         = 1024 // bytes
	// mostHashes limits the memory that logins take: 4 × 19 MiB.
	mostHashes = 4
	// hashPatience is how long a login waits for its turn.
	hashPatience = 10 * time.Second
)

var (
	hashing = make(chan struct{}, mostHashes)
	// hashed counts the hashes that were computed, so that a test sees that an unknown
	// name costs as much as a known one.
	hashed atomic.Int64
	// nobodys is the hash that is checked if there is no user.
	nobodys = sync.OnceValue(func() string { return encode(today, make([]byte, saltBytes), make([]byte, hashBytes)) })
)

// CheckPassword returns an error if a new password is not acceptable. name is the name of
// its user.
func CheckPassword(name, password string) error {
	refuse := func(format string, args ...any) error {
		return problem.Refuse("password", "take a few words that do not belong together", format, args...)
	}
	distinct := map[rune]bool{}
	for _, r := range password {
		distinct[r] = true
	}
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return refuse("not text")
	case utf8.RuneCountInString(password) < leastPassword:
		return refuse("shorter than %d characters", leastPassword)
	case len(password) > mostPassword:
		return refuse("longer than %d bytes", mostPassword)
	case len(distinct) < 5:
		return refuse("too few different characters")
	case name != "" && strings.Contains(strings.ToLower(password), name) && len(password) < leastPassword+len(name):
		return refuse("little more than the name")
	}
	return nil
}

// hashPassword returns the text that the database keeps.
func hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	key, err := derive(ctx, today, password, salt)
	if err != nil {
		return "", err
	}
	return encode(today, salt, key), nil
}

// verifyPassword does the same work whether there is a hash or not. stale reports that
// the hash has a lower cost than today's.
func verifyPassword(ctx context.Context, hash, password string) (good, stale bool, err error) {
	known := hash != ""
	if !known {
		hash = nobodys()
	}
	c, salt, want, err := decode(hash)
	if err != nil {
		return false, false, err
	}
	if len(password) > mostPassword {
		password, known = "", false
	}
	got, err := derive(ctx, c, password, salt)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && known, c != today, nil
}

// derive waits for its turn and computes the hash.
func derive(ctx context.Context, c cost, password string, salt []byte) ([]byte, error) {
	wait, cancel := context.WithTimeout(ctx, hashPatience)
	defer cancel()
	select {
	case hashing <- struct{}{}:
	case <-wait.Done():
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, throttled(hashPatience, "too many people log in at once")
	}
	defer func() { <-hashing }()
	hashed.Add(1)
	return argon2.IDKey(norm.NFC.AppendString(nil, password), salt, c.time, c.memory, c.threads, hashBytes), nil
}

// encode writes the usual (PHC) form.
func encode(c cost, salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.time, c.threads, b64.EncodeToString(salt), b64.EncodeToString(key))
}

func decode(hash string) (c cost, salt, key []byte, err error) {
	fail := func() (cost, []byte, []byte, error) {
		return cost{}, nil, nil, fmt.Errorf("read a password hash: unknown form")
	}
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return fail()
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.time, &c.threads); err != nil || c.memory > 1<<20 || c.time < 1 || c.time > 100 || c.threads < 1 {
		return fail()
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return fail()
	}
	if key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(key) != hashBytes {
		return fail()
	}
	return c, salt, key, nil
}
