package script

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Engine is the kind of database a script is for.
type Engine string

// The engines.
const (
	Postgres Engine = "postgres"
	MySQL    Engine = "mysql"
)

// Kind says what a change does, and with it whether others may run beside it.
type Kind string

// The kinds. Reading a file makes DDL or Data: SDL is for changes that are
// computed from a wanted schema.
const (
	DDL  Kind = "ddl"
	Data Kind = "data"
	SDL  Kind = "sdl"
)

// Change is one file: what runs, and how.
type Change struct {
	// Version is in its shortest form (Canonical). Empty: the change has no place
	// in an order, and Name alone tells it from others.
	Version string
	Name    string
	Kind    Kind
	File    string
	// SQL is the text that runs. Its lines are those of the file.
	SQL string
	// Checksum is Checksum(SQL).
	Checksum string
	// Transaction says that neighbouring statements share a transaction.
	Transaction bool
	// LockTimeout and StatementTimeout are zero if the file does not say.
	LockTimeout, StatementTimeout time.Duration
	// Unlimited is the named override: statements of this file have no timeout.
	Unlimited bool
	// Repeatable changes run again whenever their checksum is a new one.
	Repeatable bool
}

// Checksum tells whether two texts are the same change. Line ends do not count,
// because git turns them about on its way to another system.
func Checksum(sql string) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(sql, "\r\n", "\n")))
	return hex.EncodeToString(sum[:])
}
