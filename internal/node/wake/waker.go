package wake

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/weirhq/weir/internal/pg"
)

// patience is the default timeout of one script or one call.
const patience = 30 * time.Second

// Config says what the operator allows. Its zero value wakes only by magic packets to the
// local network.
type Config struct {
	// Scripts is the folder of wake scripts. Empty means that none are run.
	Scripts string
	// URLs are prefixes of addresses that may be called. Empty means that none are.
	URLs []string
	// Broadcast is where magic packets go. Empty means 255.255.255.255:9.
	Broadcast string
	// Patience is the timeout of one script or one call. Zero means 30 s.
	Patience time.Duration
	Log      *slog.Logger
}

// Waker wakes nodes. It is safe for concurrent use.
type Waker struct {
	pool   *pgxpool.Pool
	config Config
}

// New returns a waker on a pool that the caller owns. The pool's user must own the
// schema.
func New(pool *pgxpool.Pool, config Config) *Waker {
	config.Broadcast = cmp.Or(config.Broadcast, "255.255.255.255:9")
	config.Patience = cmp.Or(config.Patience, patience)
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	return &Waker{pool: pool, config: config}
}

// Check returns an error if this server could not wake a node by a method. It does not
// try the method.
func (w *Waker) Check(m Method) error {
	if err := m.check(); err != nil {
		return err
	}
	var err error
	switch m.Kind {
	case WOL:
		if _, err = packet(m.MAC); err == nil {
			_, err = w.target(m)
		}
	case HTTP:
		_, err = w.allowed(m.URL)
	case Script:
		_, err = w.script(m)
	}
	return err
}

// SetWake sets how a node is woken. It refuses a method that this server could not use.
func (w *Waker) SetWake(ctx context.Context, by, node string, m Method) error {
	if err := w.Check(m); err != nil {
		return err
	}
	return w.setWake(ctx, by, node, m)
}

// Wake wakes a node at the request of a person. It returns when the node was called, not
// when it is awake. It does nothing for a node that is awake or is being woken.
func (w *Waker) Wake(ctx context.Context, by, node string) error {
	call, due, err := w.begin(ctx, by, node)
	if err != nil || !due {
		return err
	}
	return w.try(ctx, poolTerm{}, call)
}

// call is a node to be woken, as weir.plan_wakes returns it.
type call struct {
	Node   string
	Try    int
	Method Method
}

// try acts once and records the result. The node's next heartbeat shows whether it woke.
func (w *Waker) try(ctx context.Context, term pg.Term, c call) error {
	said, err := w.act(ctx, c)
	step, note, log := "called", said, w.config.Log.Info
	if err != nil {
		step, note, log = "failed", err.Error(), w.config.Log.Warn
	}
	log("tried to wake a node", "node", c.Node, "method", c.Method.Kind, "try", c.Try, "said", said, "error", err)
	// The result is recorded even if the caller is gone, so that every try has an end in
	// the timeline.
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if noteErr := w.note(noting, term, c.Node, step, note, said); noteErr != nil {
		return fmt.Errorf("note how node %s was woken: %w", c.Node, noteErr)
	}
	if err != nil {
		return fmt.Errorf("wake node %s: %w", c.Node, err)
	}
	return nil
}

// act makes one try by the node's method.
func (w *Waker) act(ctx context.Context, c call) (said string, err error) {
	if err := c.Method.check(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, w.config.Patience)
	defer cancel()
	switch c.Method.Kind {
	case WOL:
		return w.send(ctx, c.Method)
	case HTTP:
		return w.call(ctx, c.Node, c.Method)
	case Script:
		return w.run(ctx, c.Node, c.Try, c.Method)
	default:
		return "", fmt.Errorf("node %s has no way to be woken", c.Node)
	}
}
