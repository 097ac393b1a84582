package weir

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/dsn"
	"github.com/weirhq/weir/internal/listen"
)

// Config tunes a client. The zero value works.
type Config struct {
	// Logger gets what nobody is there to be told: lost leases, late results,
	// connections that come and go. Nil: [slog.Default].
	Logger *slog.Logger
	// ListenURL leads to PostgreSQL itself, when the pool goes through a pooler
	// in transaction mode: LISTEN does not work there. Empty: as the pool.
	// Without LISTEN everything works, at the speed of polling.
	ListenURL string
	// Tracer carries traces through tasks. Nil: none are carried but those that
	// a [Task] names.
	Tracer Tracer
}

// Client submits tasks, commands them and watches them. It is safe for use by
// many goroutines. One per process and database is enough: its workers share
// one LISTEN connection.
type Client struct {
	pool  *pgxpool.Pool
	owned bool
	log   *slog.Logger
	// tracer may be nil.
	tracer Tracer

	hints   *hinter
	tender  *tender
	waiters *waiters

	listener *listen.Listener
	// life ends when the client is closed. Everything in the background lives
	// in it, and group counts it.
	life   context.Context
	end    context.CancelFunc
	group  sync.WaitGroup
	listen func()
	// warmOnce: the first worker makes connections ready for all.
	warmOnce sync.Once

	mu      sync.Mutex
	closed  bool
	workers map[*Worker]struct{}
}

// Open connects to the database at url. Close the client to disconnect.
//
// The URL may lead through a pooler in transaction mode, such as PgBouncer. That is
// found out; pooler=transaction or pooler=none in the URL says it instead. Through
// one, nothing is heard of new work: see [Config.ListenURL].
func Open(ctx context.Context, url string, config *Config) (*Client, error) {
	address, err := dsn.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("weir: open: %w", err)
	}
	if params := address.Config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "weir"
	}
	if _, err := address.Settle(ctx); err != nil {
		return nil, fmt.Errorf("weir: open: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, address.Config)
	if err != nil {
		return nil, fmt.Errorf("weir: open: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("weir: open: %w", err)
	}
	client, err := newClient(pool, config)
	if err != nil {
		pool.Close()
		return nil, err
	}
	client.owned = true
	return client, nil
}

// New makes a client on a pool that the caller keeps and closes afterwards. A pool
// that leads through a pooler in transaction mode needs
// default_query_exec_mode=cache_describe in its URL.
//
// A worker needs up to four connections of it at a time, and a client that tends the
// engine up to three more. If handlers use the same pool, leave it room: a worker that
// cannot reach the database loses its leases.
func New(pool *pgxpool.Pool, config *Config) (*Client, error) { return newClient(pool, config) }

func newClient(pool *pgxpool.Pool, config *Config) (*Client, error) {
	if config == nil {
		config = &Config{}
	}
	c := &Client{pool: pool, log: config.Logger, tracer: config.Tracer, workers: map[*Worker]struct{}{}}
	if c.log == nil {
		c.log = slog.Default()
	}
	conn := pool.Config().ConnConfig
	if config.ListenURL != "" {
		address, err := dsn.Parse(config.ListenURL)
		if err != nil {
			return nil, fmt.Errorf("weir: ListenURL: %w", err)
		}
		conn = address.Config.ConnConfig
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.listener = listen.New(conn, c.log)
	c.listen = sync.OnceFunc(func() {
		c.background(func(ctx context.Context) { _ = c.listener.Run(ctx) }) // its error is that the client ended
	})
	c.hints = newHinter(func(ctx context.Context, payload string) error {
		_, err := pool.Exec(ctx, `select pg_notify($1, $2)`, channelAvailable, payload)
		return err
	})
	c.tender = &tender{client: c}
	c.waiters = &waiters{client: c, kick: make(chan struct{}, 1)}
	return c, nil
}

// Close says what is left to say to the workers and ends what runs in the
// background. Stop the workers first.
func (c *Client) Close() {
	c.hints.close()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.group.Wait()
	if c.owned {
		c.pool.Close()
	}
}

// background runs f until the client is closed. It reports whether it could.
func (c *Client) background(f func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.group.Go(func() { f(c.life) })
	}
	return !c.closed
}

// subscribe begins to listen, if this is the first one.
func (c *Client) subscribe(channels ...string) *listen.Subscription {
	s := c.listener.Listen(channels...)
	c.listen()
	return s
}

// say tells workers that there may be work of these services; none means all.
// Those of this client hear it at once.
func (c *Client) say(services ...string) {
	c.wake(services...)
	c.hints.say(services...)
}

// wake wakes the workers of this client alone.
func (c *Client) wake(services ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.workers {
		if w.serves(services) {
			w.wake()
		}
	}
}

// shortestLease is that of the workers that run; the longest there is if none.
func (c *Client) shortestLease() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	least := time.Duration(math.MaxInt64)
	for w := range c.workers {
		least = min(least, w.config.Lease)
	}
	return least
}

// pause waits for d or the end of ctx, and reports whether ctx is still good.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// backoff is how long to wait after the nth failure in a row: between half of
// and all of first·2^(n−1), at most last.
func backoff(n int, first, last time.Duration) time.Duration {
	d := min(first<<min(max(n-1, 0), 20), last)
	return d/2 + rand.N(d/2+1) // #nosec G404 -- jitter is no secret
}

// persist calls f until it succeeds, fails for good or ctx ends. Each call gets
// its own limit, so that a connection that hangs is given up.
func persist(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	for n := 1; ; n++ {
		try, cancel := context.WithTimeout(ctx, limit)
		err := f(try)
		cancel()
		if err == nil || ctx.Err() != nil || !transient(err) {
			return err
		}
		if !pause(ctx, backoff(n, 50*time.Millisecond, 2*time.Second)) {
			return err
		}
	}
}
