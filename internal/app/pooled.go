package app

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/dsn"
)

// sayPooled tells the log once what a pooler in transaction mode costs.
func (s *Server) sayPooled(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer conn.Release()
	pooled, err := dsn.Pooled(ctx, conn.Conn())
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if pooled {
		s.log.Warn("the database is reached through a pooler: in transaction mode hints are polled, and time limits of statements must be set for the role")
	}
	return nil
}
