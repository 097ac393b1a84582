package weir

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// warmConns is how many connections are made ready for workers: one claims,
	// one tells ends, one renews or hears of other things.
	warmConns = 3
	// warmFor bounds it: others may need the connections.
	warmFor = 2 * time.Second
)

// warm makes connections ready for work. A connection plans the statements of a
// function when it first calls it, which takes tens of milliseconds: better now
// than when the first task waits. Nothing is claimed and nothing is written.
func (c *Client) warm(ctx context.Context, worker string) {
	ctx, cancel := context.WithTimeout(ctx, warmFor)
	defer cancel()
	var held []*pgxpool.Conn
	defer func() {
		for _, conn := range held {
			conn.Release()
		}
	}()
	for range min(warmConns, int(c.pool.Config().MaxConns)) {
		conn, err := c.pool.Acquire(ctx)
		if err != nil {
			return // the first claim says what is wrong
		}
		held = append(held, conn)
		for _, sql := range []string{
			`select from weir.claim($1, array['weir: nothing'])`,
			`select from weir.finish_many('{}', '{}', '{}') where $1 <> ''`,
		} {
			if _, err := conn.Exec(ctx, sql, worker); err != nil {
				return // as above
			}
		}
	}
}
