package testdb

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ease makes logins of the cluster's owner cheaper, with the same password. A server
// stores a password hashed 4096 times, and every client hashes it as often for every
// connection: that takes tens of milliseconds with the race detector, and a run of all
// tests connects many thousand times.
func ease(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	role, verifier := pgx.Identifier{conn.Config().User}.Sanitize(), Verifier(conn.Config().Password)
	return execAll(ctx, conn, `alter role `+role+` password '`+verifier+`'`)
}

// Verifier returns what CREATE ROLE accepts in place of a password: the same password for
// the client, hashed only once.
func Verifier(password string) string {
	const rounds = 1
	salt := []byte(rand.Text()[:16])
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		panic("testdb: hash a password: " + err.Error()) // only for sizes that no hash has
	}
	client := sha256.Sum256(keyed(salted, "Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, b64(salt), b64(client[:]), b64(keyed(salted, "Server Key")))
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
