package weir

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/blame"
	"github.com/weirhq/weir/internal/refusal"
)

// What the database answers. Test for them with [errors.Is]; the message is in
// the [*Error] around them.
var (
	// ErrNotFound says that an id or a name stands for nothing (WR404).
	ErrNotFound = errors.New("not found")
	// ErrConflict says that the state of the thing does not allow it (WR409).
	ErrConflict = errors.New("wrong state")
	// ErrLeaseLost says that the attempt no longer holds its task: it was given
	// to somebody else, or ended (WR410). It is also the cause of a handler's
	// context that ends for this reason.
	ErrLeaseLost = errors.New("lease lost")
	// ErrInvalid says that the input was refused and nothing was written (WR422).
	ErrInvalid = errors.New("bad input")
)

// Why the context of a handler ended; see [context.Cause].
var (
	// ErrCanceled says that somebody cancelled the task.
	ErrCanceled = errors.New("the task was canceled")
	// ErrStopped says that the worker stops. The task is handed back without
	// spending an attempt.
	ErrStopped = errors.New("the worker stops")
	// errTimedOut says that the attempt's time is over. Err of that context is
	// [context.DeadlineExceeded].
	errTimedOut = errors.New("the attempt timed out")
)

// Error is a refusal by the database.
type Error struct {
	// Op is what was asked, such as "submit".
	Op string
	// Code is the SQLSTATE: WR404, WR409, WR410, WR422, or one of PostgreSQL's.
	Code string
	// Message names the field or the thing and says what is wrong with it.
	Message string
	// Hint says what to do next, if there is something to say.
	Hint string
	// Field is the part of the input that was refused, as a path such as pool or
	// tasks[0].pool; empty if it is no part of it.
	Field string

	sentinel error
	cause    error
}

func (e *Error) Error() string {
	text := "weir: " + e.Op + ": " + e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap gives the sentinel, if there is one, and the error of pgx.
func (e *Error) Unwrap() []error {
	var out []error
	for _, err := range []error{e.sentinel, e.cause} {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

var sentinels = map[string]error{
	"WR404": ErrNotFound,
	"WR409": ErrConflict,
	"WR410": ErrLeaseLost,
	"WR422": ErrInvalid,
}

// refusals are the answers of weir.finish_many and its like, one per task.
var refusals = map[string]error{"lease_lost": ErrLeaseLost, "unknown": ErrNotFound}

// wrap turns what pgx says into an error of this package.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return fmt.Errorf("weir: %s: %w", op, err)
	}
	e := &Error{Op: op, Code: pg.Code, Message: pg.Message, Hint: pg.Hint, sentinel: sentinels[pg.Code], cause: pg, Field: refusal.Read(pg.Detail).Field}
	switch {
	case e.sentinel != nil:
	case blame.Of(pg) == blame.Value:
		// Text that is not valid, a number out of range, too deep, too long.
		e.sentinel = ErrInvalid
		if pg.Detail != "" {
			e.Message += ": " + pg.Detail
		}
	case pg.Code == "42883", pg.Code == "3F000", pg.Code == "42P01":
		e.Hint = "the database has no Weir schema, or one of another version: run weir migrate, or restart the program with the newer one"
	case blame.Pooled(pg):
		e.Hint = "the pool leads through a pooler in transaction mode: add default_query_exec_mode=cache_describe to its URL"
	}
	return e
}

// refused is a refusal by this package, before anything was asked of the database.
func refused(op, code string, err error) *Error {
	e := &Error{Op: op, Code: code, Message: err.Error(), sentinel: sentinels[code], cause: err}
	if r := new(refusal.Refusal); errors.As(err, &r) {
		e.Field = r.Field
	}
	return e
}

// answered turns the answer for one task into an error; ok and repeated are none.
func answered(op, answer string) error {
	sentinel, refused := refusals[answer]
	if !refused {
		return nil
	}
	return &Error{Op: op, Message: sentinel.Error(), sentinel: sentinel}
}

// transient reports whether the same call may succeed later: the connection is
// gone, the server restarts, or it has no room at the moment.
func transient(err error) bool { return blame.Transient(err) }
