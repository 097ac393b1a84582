//go:build unix

package chaos

import (
	"context"

	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/tending"
	"github.com/weirhq/weir/internal/workflow"
)

// conduct runs a server that leads: it tends the engine, builds jobs and plans steps, as
// the product's server does. Its lease is its term.
func conduct(ctx context.Context, o Orders) error {
	pool, err := pg.Open(ctx, o.URL, pg.Options{Name: "chaos " + o.Name, MaxConns: 6})
	if err != nil {
		return err
	}
	defer pool.Close()
	terms, err := pg.Open(ctx, o.URL, pg.Options{Name: "chaos " + o.Name, MaxConns: 2})
	if err != nil {
		return err
	}
	defer terms.Close()
	hints := listen.New(pool.Config().ConnConfig, nil)
	gates, plans := hints.Listen(tending.GatesChannel), hints.Listen(engine.PlanChannel)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = hints.Run(ctx) // its error is that we end
	}()
	coordinator.New(coordinator.Config{
		Pool: terms, TTL: o.Lease, Holder: o.Name,
		Loops: func(term *coordinator.Term) []loop.Loop {
			loops := engine.Loops(engine.Config{Pool: pool, Gates: gates}, term)
			return append(loops, workflow.Loops(workflow.Config{Pool: pool, Hints: plans.C()}, term)...)
		},
	}).Run(ctx)
	<-over
	return nil
}
