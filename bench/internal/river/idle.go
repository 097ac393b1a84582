package river

import (
	"context"

	"github.com/weirhq/weir/bench/internal/queue"
)

// StartIdle starts n clients, because in River the client is what registers
// and polls; the number of handlers inside one costs nothing while idle.
func (q *Queue) StartIdle(ctx context.Context, n int) (queue.Stop, error) {
	return queue.StartEach(ctx, q, n)
}

// HeartbeatStatements is empty: River's clients have no heartbeat of their own.
func (q *Queue) HeartbeatStatements() []string { return nil }
