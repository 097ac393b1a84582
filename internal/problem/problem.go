package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/refusal"
)

// Problem is an error in two lines: what is wrong and what to do next.
type Problem struct {
	Kind Kind
	What string
	// Next may be empty if the error is clear by itself. Command is the command to run
	// next, if the advice is a command.
	Next, Command string
	// Field is the part of the input that was refused, if one was.
	Field string
	// Pattern is the sentence with verbs for Args, without the field: the key of the
	// sentence in other languages. Pattern is empty if the words come from another
	// program.
	Pattern string
	Args    []any
	// part is the part of the field, set by Within.
	part string
	// Data is further information for programs: an object, if there is any.
	Data json.RawMessage
	// Err is the cause, if there is one.
	Err error
}

// New makes a problem with a sentence of ours.
func New(kind Kind, next, format string, args ...any) *Problem {
	return &Problem{Kind: kind, What: fmt.Sprintf(format, args...), Next: next, Pattern: format, Args: args}
}

// Refuse refuses a field, and tells how to correct it.
func Refuse(field, next, format string, args ...any) *Problem {
	return New(Invalid, next, format, args...).At(field)
}

// Run sets the command to run next.
func (p *Problem) Run(command string) *Problem {
	p.Command = command
	return p
}

// Advice returns what to do next, with the command if there is one.
func (p *Problem) Advice() string {
	if p.Command == "" {
		return p.Next
	}
	return refusal.At(p.Next, p.Command)
}

func (p *Problem) Error() string { return p.What }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// sqlStates describes the SQLSTATEs of PostgreSQL to a person.
var sqlStates = map[string]struct {
	kind Kind
	next string
}{
	"WR403": {Forbidden, ""},
	"WR404": {NotFound, ""},
	"WR409": {Conflict, ""},
	"WR410": {Stale, ""},
	"WR422": {Invalid, ""},
	"WR429": {TooMany, ""},
	"28000": {Unauthenticated, "check the user in the database URL and pg_hba.conf"},
	"28P01": {Unauthenticated, "check the password in the database URL"},
	"42501": {Forbidden, "connect as a member of weir_client"},
	"3D000": {NotFound, "create the database, or check its name in the database URL"},
	"3F000": {Failed, "the database has no Weir schema: run weir migrate"},
	"42P01": {Failed, "the schema is missing or older than this binary: run weir migrate"},
	"42883": {Failed, "the schema is missing or older than this binary: run weir migrate"},
	"42703": {Failed, "the schema is older than this binary: run weir migrate"},
	"25006": {Unreachable, "the database is read-only: connect to the primary, or wait until it takes writes again"},
	"40001": {Unreachable, "others changed the same at the same time: try again"},
	"40P01": {Unreachable, "others wanted the same in another order: try again"},
	"53000": {Unreachable, "the database lacks resources: look at its log, then try again"},
	"53100": {Unreachable, "the disk of the database is full: make room; what was refused can then be sent again"},
	"53200": {Unreachable, "the database is out of memory: try again, or give it more"},
	"53300": {Unreachable, "the server has no connection left: try again, or raise max_connections"},
	"53400": {Unreachable, "the database has reached a limit of its configuration: look at its log, then try again"},
	"55P03": {Unreachable, "somebody holds what was asked for: try again"},
	"57014": {Unreachable, "it took too long: ask for less, or try again"},
	"57P01": {Unreachable, "the database was shut down: start it, then try again"},
	"57P02": {Unreachable, "the database crashed: look at its log, then try again"},
	"57P03": {Unreachable, "the database starts up or shuts down: try again in a moment"},
	"57P04": {Unreachable, "the database was dropped: check the database URL"},
	"57P05": {Unreachable, "the session was idle for too long: try again"},
}

// Explain turns any error into a Problem. A Problem is returned unchanged.
func Explain(err error) *Problem {
	if p := new(Problem); errors.As(err, &p) {
		return p
	}
	p := &Problem{Kind: Failed, What: strings.TrimPrefix(err.Error(), "weir: "), Err: err}
	var (
		ours    *weir.Error
		own     *refusal.Refusal
		state   *pgconn.PgError
		connect *pgconn.ConnectError
		address *net.OpError
	)
	switch {
	case errors.Is(err, context.Canceled):
		p.Kind, p.What = Canceled, "canceled"
	case errors.As(err, &state):
		p.fromState(state)
	case errors.As(err, &ours):
		p.What, p.Next = ours.Message, ours.Hint
		p.fromSentinel(err)
	case errors.As(err, &connect), errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		p.Kind, p.Next = Unreachable, "is it running? start Weir with: weir up"
		if connect != nil {
			p.What = "the database does not answer: " + connectCause(connect)
		}
	case errors.Is(err, syscall.EADDRINUSE):
		p.Next = "another program has the address: stop it, or choose another with --listen"
	case errors.As(err, &address):
		p.Kind, p.Next = Unreachable, "check the address, then try again"
	case errors.Is(err, pg.ErrInUse):
		p.Next = "choose another folder with --data DIR, or stop that one; commands find it by themselves: try weir task list"
	case errors.Is(err, pg.ErrSchemaNewer):
		p.Next = "install the newer Weir"
	case errors.Is(err, fs.ErrNotExist):
		p.Kind = Invalid
	}
	if p.Kind == Failed {
		p.fromSentinel(err)
	}
	if errors.As(err, &own) {
		p.fromRefusal(*own)
		if ours == nil {
			p.What = own.Error()
		}
		if p.Kind == Failed {
			p.Kind = Invalid
		}
	}
	p.advise()
	return p
}

