package pg

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options tune a pool. The zero value works for a direct connection.
type Options struct {
	// Name is what the pool is called in pg_stat_activity. Empty: "weir".
	Name string
	// MaxConns bounds the pool. Zero: pool_max_conns of the URL, else four per
	// core, at least eight.
	MaxConns int32
	// Pooler says that the URL leads to PgBouncer in transaction mode. Then no
	// statement is prepared and no setting is sent that PgBouncer would refuse.
	Pooler bool
	// ExecMode overrides how statements are sent. Zero: what suits Pooler.
	ExecMode pgx.QueryExecMode
	// StatementTimeout ends statements that run longer. Zero: none does. It has
	// no effect through a pooler.
	StatementTimeout time.Duration
	// Configure changes what the options above do not reach, last of all.
	Configure func(*pgxpool.Config)
}

// idleInTransaction ends a session that holds a transaction open and does
// nothing: it would hold back vacuum, and hot tables need that.
const idleInTransaction = time.Minute

// Open connects a pool and makes sure that the server answers and is new enough.
func Open(ctx context.Context, url string, opts Options) (*pgxpool.Pool, error) {
	config, err := poolConfig(url, opts)
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

func poolConfig(url string, opts Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	conn, params := config.ConnConfig, config.ConnConfig.RuntimeParams
	if opts.Name != "" || params["application_name"] == "" {
		params["application_name"] = cmp.Or(opts.Name, "weir")
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = 10 * time.Second
	}
	switch {
	case opts.ExecMode != 0:
		conn.DefaultQueryExecMode = opts.ExecMode
	case opts.Pooler:
		conn.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if !opts.Pooler {
		params["idle_in_transaction_session_timeout"] = milliseconds(idleInTransaction)
		if opts.StatementTimeout > 0 {
			params["statement_timeout"] = milliseconds(opts.StatementTimeout)
		}
	}
	switch {
	case opts.MaxConns > 0:
		config.MaxConns = opts.MaxConns
	case !strings.Contains(url, "pool_max_conns"):
		config.MaxConns = int32(max(8, 4*runtime.NumCPU())) // #nosec G115 -- no machine has so many cores
	}
	config.MaxConnIdleTime = 5 * time.Minute
	config.MaxConnLifetimeJitter = config.MaxConnLifetime / 10
	if opts.Configure != nil {
		opts.Configure(config)
	}
	return config, nil
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
