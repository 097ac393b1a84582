package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
)

// leaseLength is how long a lease lasts when nobody says.
const leaseLength = 30 * time.Second

// Vault opens secrets.
type Vault interface {
	Open(ctx context.Context, names []string) (map[string]string, error)
}

// Options of a Desk. The zero value works, without artifacts, logs and secrets.
type Options struct {
	// Bucket keeps artifacts and logs.
	Bucket blob.Bucket
	Vault  Vault
	// Hints ends waits early, and tells others what ends here may have opened.
	// One for all desks of a process. Nil: claims poll.
	Hints *Hints
	// Ends gathers the ends of all desks of a process. Nil: each is written by itself.
	Ends *Ends
	Log  *slog.Logger
}

// Desk speaks for one node. It keeps nothing: two of them for one node do no
// harm, but only one agent may claim in its name.
type Desk struct {
	pool   *pgxpool.Pool
	node   string
	worker string
	bucket blob.Bucket
	vault  Vault
	hints  *Hints
	ends   *Ends
	log    *slog.Logger
	// logsMost and carryMost are the constants, but for tests.
	logsMost, carryMost int64
}

// NewDesk makes the desk of a node.
func NewDesk(pool *pgxpool.Pool, node string, options Options) *Desk {
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Desk{
		pool: pool, node: node, worker: Worker(node), bucket: options.Bucket, vault: options.Vault, hints: options.Hints, ends: options.Ends,
		log: log.With("node", node), logsMost: logsMost, carryMost: carryMost,
	}
}

// Worker is the name of the worker that a node's agent is. It is the same after
// a restart, so that the agent still holds what it held.
func Worker(node string) string { return "agent@" + node }

// Register says what the node is and which services its agent does. While another
// agent of that name is heard it is weir.ErrConflict, and nothing changes.
func (d *Desk) Register(ctx context.Context, info Info) error {
	labels, capacity := info.Labels, info.Capacity
	if labels == nil {
		labels = map[string]string{}
	}
	if capacity == nil {
		capacity = map[string]int{}
	}
	drivers := info.Drivers
	if drivers == nil {
		drivers = []string{}
	}
	services := slices.AppendSeq([]string{}, maps.Keys(capacity)) // not nil: it becomes an array
	slices.Sort(services)
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select weir.register_node($1, $2, $3, version => nullif($4, ''), drivers => $5)`, d.node, labels, capacity, info.Version, drivers)
		if err != nil {
			return wrap("register node", err)
		}
		_, err = tx.Exec(ctx, `select weir.register_worker($1, $2, node => $3, holder => nullif($4, ''))`, d.worker, services, d.node, info.Holder)
		return wrap("register worker", err)
	})
}

// Heartbeat says that the agent lives and returns what the node is told to do.
// A node that nobody knows (any more) is weir.ErrNotFound: register again.
func (d *Desk) Heartbeat(ctx context.Context) (Orders, error) {
	var o Orders
	var known, tended bool
	err := d.pool.QueryRow(ctx, `select capacity is not null, mode, tended, coalesce(labels, '{}'), coalesce(capacity, '{}'), sleep from weir.heartbeat($1)`, d.worker).
		Scan(&known, &o.Mode, &tended, &o.Labels, &o.Capacity, &o.Sleep)
	if err != nil {
		return o, wrap("heartbeat", err)
	}
	if !known { // somebody took the node away from its worker
		return o, fmt.Errorf("heartbeat: %w: there is no node %q", weir.ErrNotFound, d.node)
	}
	if !tended {
		// No server leads. Leases that run out and due times should still be seen.
		if _, err := d.pool.Exec(ctx, `select weir.tend()`); err != nil {
			d.log.Warn("nobody tends the engine, and we cannot either", "error", err)
		}
	}
	return o, nil
}

// Stop says goodbye. What the agent still holds is handed back at once.
func (d *Desk) Stop(ctx context.Context) error {
	_, err := d.pool.Exec(ctx, `select weir.stop_worker($1)`, d.worker)
	d.hints.say()
	return wrap("stop", err)
}

// leased is what the desk knows of a lease that is live and of its node.
type leased struct {
	job  weir.ID
	key  string
	task string
	run  json.RawMessage
}

// place is where the objects of the attempt are kept.
func (l leased) place() (job, key string) {
	if l.job.IsZero() {
		return blob.NoJob, l.task
	}
	return l.job.String(), l.key
}

// leased looks a lease up. One that is over or another node's is
// weir.ErrLeaseLost.
func (d *Desk) leased(ctx context.Context, lease Lease) (leased, error) {
	l := leased{task: lease.Task.String()}
	err := d.pool.QueryRow(ctx, `select job, coalesce(key, ''), run from weir.leased($1, $2, $3, $4)`, d.node, lease.Task, lease.Attempt, token(lease)).
		Scan(&l.job, &l.key, &l.run)
	if errors.Is(err, pgx.ErrNoRows) {
		err = weir.ErrLeaseLost
	}
	return l, wrap("look up the lease", err)
}

// token is that of the lease as the database has it. What is no token is the
// zero one, which nobody holds.
func token(l Lease) weir.ID {
	id, _ := weir.ParseID(l.Token) // a zero ID matches nothing
	return id
}

// columns are the leases as every batched function takes them.
func columns(leases []Lease) (tasks []weir.ID, attempts []int, tokens []weir.ID) {
	tasks, attempts, tokens = make([]weir.ID, len(leases)), make([]int, len(leases)), make([]weir.ID, len(leases))
	for i, l := range leases {
		tasks[i], attempts[i], tokens[i] = l.Task, l.Attempt, token(l)
	}
	return tasks, attempts, tokens
}

var sentinels = map[string]error{"WR404": weir.ErrNotFound, "WR409": weir.ErrConflict, "WR410": weir.ErrLeaseLost, "WR422": weir.ErrInvalid}

// wrap names the operation, and gives the database's refusals their sentinel.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	var state *pgconn.PgError
	if errors.As(err, &state) && sentinels[state.Code] != nil {
		return fmt.Errorf("%s: %w: %w", op, sentinels[state.Code], err)
	}
	return fmt.Errorf("%s: %w", op, err)
}
