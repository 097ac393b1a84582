package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// A secret is "weir_KIND_" + 43 digits of 256 random bits + 6 digits of their
// checksum, in base 62. The prefix lets a scanner find it in a repository, the
// checksum lets us refuse a mistyped one without asking the database.
const (
	randomDigits   = 43
	checksumDigits = 6
)

// secretKind is the part of a secret that tells what it is for.
type secretKind string

const (
	sessionSecret secretKind = "ses"
	tokenSecret   secretKind = "pat"
	linkSecret    secretKind = "link"
	joinSecret    secretKind = "join"
	nodeSecret    secretKind = "node"
	visitSecret   secretKind = "visit"
)

var secretKinds = map[secretKind]string{ // #nosec G101 -- words
	sessionSecret: "session", tokenSecret: "token", linkSecret: "link", joinSecret: "join token", nodeSecret: "node credential", visitSecret: "visit to the identity provider",
}

func newSecret(kind secretKind) string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	digits := new(big.Int).SetBytes(bits[:]).Text(62)
	body := "weir_" + string(kind) + "_" + strings.Repeat("0", randomDigits-len(digits)) + digits
	return body + checksum(body)
}

func checksum(body string) string {
	digits := big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))).Text(62)
	return strings.Repeat("0", checksumDigits-len(digits)) + digits
}

// parseSecret returns the kind of a secret. It does not check that the secret is valid.
func parseSecret(secret string) (secretKind, bool) {
	rest, ok := strings.CutPrefix(secret, "weir_")
	if !ok {
		return "", false
	}
	kind, digits, ok := strings.Cut(rest, "_")
	if secretKinds[secretKind(kind)] == "" || !ok || len(digits) != randomDigits+checksumDigits {
		return "", false
	}
	body := secret[:len(secret)-checksumDigits]
	return secretKind(kind), checksum(body) == secret[len(body):]
}

// hashOf returns the hash that the database holds of a secret. One round is enough,
// because 256 random bits cannot be guessed. A secret of another kind, or a mistyped one,
// is refused.
func hashOf(kind secretKind, secret string) ([]byte, error) {
	if got, ok := parseSecret(secret); !ok || got != kind {
		return nil, refused(kind)
	}
	sum := sha256.Sum256([]byte(secret))
	return sum[:], nil
}

// refused returns the one answer to an invalid secret, whatever the cause.
func refused(kind secretKind) error {
	next := map[secretKind]string{ // #nosec G101 -- advice
		sessionSecret: "log in again",
		tokenSecret:   "make a new one: weir token create",
		linkSecret:    "a link works once and not for long: ask for a new one, or run weir open on the server",
		joinSecret:    "a join token works once and not for long: ask for a new one",
		nodeSecret:    "join the node again with a new join token",
		visitSecret:   "log in again from the start",
	}
	return problem.New(problem.Unauthenticated, next[kind], "the %s is not valid, or no longer", secretKinds[kind])
}

// IsToken reports whether a bearer secret looks like an API token.
func IsToken(secret string) bool { return strings.HasPrefix(secret, "weir_"+string(tokenSecret)+"_") }

// IsNode reports whether a bearer secret looks like the credential of a node.
func IsNode(secret string) bool { return strings.HasPrefix(secret, "weir_"+string(nodeSecret)+"_") }
