package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/app/demo"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob/garbage"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/forward"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/tending"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/timeline/redishint"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workspace"
)

const (
	// leadWithin is how long to wait for the lead before going on without it.
	leadWithin = 2 * time.Second
	// termConns is enough to renew a term and to ask for one.
	termConns = 2
)

// coordinate starts to lead, or to stand by for a leader that goes away.
func (s *Server) coordinate(ctx context.Context, p *parts) (_ string, err error) {
	if p.terms, err = pg.Open(ctx, p.url, pg.Options{Name: "weir leader", MaxConns: termConns, Configure: s.writes.Watch}); err != nil {
		return "", err
	}
	if s.config.RedisURL != "" {
		if p.bus, err = redishint.New(s.config.RedisURL, s.config.RedisPrefix, s.log); err != nil {
			return "", err
		}
	}
	hints := listen.New(p.pool.Config().ConnConfig, s.log)
	gates := hints.Listen(tending.GatesChannel)
	plans := hints.Listen(engine.PlanChannel)
	lost := hints.Listen(rollout.Channel)
	p.houses.listenTo(hints)
	p.hints = node.NewHints(p.pool, hints)
	p.forwards = forward.New(forward.Config{
		Store: fleet.New(p.pool), Sub: hints.Listen(fleet.ForwardChannel), Server: strings.TrimSuffix(s.config.PeerURL, "/"), Log: s.log,
	})
	resigned := hints.Listen(coordinator.Channel)
	p.events = hints.Listen(timeline.Channels...)
	p.coordinator = coordinator.New(coordinator.Config{
		Pool: p.terms, TTL: s.config.CoordinatorTTL, Wake: resigned.C(), Log: s.log,
		Loops: func(t *coordinator.Term) []loop.Loop { return s.loops(t, p, gates, plans, lost) },
	})
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	p.resign, p.led = end, make(chan struct{})
	go func() {
		defer close(p.led)
		listened := make(chan struct{})
		go func() {
			defer close(listened)
			_ = hints.Run(life) // its error is that we end
		}()
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			if p.bus != nil {
				p.bus.Run(life)
			}
		}()
		p.coordinator.Run(life)
		<-listened
		<-heard
	}()
	return p.awaitLead(ctx)
}

// grown hears that the timeline may have grown: through Redis if there is one,
// else from PostgreSQL itself.
func (p *parts) grown() <-chan struct{} {
	if p.bus != nil {
		return p.bus.C()
	}
	return p.events.C()
}

// loops are what the leader does.
func (s *Server) loops(t *coordinator.Term, p *parts, gates, plans, lost *listen.Subscription) []loop.Loop {
	keep := s.config.Retention
	if keep == Forever {
		keep = 0
	}
	loops := engine.Loops(engine.Config{
		Pool: p.pool, Gates: gates, TendEvery: s.config.CoordinatorIdleInterval, TendGap: s.config.CoordinatorActiveInterval,
		PartitionDays: s.config.PartitionDays, Keep: keep, NeedExport: s.config.EventsExport != "", Log: s.log,
	}, t)
	if p.bus != nil {
		loops = append(loops, p.bus.Relay(p.pool, p.events.C()))
	}
	loops = append(loops, workflow.Loops(workflow.Config{Pool: p.pool, Hints: plans.C(), Store: p.flows, Log: s.log}, t)...)
	loops = append(loops, rollout.Loops(rollout.Config{Pool: p.pool, Store: p.rollouts, Hints: lost.C(), Log: s.log}, t)...)
	loops = append(loops, fleet.Loops(fleet.Config{Pool: p.pool, Bucket: p.bucket, Log: s.log}, t)...)
	loops = append(loops, p.houses.loops(s, p, t)...)
	loops = append(loops, p.waker.Loops(t)...)
	loops = append(loops, auth.New(p.pool, auth.Options{Log: s.log}).Loops()...)
	if p.bucket != nil {
		loops = append(loops, garbage.Loop(p.pool, p.bucket, t, s.log))
	}
	if to := s.config.exportURL(s.private); to != "" {
		loops = append(loops, timeline.ExportLoop(p.pool, timeline.ArchiveAt(to), t, s.log))
	}
	return loops
}

// awaitLead waits a moment for the lead, so that the first task does not wait
// for it. Another server may have it; then we stand by.
func (p *parts) awaitLead(ctx context.Context) (string, error) {
	for until := time.Now().Add(leadWithin); time.Now().Before(until); {
		if status := p.coordinator.Status(); status.Epoch > 0 {
			return fmt.Sprintf("leads with epoch %d", status.Epoch), nil
		}
		if !loop.Wait(ctx, 10*time.Millisecond, nil) {
			return "", context.Cause(ctx)
		}
	}
	return p.standby(ctx), nil
}

// standby says who leads and when that ends, if it can be known.
func (p *parts) standby(ctx context.Context) string {
	var holder string
	var left float64
	if err := p.pool.QueryRow(ctx, `select l.holder_id, extract(epoch from l.expires_at - clock_timestamp())::float8 from weir.system_locks l where l.lock_name = $1`,
		coordinator.Lock).Scan(&holder, &left); err != nil || left <= 0 {
		return "stands by; nobody leads at the moment"
	}
	if gone(holder) {
		return fmt.Sprintf("stands by; the term of the server that was killed ends in up to %d s, this one leads then", int(math.Ceil(left)))
	}
	return "stands by; another server leads: " + holder
}

// gone says that the holder of the lead, host/pid/random, was a process of this
// machine that ended without resigning.
func gone(holder string) bool {
	parts := strings.Split(holder, "/")
	if len(parts) != 3 || parts[0] != hostname() {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	// The same pid is that of an earlier life: in a container it is always 1.
	return err == nil && (pid == os.Getpid() || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH))
}

func (s *Server) startDemo(ctx context.Context, p *parts) (_ string, err error) {
	if p.demo, err = demo.Start(ctx, p.client, "demo", s.log); err != nil {
		return "", err
	}
	said := "worker " + p.demo.Worker()
	if s.private {
		desk := func(name string) agent.Transport { return p.desk(name) }
		if err := p.demo.Fleet(p.fleets, desk, filepath.Join(s.config.Data, agentFolder)); err != nil {
			return "", err
		}
		said += fmt.Sprintf(", %d PCs with simulated devices", len(demo.Labs))
		if slices.Contains(p.houses.Offered, workspace.OnThisMachine) {
			p.demo.Workspaces(p.houses.Store, workspace.OnThisMachine, p.firstAdmin)
			said += fmt.Sprintf(", %d workspaces for the first admin", len(demo.Homes))
		}
	}
	if s.cluster == nil || p.vault == nil || p.executor == nil {
		return said, nil
	}
	for _, name := range demo.Shops {
		if err := s.cluster.EnsureDatabase(ctx, name); err != nil {
			return "", err
		}
	}
	p.demo.Rollout(p.rollouts, s.cluster.URL)
	return said + ", rollout shop", nil
}
