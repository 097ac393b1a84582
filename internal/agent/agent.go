package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/leasing"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

// Agent runs the tasks of one node. See [New] and [Agent.Run].
type Agent struct {
	config    Config
	transport Transport
	log       *slog.Logger
	begun     atomic.Bool
	// heard is when the last call was answered, in machine uptime.
	heard atomic.Int64

	drain, leave, detach chan struct{}
	drainOnce            sync.Once
	leaveOnce            sync.Once
	detachOnce           sync.Once
	// left counts the attempts that run on when the agent has detached.
	left atomic.Int64
	// kick ends the wait of a claim because a slot is free or the orders changed.
	kick chan struct{}
	// told wakes the reporter.
	told chan struct{}
	// keeper renews the leases in held. If lookAll is set, the next renewal names all of
	// them, because one of the attempts is to be canceled.
	keeper  leasing.Keeper
	lookAll atomic.Bool
	group   sync.WaitGroup
	stats   stats
	// beatNow ends the wait before the next heartbeat, probeNow that before the next probe.
	beatNow, probeNow chan struct{}
	// fullAt is the uptime at which the disk was last seen full while work ran.
	fullAt atomic.Int64
	survey survey

	mu sync.Mutex
	// settled is broadcast when a renewal has been answered.
	settled *sync.Cond
	orders  node.Orders
	held    map[node.Lease]*attempt
	mail    mail
	idle    map[string]time.Time
	// lastErr is why the last call failed, if none was answered since, and said is when a
	// failing call was last logged, by operation.
	lastErr error
	said    map[string]time.Duration
	// faults are the services that are broken here or were, silent is why drivers do not
	// work; faultsNew is set if the server has yet to hear of a change.
	faults    map[string]*fault
	silent    map[string]error
	faultsNew bool
}

// Stats counts what an agent has done since it started.
type Stats struct{ Claimed, Done, Failed, Returned, Canceled, Lost, Adopted int64 }

type stats struct{ claimed, done, failed, returned, canceled, lost, adopted atomic.Int64 }

// Stats returns the counters. Lost counts attempts whose lease was lost.
func (a *Agent) Stats() Stats {
	s := &a.stats
	return Stats{s.claimed.Load(), s.done.Load(), s.failed.Load(), s.returned.Load(), s.canceled.Load(), s.lost.Load(), s.adopted.Load()}
}

// New returns an agent.
func New(config Config) *Agent {
	config = config.withDefaults()
	a := &Agent{
		config: config, transport: config.Transport, log: config.Log,
		drain: make(chan struct{}), leave: make(chan struct{}), detach: make(chan struct{}),
		kick: make(chan struct{}, 1), told: make(chan struct{}, 1), beatNow: make(chan struct{}, 1), probeNow: make(chan struct{}, 1),
		faults: map[string]*fault{}, faultsNew: true,
		orders: node.Orders{Mode: node.Active, Labels: config.Info.Labels, Capacity: config.Info.Capacity},
		held:   map[node.Lease]*attempt{}, idle: map[string]time.Time{}, said: map[string]time.Duration{}, survey: survey{looker: make(chan struct{}, 1)},
	}
	a.settled = sync.NewCond(&a.mu)
	a.keeper = leasing.Keeper{
		Length: config.Lease, Clock: uptime.Now, Look: make(chan struct{}, 1), Renew: a.renewDue, Guard: a.guard,
	}
	for service := range config.Info.Capacity {
		a.idle[service] = time.Now() // a previous process may have left it running
	}
	return a
}

// Drain makes the agent finish its running work and claim no more; then Run returns.
func (a *Agent) Drain() {
	a.drainOnce.Do(func() { close(a.drain) })
	signal(a.kick)
}

// Leave stops running work, hands it back without spending its attempts, and ends Run.
func (a *Agent) Leave() {
	a.Drain()
	a.leaveOnce.Do(func() { close(a.leave) })
}

// Detach leaves running work alone and ends Run, for the next process of the agent to go
// on with. Work of drivers that cannot be adopted is handed back.
func (a *Agent) Detach() {
	a.Drain()
	a.detachOnce.Do(func() { close(a.detach) })
}

// Left returns how many attempts run on after the agent has detached.
func (a *Agent) Left() int { return int(a.left.Load()) }