// Public returns the part of an error that a client may know, and whether anything is
// hidden: then the rest is for the log. The database's own refusals are for the client if
// they are about its input. A missing right or a failure of the server itself is hidden,
// because its words may name hosts, tables and statements.
func Public(err error) (p *Problem, hidden bool) {
	p = Explain(err)
	kind := p.Kind
	var state interface{ SQLState() string }
	own := new(Problem)
	ours := errors.As(err, &own)
	if !ours && errors.As(err, &state) && kind != Unreachable {
		if code := state.SQLState(); !strings.HasPrefix(code, "WR") && !strings.HasPrefix(code, "22") && !strings.HasPrefix(code, "54") {
			kind = Failed
		}
	}
	switch {
	case kind == Unreachable && errors.Is(err, context.DeadlineExceeded):
		return hide(err, kind, "ask for less, or try again", "it took too long"), true
	case kind == Unreachable && ours && own.Err == nil:
		return p, false // our own words, without a cause
	case kind == Unreachable && ours:
		return hide(err, kind, "try again in a moment", "something that is needed for it does not answer"), true
	case kind == Unreachable && state != nil:
		return hide(err, kind, "try again in a moment", "the database cannot do it at the moment"), true
	case kind == Unreachable:
		return hide(err, kind, "try again in a moment", "the database does not answer"), true
	case kind == Failed:
		return hide(err, kind, "tell whoever runs this Weir: its log has more", "something went wrong on the server"), true
	}
	return p, false
}

// hide replaces the words of an error.
func hide(err error, kind Kind, next, format string, args ...any) *Problem {
	p := New(kind, next, format, args...)
	p.Err = err
	return p
}

// OwnerOnly adds advice if only the owner of the schema may do what was requested.
func OwnerOnly(err error) error {
	var state *pgconn.PgError
	if !errors.As(err, &state) || state.Code != "42501" {
		return err
	}
	p := Explain(err)
	p.Next = "connect as the owner of the schema"
	return p
}

func (p *Problem) fromState(state *pgconn.PgError) {
	p.What, p.Next = state.Message, state.Hint
	if strings.HasPrefix(state.Code, "WR") {
		p.fromRefusal(refusal.Read(state.Detail))
		p.Next = strings.TrimSuffix(p.Next, ": "+p.Command)
	}
	known, ok := sqlStates[state.Code]
	switch {
	case ok:
		p.Kind = known.kind
		if p.Next == "" || known.next != "" {
			p.Next = known.next
		}
	case strings.HasPrefix(state.Code, "22"), strings.HasPrefix(state.Code, "54"):
		p.Kind = Invalid
		if state.Detail != "" {
			p.What += ": " + state.Detail
		}
	case strings.HasPrefix(state.Code, "08"):
		p.Kind = Unreachable
	}
}

func (p *Problem) fromRefusal(r refusal.Refusal) {
	p.Field, p.Pattern, p.Args, p.Command, p.Data = r.Field, r.Pattern, r.Args, r.Command, r.Data
}

func (p *Problem) fromSentinel(err error) {
	switch {
	case errors.Is(err, weir.ErrNotFound):
		p.Kind = NotFound
	case errors.Is(err, weir.ErrInvalid):
		p.Kind = Invalid
	case errors.Is(err, weir.ErrConflict):
		p.Kind = Conflict
	case errors.Is(err, weir.ErrLeaseLost):
		p.Kind = Stale
	}
}

// connectCause returns the last and plainest part of a connection error; the rest repeats
// the address once for every host that was tried.
func connectCause(err *pgconn.ConnectError) string {
	for {
		inner := err.Unwrap()
		var next *pgconn.ConnectError
		if inner == nil || !errors.As(inner, &next) {
			break
		}
		err = next
	}
	var address *net.OpError
	if errors.As(err, &address) {
		return address.Error()
	}
	text := err.Error()
	if i := strings.LastIndex(text, "): "); i >= 0 {
		text = text[i+3:]
	}
	return text
}
