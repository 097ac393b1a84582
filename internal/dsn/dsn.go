package dsn

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// word is the setting that says what the address leads to.
const word = "pooler"

// Pooler is what an address says of what it leads to.
type Pooler string

// The values of the word; empty: to be found out.
const (
	Unknown     Pooler = ""
	Transaction Pooler = "transaction"
	None        Pooler = "none"
)

// Address is where a database is, and how to speak to it.
type Address struct {
	Config *pgxpool.Config
	Pooler Pooler
}

// Parse reads an address: a URL, or words as libpq takes them. A pool without
// pool_max_conns has four connections per core, at least eight.
func Parse(text string) (Address, error) {
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		return Address{}, err
	}
	a := Address{Config: config, Pooler: Pooler(config.ConnConfig.RuntimeParams[word])}
	delete(config.ConnConfig.RuntimeParams, word)
	switch a.Pooler {
	case Unknown, Transaction, None:
	default:
		return Address{}, fmt.Errorf("%s=%s in the address of the database: choose transaction or none, or leave it out", word, a.Pooler)
	}
	if !strings.Contains(text, "pool_max_conns") {
		config.MaxConns = int32(max(8, 4*runtime.NumCPU())) // #nosec G115 -- no machine has so many cores
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	return a, nil
}

// Settle makes the configuration fit for what the address leads to, and reports
// whether that is a pooler. If the address does not say, it connects to find out.
func (a Address) Settle(ctx context.Context) (pooled bool, err error) {
	switch a.Pooler {
	case Transaction:
		pooled = true
	case None:
		return false, nil
	default:
		conn, err := pgx.ConnectConfig(ctx, a.Config.ConnConfig)
		if err != nil {
			return false, err
		}
		pooled, err = Pooled(ctx, conn)
		if closed := conn.Close(context.WithoutCancel(ctx)); err == nil {
			err = closed
		}
		if err != nil {
			return false, err
		}
	}
	// A mode that somebody chose stays.
	if conn := a.Config.ConnConfig; pooled && conn.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		// The types of a statement are asked for once and remembered here, so nothing
		// is left on the server. QueryExecModeExec would not ask at all, and then pgx
		// does not know how to send our lists and objects.
		conn.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return pooled, nil
}

// Pooled reports whether a connection leads through a pooler.
func Pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var pid uint32
	err := conn.QueryRow(ctx, `select pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return err == nil && pid != conn.PgConn().PID(), err
}
