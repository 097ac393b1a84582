package weir

import (
	"context"

	"github.com/weirhq/weir/bench/internal/queue"
)

// StartIdle starts n workers of one process, each registered on its own.
func (q *Queue) StartIdle(ctx context.Context, n int) (queue.Stop, error) {
	return queue.StartEach(ctx, q, n)
}

// HeartbeatStatements returns the calls that only report "still alive".
func (q *Queue) HeartbeatStatements() []string { return []string{"%weir.heartbeat(%"} }
