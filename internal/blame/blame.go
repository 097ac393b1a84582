package blame

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Party is the party that an error is attributed to.
type Party int

// The parties; see the package's documentation.
const (
	Nobody Party = iota
	Value
	State
	Passing
	Setup
)

// row is what the table knows of a SQLSTATE.
type row struct {
	party Party
	// whole is set if the error concerns the whole server, so that a smaller batch would
	// fail too.
	whole bool
}

// table has classes (two characters) and single states (five), which take precedence.
var table = map[string]row{
	"22": {party: Value}, // text, numbers and times that no column can hold
	"23": {party: Value}, // a constraint
	"54": {party: Value}, // too long, too deep

	"WR":    {party: State},
	"WR422": {party: Value}, // the engine's own code for bad input

	"08":    {party: Passing, whole: true}, // connections
	"53":    {party: Passing, whole: true}, // disk full, out of memory, too many connections
	"57":    {party: Passing, whole: true}, // shutdown, crash, start
	"57014": {party: Passing},              // statement timeout: fewer rows may fit into it
	"58":    {party: Passing, whole: true}, // input and output errors of the server's machine
	"40":    {party: Passing},              // deadlock, serialization
	"55P03": {party: Passing},              // lock timeout
	"25006": {party: Passing, whole: true}, // a standby, or a primary that is kept read-only for now
	"25P03": {party: Passing, whole: true}, // idle in a transaction for too long
	"26000": {party: Passing, whole: true}, // a pooler gave this client another connection, where the statement is not prepared
	"42P05": {party: Passing, whole: true}, // or where another client has prepared it
}

// find returns the row of an error of the server, if it is one.
func find(err error) (row, bool) {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return row{}, false
	}
	if r, ok := table[pg.Code]; ok {
		return r, true
	}
	if len(pg.Code) == 5 {
		if r, ok := table[pg.Code[:2]]; ok {
			return r, true
		}
	}
	return row{party: Setup}, true
}

// Of returns the party that an error is attributed to. An error without a SQLSTATE is one
// of the connection, and passes.
func Of(err error) Party {
	if err == nil {
		return Nobody
	}
	if r, ok := find(err); ok {
		return r.party
	}
	return Passing
}

// Transient reports whether the same call may succeed in a moment. A call that the caller
// itself canceled is not to be repeated.
func Transient(err error) bool {
	return Of(err) == Passing && !errors.Is(err, context.Canceled)
}

// Undone reports whether the server has rolled the transaction back for a temporary
// reason, a deadlock or a conflict of snapshots, so that even a call which must not
// happen twice may be repeated.
func Undone(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Code, "40") && pg.Code != "40003" // completion unknown
}

// OneRow reports whether the error may be about one row of a batch, so that sending the
// others without it is worthwhile.
func OneRow(err error) bool {
	r, ok := find(err)
	return ok && !r.whole
}

// NotDone reports whether the server said that it did not execute the statement. After
// any other error it may have executed it, and only the answer was lost.
func NotDone(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"
}

// Denied reports whether the database user lacks the right.
func Denied(err error) bool { return is(err, "42501") }

// Pooled reports whether the error is one that a pooler in transaction mode
// causes for a client that prepares statements.
func Pooled(err error) bool { return is(err, "26000", "42P05") }

func is(err error, codes ...string) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	for _, code := range codes {
		if pg.Code == code {
			return true
		}
	}
	return false
}
