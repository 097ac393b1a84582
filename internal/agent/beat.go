package agent

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// beatLoop sends heartbeats and obeys the orders in the answers.
func (a *Agent) beatLoop(ctx context.Context) {
	for {
		if err := a.beat(ctx); err != nil && ctx.Err() == nil {
			a.failed("heartbeat", err)
			if revoked(err) {
				signal(a.kick) // the waiting claim should learn of it too
			}
		}
		if err := a.reportFaults(ctx); err != nil && ctx.Err() == nil {
			a.failed("faults", err)
		}
		// The interval is randomly shorter each time, so that many agents do not beat in
		// step.
		if !loop.Wait(ctx, a.config.Beat-rand.N(a.config.Beat/10+1), a.beatNow) { // #nosec G404 -- jitter is no secret
			return
		}
	}
}

func (a *Agent) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.config.Beat/2)
	defer cancel()
	orders, err := a.transport.Heartbeat(ctx)
	if errors.Is(err, weir.ErrNotFound) || err != nil && problem.Explain(err).Kind == problem.NotFound {
		return a.transport.Register(ctx, a.config.Info) // the node's row was deleted
	}
	if err != nil {
		return err
	}
	a.hear()
	a.obey(orders)
	return nil
}

// obey adopts the node's orders.
func (a *Agent) obey(orders node.Orders) {
	if orders.Capacity == nil {
		orders.Capacity = a.config.Info.Capacity
	}
	a.mu.Lock()
	was := a.orders
	a.orders = orders
	busy := len(a.held) > 0
	a.mu.Unlock()
	// The orders differ from what the agent reported if the server limits the node to
	// less.
	if was.Mode != orders.Mode || !maps.Equal(was.Capacity, orders.Capacity) || !maps.Equal(was.Labels, orders.Labels) {
		a.log.Info("the node's orders changed", "mode", orders.Mode, "capacity", orders.Capacity, "labels", orders.Labels)
		signal(a.kick)
	}
	if orders.Sleep && !busy && a.config.Sleep != nil {
		a.config.Sleep()
	}
}

// idleEvery is the interval at which idle services are checked.
const idleEvery = 5 * time.Second

// idleLoop tells the drivers that keep services running which services have nothing to
// do.
func (a *Agent) idleLoop(ctx context.Context) {
	var idlers []driver.Idler
	for _, d := range a.config.Drivers {
		if i, ok := d.(driver.Idler); ok {
			idlers = append(idlers, i)
		}
	}
	if len(idlers) == 0 {
		return
	}
	for loop.Wait(ctx, idleEvery, nil) {
		a.mu.Lock()
		idle := maps.Clone(a.idle)
		a.mu.Unlock()
		for service, since := range idle {
			for _, i := range idlers {
				if err := i.Idle(ctx, service, since); err != nil && ctx.Err() == nil {
					a.log.Warn("an idle service was not stopped", "service", service, "error", err)
				}
			}
		}
	}
}