// Run works until Drain, Detach or Leave is called; the end of ctx acts as Leave. It returns an
// error if the agent could not start, or if the server has not answered for so long that
// the supervisor should restart the agent.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.config.Check(); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if a.begun.Swap(true) {
		return errors.New("agent: run: an agent runs once: make a new one")
	}
	defer a.closeDrivers()
	stopLeave := context.AfterFunc(ctx, a.Leave)
	defer stopLeave()
	if err := os.MkdirAll(Attempts(a.config.Dir), 0o711); err != nil { // #nosec G301 -- work that runs as another user must get through
		return fmt.Errorf("agent: make its folder: %w", err)
	}
	free, err := a.moveIn(ctx)
	if err != nil {
		return err
	}
	defer free()
	a.probe(ctx)
	a.listDrivers()
	a.hear()
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if known, err := a.enlist(life); err != nil || !known {
		return err
	}
	if err := a.adopt(life); err != nil {
		return fmt.Errorf("agent: look for what an earlier life left: %w", err)
	}
	var loops sync.WaitGroup
	working, rest := context.WithCancel(life)
	loops.Go(func() { a.beatLoop(working) })
	loops.Go(func() { a.keeper.Run(working) })
	loops.Go(func() { a.idleLoop(working) })
	loops.Go(func() { a.surveyLoop(working) })
	loops.Go(func() { a.forwardLoop(working) })
	loops.Go(func() { a.probeLoop(working) })
	loops.Go(func() { a.diskLoop(working) })
	reporting, hush := context.WithCancel(life)
	var reporter sync.WaitGroup
	reporter.Go(func() { a.reportLoop(reporting) })

	err = a.claimLoop(life)
	if err != nil {
		a.Leave()
	}
	a.group.Wait()
	rest()
	loops.Wait()
	hush()
	reporter.Wait()
	a.goodbye(context.WithoutCancel(ctx))
	return err
}

// listDrivers lists the drivers that work on this machine when the agent starts.
func (a *Agent) listDrivers() {
	a.config.Info.Drivers = nil
	for _, d := range a.config.Drivers {
		if i, ok := d.(driver.Isolator); ok {
			a.config.Info.Isolation = i.Isolation()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.config.Drivers)) {
		if a.silent[name] == nil {
			a.config.Info.Drivers = append(a.config.Info.Drivers, name)
		}
	}
}

func (a *Agent) closeDrivers() {
	for _, d := range a.config.Drivers {
		if c, ok := d.(io.Closer); ok {
			if err := c.Close(); err != nil {
				a.log.Warn("a driver did not close", "driver", d.Name(), "error", err)
			}
		}
	}
}

// enlist registers the node and retries until the call is answered. An agent that is asked
// to stop meanwhile has nothing to finish.
func (a *Agent) enlist(ctx context.Context) (known bool, err error) {
	for failures := 0; !closed(a.drain); failures++ {
		try, cancel := context.WithTimeout(ctx, a.config.Beat)
		err := a.transport.Register(try, a.config.Info)
		cancel()
		if err == nil {
			a.hear()
			return true, nil
		}
		if final(err) {
			return false, fmt.Errorf("agent: register: %w", err)
		}
		a.failed("register", err)
		if err := a.overdue(); err != nil {
			return false, err
		}
		loop.Wait(ctx, backoff(failures), a.drain)
	}
	return false, nil
}

// goodbye tells the server that the agent stops. The leases that the agent still holds
// return at once, unless work goes on under them.
func (a *Agent) goodbye(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stop := a.transport.Stop
	if a.left.Load() > 0 {
		stop = a.transport.Detach
	}
	if err := stop(ctx); err != nil {
		a.log.Warn("nobody heard that the agent stops", "error", err)
	}
}

// driverFor returns the driver that a run asks for.
func (a *Agent) driverFor(run node.Run) (driver.Driver, error) {
	d := a.config.Drivers[run.Driver]
	a.mu.Lock()
	why := a.silent[run.Driver]
	a.mu.Unlock()
	switch {
	case d == nil:
		err := fmt.Errorf("node %s cannot run it: it has no driver %q (it has %v)", a.config.Info.Name, run.Driver, a.config.Info.Drivers)
		return nil, &driver.Broken{Fault: node.NoDriver, Err: err}
	case why != nil:
		err := fmt.Errorf("node %s cannot run it: the driver %s does not work: %w", a.config.Info.Name, run.Driver, why)
		return nil, &driver.Broken{Fault: node.NoDriver, Err: err}
	}
	return d, nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
