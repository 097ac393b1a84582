package weir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/leasing"
	"github.com/weirhq/weir/internal/uptime"
)

// WorkerConfig tunes a worker. The zero value works.
type WorkerConfig struct {
	// Name must be this worker's alone: while another one of this name is heard,
	// Run is refused. That of a process that died is free 30 s later. Empty: made
	// of the host, the process and a random part.
	Name string
	// Node is the machine the worker runs on. Empty: none. If NodeLabels or
	// NodeCapacity are given, the worker registers the node with them.
	Node         string
	NodeLabels   map[string]string
	NodeCapacity map[string]int
	// Labels are the worker's own, beside those of its node.
	Labels map[string]string
	// Concurrency is how many tasks run at once. Zero: 100.
	Concurrency int
	// Batch is how many tasks one claim takes at most. Zero: 1,000.
	Batch int
	// Lease is how long a task stays with a worker that is not heard of.
	// Zero: 30 s.
	Lease time.Duration
	// PollFloor is the longest time an idle worker goes without looking while
	// it hears of new work; when it does not hear, it looks every second.
	// Zero: 30 s.
	PollFloor time.Duration
	// Grace is how long handlers may run on after the worker was told to stop.
	// Zero: 10 s.
	Grace time.Duration
}

func (c WorkerConfig) withDefaults() WorkerConfig {
	if c.Name == "" {
		host, _ := os.Hostname() // a name without it is good too
		token := newToken()
		c.Name = fmt.Sprintf("%s-%d-%x", cmp.Or(host, "worker"), os.Getpid(), token[:4])
	}
	c.Concurrency = cmp.Or(c.Concurrency, 100)
	c.Batch = cmp.Or(c.Batch, 1000)
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	c.PollFloor = cmp.Or(c.PollFloor, 30*time.Second)
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	return c
}

// Worker claims tasks and runs their handlers. See [Handle] and [Worker.Run].
type Worker struct {
	client *Client
	config WorkerConfig
	log    *slog.Logger
	// keeper keeps what held has. Its clock counts the sleep of the machine.
	keeper leasing.Keeper
	// holder tells this worker from another one of its name; nameFor is how long Run
	// waits for a name that another one has.
	holder  string
	nameFor time.Duration
	// twin is why the worker stops: another one has its name.
	twin atomic.Pointer[error]

	handlers map[string]*handler
	// services has the keys of handlers, sorted.
	services []string
	begun    atomic.Bool
	// values is what the contexts of handlers inherit: what Run's context
	// carries, but not its end.
	values context.Context
	// life ends last of all: what talks to the database lives in it.
	life  context.Context
	group sync.WaitGroup

	stop, hurry, ended chan struct{}
	stopOnce           sync.Once
	hurryOnce          sync.Once

	// woken: there may be work. slot: enough slots are free. quiet: nothing runs, or
	// nothing is left to report. again: ends could not be told.
	woken, slot, quiet, again chan struct{}
	// active: the node may claim.
	active atomic.Bool
	stats  stats

	mu   sync.Mutex
	held leases
	// running counts handlers that have not returned. A lease is held longer:
	// until the database has answered how it ended.
	running int
	// freed counts slots of hungry services that became free since the last
	// claim; enough of them (want) end the claimer's rest.
	freed, want int
	// named are leases somebody wants to cancel.
	named []ID
	// queue has leases whose end must be told; flushing counts who is at it.
	queue    []*lease
	flushing int
	// refusals counts reports in a row that the database did not take whole.
	refusals int
}

// Stats counts what a worker has done since it began.
type Stats struct{ Claimed, Done, Failed, Returned, Canceled, Lost int64 }

type stats struct{ claimed, done, failed, returned, canceled, lost atomic.Int64 }

// Stats returns the counters. Lost counts attempts whose lease was lost or whose
// end the database refused.
func (w *Worker) Stats() Stats {
	s := &w.stats
	return Stats{s.claimed.Load(), s.done.Load(), s.failed.Load(), s.returned.Load(), s.canceled.Load(), s.lost.Load()}
}

// NewWorker makes a worker. Give it handlers, then call Run.
func NewWorker(client *Client, config WorkerConfig) *Worker {
	w := &Worker{
		client: client, config: config.withDefaults(), handlers: map[string]*handler{}, holder: newToken().String(), nameFor: nameFor,
		stop: make(chan struct{}), hurry: make(chan struct{}), ended: make(chan struct{}),
		woken: make(chan struct{}, 1), slot: make(chan struct{}, 1), quiet: make(chan struct{}, 1), again: make(chan struct{}, 1),
	}
	w.keeper = leasing.Keeper{
		Length: w.config.Lease, Clock: uptime.Now, Look: make(chan struct{}, 1), Renew: w.renewDue, Guard: w.stopUnsure,
	}
	w.log = client.log.With("worker", w.config.Name)
	w.active.Store(true)
	return w
}

// Name is the name under which the worker is registered.
func (w *Worker) Name() string { return w.config.Name }

