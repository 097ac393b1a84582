package weir

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
)

// InsertGated puts every task into an exclusive lane and into a pool whose size never
// blocks the lanes.
func (q *Queue) InsertGated(ctx context.Context, n, lanes, pools int) error {
	for i := range pools {
		if err := q.client.SetPool(ctx, weir.Pool{Name: poolName(i), Size: new(lanes)}); err != nil {
			return fmt.Errorf("set a Weir pool: %w", err)
		}
	}
	return q.submit(ctx, n, func(i int) weir.Task {
		return weir.Task{Service: service, Params: params{}, Lane: fmt.Sprintf("lane %d", i%lanes), Exclusive: true, Pool: poolName(i % pools)}
	})
}

func poolName(i int) string { return fmt.Sprintf("pool %d", i) }

// InsertBlocked puts every task behind a pool of size 0. The sweep handles it like any
// other full pool.
func (q *Queue) InsertBlocked(ctx context.Context, n int) error {
	if err := q.client.SetPool(ctx, weir.Pool{Name: "full", Size: new(0)}); err != nil {
		return fmt.Errorf("set a Weir pool: %w", err)
	}
	return q.submit(ctx, n, func(int) weir.Task { return weir.Task{Service: service, Params: params{}, Pool: "full"} })
}

func (q *Queue) OpenGates(ctx context.Context, conn *pgx.Conn) (opened int64, err error) {
	if err := conn.QueryRow(ctx, "select weir.open_gates()").Scan(&opened); err != nil {
		return 0, fmt.Errorf("open Weir's gates: %w", err)
	}
	return opened, nil
}
