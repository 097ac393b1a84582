package target

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

// engine is what PostgreSQL and MySQL do each in its own way.
type engine interface {
	// open makes a connection with that application name.
	open(ctx context.Context, application string) (session, error)
	// classify reads an error of the driver.
	classify(err error) verdict
	// connectFailure explains why there is no connection.
	connectFailure(err error) error
	// uniqueState is the Failure.State of a row that is there already.
	uniqueState() string
	// redact takes the password out of an error.
	redact(err error) error
}

// session is one connection to the target. Only a run changes something with it;
// others look. It is used by one goroutine at a time.
type session interface {
	// backend is the number the server knows the connection by.
	backend() int64
	// own makes sure that the connection has this backend for itself: nothing that
	// belongs to a session may be done on one that a pooler lends to others.
	own(ctx context.Context) error
	// ledger is the bookkeeping in the target.
	ledger() *ledger
	// create makes the tables of the ledger, if they are missing.
	create(ctx context.Context) error

	// mayCreate tells whether create would be allowed, and where.
	mayCreate(ctx context.Context) (may bool, where string, err error)

	// limit sets the timeouts (rule 4); relimit puts back those that a statement
	// of the change lifted.
	limit(ctx context.Context, l limits) error
	relimit(ctx context.Context, l limits) error

	// tryLock takes the lock of the target, or does not (rule 1). Shared locks go
	// together, where the engine has them.
	tryLock(ctx context.Context, shared bool) (bool, error)
	// holdsLock tells whether this very backend has it.
	holdsLock(ctx context.Context) (bool, error)
	// holders are those that have the lock.
	holders(ctx context.Context) ([]Session, error)

	begin(ctx context.Context) error
	commit(ctx context.Context) error
	rollback(ctx context.Context) error
	// run executes one statement of a change as it stands.
	run(ctx context.Context, text string) (rows int64, notices []string, err error)
	// asItself does something inside a transaction as the user of the DSN, whatever
	// role the change has taken on, and gives the session back as it was.
	asItself(ctx context.Context, do func() error) error
	// probe looks whether something is there (rule 7).
	probe(ctx context.Context, p script.Probe) (presence, error)
	// fingerprint tells one state of the schema from another. Empty: the engine
	// needs none, because what has no probe cannot be told by the schema either.
	fingerprint(ctx context.Context) (string, error)

	// alive tells whether a backend of that number still serves application.
	alive(ctx context.Context, backend int64, application string) (bool, error)
	// attempts are the sessions of a task's attempts, up to one.
	attempts(ctx context.Context, task string, upTo int) ([]Session, error)
	// blockers are those that a backend waits for.
	blockers(ctx context.Context, backend int64) ([]Blocker, error)
	// stop cancels a statement or ends a session. False: it is gone already.
	stop(ctx context.Context, backend int64, terminate bool) (bool, error)
	activity(ctx context.Context, application string) ([]Session, error)

	identity(ctx context.Context) (Identity, error)
	snapshot(ctx context.Context) (Snapshot, error)
	sizes(ctx context.Context) (map[string]int64, error)
	foreign(ctx context.Context) (*Foreign, error)

	close()
}

// presence is what a probe found.
type presence string

const (
	absent presence = "absent"
	there  presence = "there"
	half   presence = "half" // an index that is not valid
)

// Session is a connection of the target, as its server sees it.
type Session struct {
	ID          int64  `json:"id"`
	Application string `json:"application"`
	User        string `json:"user"`
	State       string `json:"state"`
	// Wait is what it waits for, as the server names it.
	Wait  string `json:"wait,omitempty"`
	Query string `json:"query,omitempty"`
	// Since is when the statement began, or the state if it is idle.
	Since     time.Time `json:"since,omitzero"`
	BlockedBy []Blocker `json:"blocked_by,omitempty"`
	Blocks    []Blocker `json:"blocks,omitempty"`
}

// Blocker is one of two that wait for one another.
type Blocker struct {
	ID          int64     `json:"id"`
	Application string    `json:"application"`
	User        string    `json:"user"`
	State       string    `json:"state"`
	Query       string    `json:"query,omitempty"`
	Since       time.Time `json:"since,omitzero"`
}