func (w *Worker) register(h *handler) {
	switch {
	case w.begun.Load():
		panic("weir: Handle: the worker runs already")
	case w.handlers[h.service] != nil:
		panic("weir: Handle: service " + h.service + " has a handler")
	case h.service == "" || strings.Contains(h.service, ",") || h.limit < 1:
		panic("weir: Handle: a service has a name without commas and runs at least one task at once")
	}
	w.handlers[h.service] = h
	w.services = append(w.services, h.service)
	slices.Sort(w.services)
}

// serves reports whether a hint for these services is for this worker.
func (w *Worker) serves(services []string) bool {
	return len(services) == 0 || slices.ContainsFunc(services, func(s string) bool { return w.handlers[s] != nil })
}

// wake makes the worker look for work.
func (w *Worker) wake() { signal(w.woken) }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run registers the worker and works until ctx ends or Stop is called. Then it
// claims no more, lets its handlers run on for the grace, takes their contexts
// away, and hands back what is left without spending attempts. It can be called
// once. Its error says why the worker could not begin, or that another one took its
// name while it was not heard.
func (w *Worker) Run(ctx context.Context) error {
	if len(w.handlers) == 0 {
		return errors.New("weir: run: the worker has no handlers: call weir.Handle first")
	}
	if w.begun.Swap(true) {
		return errors.New("weir: run: a worker runs once: make a new one")
	}
	defer close(w.ended)
	w.values = context.WithoutCancel(ctx)
	// Until it is registered there is nothing to finish, so ctx ends that.
	begin, began := context.WithCancel(ctx)
	defer began()
	defer context.AfterFunc(ctx, w.begone)()
	go func() {
		select {
		case <-w.stop:
			began()
		case <-begin.Done():
		}
	}()
	if err := w.enlist(begin); err != nil {
		if begin.Err() != nil {
			return nil
		}
		return err
	}
	w.client.warmOnce.Do(func() { w.client.background(func(ctx context.Context) { w.client.warm(ctx, w.config.Name) }) })
	var end context.CancelFunc
	w.life, end = context.WithCancel(w.values)
	defer end()
	w.client.mu.Lock()
	w.client.workers[w] = struct{}{}
	w.client.mu.Unlock()
	defer func() {
		w.client.mu.Lock()
		delete(w.client.workers, w)
		w.client.mu.Unlock()
	}()

	beat, stopBeat := context.WithCancel(w.life)
	defer stopBeat()
	var beating sync.WaitGroup
	beating.Go(func() { w.heartbeatLoop(beat) })
	beating.Go(func() { w.keeper.Run(beat) })
	beating.Go(func() { w.hintLoop(beat) })
	beating.Go(func() { w.retellLoop(beat) })
	claiming := make(chan struct{})
	go func() {
		defer close(claiming)
		w.claimLoop(w.life)
	}()

	<-w.stop
	w.windDown(claiming)
	stopBeat()
	beating.Wait()
	w.leave()
	end()
	<-claiming
	w.group.Wait()
	if twin := w.twin.Load(); twin != nil {
		return *twin
	}
	return nil
}

// begone begins the end.
func (w *Worker) begone() { w.stopOnce.Do(func() { close(w.stop) }) }

// Stop ends Run and waits for it. If ctx ends first, handlers lose their
// contexts at once instead of after the grace.
func (w *Worker) Stop(ctx context.Context) error {
	w.begone()
	if !w.begun.Load() {
		return nil
	}
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		w.hurryOnce.Do(func() { close(w.hurry) })
		<-w.ended
		return fmt.Errorf("weir: stop: handlers were interrupted: %w", context.Cause(ctx))
	}
}

// serve runs one handler and reports how it ended.
func (w *Worker) serve(l *lease) {
	ctx, tell := w.trace(l)
	result, err := l.handler.run(ctx, l)
	e := judge(result, err, context.Cause(l.ctx), l.timeout)
	l.cancel(nil)
	if l.abandon != nil {
		l.abandon.Stop()
	}
	tell(e, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	h := l.handler
	w.running--
	h.running--
	if h.freed++; h.hungry {
		w.freed++
		w.offerSlot()
	}
	if w.running == 0 {
		signal(w.quiet)
	}
	if e.late || l.ended || l.lost {
		w.log.Warn("a late result is refused", "task", l.task, "attempt", l.attempt, "service", h.service, "late", text(err))
	}
	if !l.ended && !l.lost {
		w.end(l, e)
	}
}

// giveUp ends an attempt whose handler ignores that its time is over. The slot
// stays taken until the handler returns.
func (w *Worker) giveUp(l *lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.ended && !l.lost {
		cause := fmt.Sprintf("timed out after %s, and the handler goes on", l.timeout)
		w.end(l, ending{verdict: asFailed, cause: cause, reason: byTimeout})
	}
}

// lose drops a lease that the database no longer knows. One that has ended goes
// when its end is refused. The caller does not hold the mutex.
func (w *Worker) lose(l *lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.lost || l.ended {
		return
	}
	l.lost = true
	w.held.remove(l)
	l.cancel(ErrLeaseLost)
	w.stats.lost.Add(1)
	w.log.Warn("a lease was lost; its handler is told to stop", "task", l.task, "attempt", l.attempt, "service", l.handler.service)
}
