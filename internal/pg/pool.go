package pg

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/dsn"
)

// Options configure a pool. The zero value works.
type Options struct {
	// Name is the pool's name in pg_stat_activity. Empty means "weir".
	Name string
	// MaxConns limits the pool. Zero means pool_max_conns of the URL, else four per core,
	// at least eight.
	MaxConns int32
	// ExecMode overrides how statements are sent. Zero means the mode that suits the
	// address.
	ExecMode pgx.QueryExecMode
	// StatementTimeout ends statements that run longer. Zero means no limit. It has no
	// effect through a pooler: set it for the role there.
	StatementTimeout time.Duration
	// Configure changes settings that the options above do not cover. It runs last.
	Configure func(*pgxpool.Config)
}

// idleInTransaction ends a session that holds a transaction open and does nothing,
// because it would hold back vacuum, which hot tables need.
const idleInTransaction = time.Minute

// Open connects a pool and checks that the server answers and is new enough.
func Open(ctx context.Context, url string, opts Options) (*pgxpool.Pool, error) {
	config, err := poolConfig(ctx, url, opts)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := checkServer(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return pool, nil
}

func poolConfig(ctx context.Context, url string, opts Options) (*pgxpool.Config, error) {
	address, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	config := address.Config
	conn, params := config.ConnConfig, config.ConnConfig.RuntimeParams
	if opts.Name != "" || params["application_name"] == "" {
		params["application_name"] = cmp.Or(opts.Name, "weir")
	}
	pooled, err := address.Settle(ctx)
	if err != nil {
		return nil, err
	}
	if opts.ExecMode != 0 {
		conn.DefaultQueryExecMode = opts.ExecMode
	}
	if !pooled { // PgBouncer refuses connections that ask for these
		params["idle_in_transaction_session_timeout"] = milliseconds(idleInTransaction)
		// Gates open only in transactions that see what their locks protect, whatever the database's default is.
		params["default_transaction_isolation"] = "read committed"
		if opts.StatementTimeout > 0 {
			params["statement_timeout"] = milliseconds(opts.StatementTimeout)
		}
	}
	if opts.MaxConns > 0 {
		config.MaxConns = opts.MaxConns
	}
	config.MaxConnIdleTime = 5 * time.Minute
	config.MaxConnLifetimeJitter = config.MaxConnLifetime / 10
	if opts.Configure != nil {
		opts.Configure(config)
	}
	return config, nil
}

// Connect makes one connection, for a few statements. Nothing is prepared on it, so it
// works through a pooler.
func Connect(ctx context.Context, url, name string) (*pgx.Conn, error) {
	address, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	config := address.Config.ConnConfig
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	config.RuntimeParams["application_name"] = name
	return pgx.ConnectConfig(ctx, config)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func checkServer(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := conn.Ping(ctx); err != nil {
		return err
	}
	version := conn.Conn().PgConn().ParameterStatus("server_version")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < minMajor {
		return fmt.Errorf("the server is PostgreSQL %s: Weir needs %d or newer", version, minMajor)
	}
	return nil
}
