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

// leaseLength is the default length of a lease.
const leaseLength = 30 * time.Second

// Vault opens secrets.
type Vault interface {
	Open(ctx context.Context, names []string) (map[string]string, error)
}

// Options configure a Desk. The zero value works, without artifacts, logs and secrets.
type Options struct {
	// Bucket stores artifacts and logs.
	Bucket blob.Bucket
	Vault  Vault
	// Hints ends waits early, and notifies other workers of work that an end here may
	// have opened. All desks of a process share one. If it is nil, claims poll.
	Hints *Hints
	// Ends gathers the ends of all desks of a process. If it is nil, each end is written
	// by itself.
	Ends *Ends
	Log  *slog.Logger
}

// Desk acts for one node. It keeps no state: two desks for one node do no harm, but only
// one agent may claim in the node's name.
type Desk struct {
	pool   *pgxpool.Pool
	node   string
	worker string
	bucket blob.Bucket
	vault  Vault
	hints  *Hints
	ends   *Ends
	log    *slog.Logger
	// logsMost and carryMost are the constants, except in tests.
	logsMost, carryMost int64
}

// NewDesk returns the desk of a node.
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

// Worker returns the worker name of a node's agent. It is the same after a restart, so
// that the agent still holds its leases.
func Worker(node string) string { return "agent@" + node }

// Register records what the node is and which services its agent serves. While another
// agent of that name is heard from, it returns weir.ErrConflict, and nothing changes.
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
	services := slices.AppendSeq([]string{}, maps.Keys(capacity)) // not nil, because it becomes an array
	slices.Sort(services)
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select weir.register_node($1, $2, $3, version => nullif($4, ''), drivers => $5, isolation => nullif($6, ''))`,
			d.node, labels, capacity, info.Version, drivers, info.Isolation)
		if err != nil {
			return wrap("register node", err)
		}
		_, err = tx.Exec(ctx, `select weir.register_worker($1, $2, node => $3, holder => nullif($4, ''))`, d.worker, services, d.node, info.Holder)
		return wrap("register worker", err)
	})
}

// Heartbeat records that the agent lives and returns the node's orders. For an unknown
// node it returns weir.ErrNotFound: the agent must register again.
func (d *Desk) Heartbeat(ctx context.Context) (Orders, error) {
	var o Orders
	var known, tended bool
	err := d.pool.QueryRow(ctx, `select capacity is not null, mode, tended, coalesce(labels, '{}'), coalesce(capacity, '{}'), sleep from weir.heartbeat($1)`, d.worker).
		Scan(&known, &o.Mode, &tended, &o.Labels, &o.Capacity, &o.Sleep)
	if err != nil {
		return o, wrap("heartbeat", err)
	}
	if !known { // the node was removed from its worker
		return o, fmt.Errorf("heartbeat: %w: there is no node %q", weir.ErrNotFound, d.node)
	}
	if !tended {
		// No server leads. Expired leases and due times should still be handled.
		if _, err := d.pool.Exec(ctx, `select weir.tend()`); err != nil {
			d.log.Warn("nobody tends the engine, and we cannot either", "error", err)
		}
	}
	return o, nil
}

// Stop records that the agent stops. The leases that the agent still holds return at
// once.
func (d *Desk) Stop(ctx context.Context) error {
	_, err := d.pool.Exec(ctx, `select weir.stop_worker($1)`, d.worker)
	d.hints.say()
	return wrap("stop", err)
}

// Detach records that the agent stops and its work goes on: the leases stay until they run
// out, and the next process of the agent takes them over.
func (d *Desk) Detach(ctx context.Context) error {
	_, err := d.pool.Exec(ctx, `select weir.stop_worker($1, keep => true)`, d.worker)
	return wrap("detach", err)
}

// leased is what the desk knows of a live lease of its node.
type leased struct {
	job  weir.ID
	key  string
	task string
	run  json.RawMessage
}

// place returns where the objects of the attempt are stored.
func (l leased) place() (job, key string) {
	if l.job.IsZero() {
		return blob.NoJob, l.task
	}
	return l.job.String(), l.key
}

// leased looks up a lease. For a lease that is over or belongs to another node it returns
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

// token returns the lease's token as the database has it. An invalid token becomes the
// zero ID, which no lease has.
func token(l Lease) weir.ID {
	id, _ := weir.ParseID(l.Token) // a zero ID matches nothing
	return id
}

// columns returns the leases in the form that every batched function takes.
func columns(leases []Lease) (tasks []weir.ID, attempts []int, tokens []weir.ID) {
	tasks, attempts, tokens = make([]weir.ID, len(leases)), make([]int, len(leases)), make([]weir.ID, len(leases))
	for i, l := range leases {
		tasks[i], attempts[i], tokens[i] = l.Task, l.Attempt, token(l)
	}
	return tasks, attempts, tokens
}

var sentinels = map[string]error{"WR404": weir.ErrNotFound, "WR409": weir.ErrConflict, "WR410": weir.ErrLeaseLost, "WR422": weir.ErrInvalid}

// wrap adds the operation, and maps the database's refusals to their sentinel errors.
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
