package app

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node/wake"
)

// Flows is what commands do with jobs and nodes: on a database, or through a server's
// API, which knows by itself who asks.
type Flows interface {
	SetWake(ctx context.Context, node string, m wake.Method) error
	Wake(ctx context.Context, node string) error
	SetNode(ctx context.Context, n weir.Node, by string) error
}

// databaseFlows are the Flows of a command that has the database itself.
type databaseFlows struct {
	*weir.Client
	waker *wake.Waker
	by    string
}

func newDatabaseFlows(pool *pgxpool.Pool, client *weir.Client, t Target, by string) *databaseFlows {
	waker := wake.New(pool, wake.Config{Scripts: t.config.WakeScripts, URLs: t.config.WakeURLs, Broadcast: t.config.WakeBroadcast})
	return &databaseFlows{client, waker, by}
}

func (f *databaseFlows) SetWake(ctx context.Context, node string, m wake.Method) error {
	return f.waker.SetWake(ctx, f.by, node, m)
}

func (f *databaseFlows) Wake(ctx context.Context, node string) error {
	return f.waker.Wake(ctx, f.by, node)
}
