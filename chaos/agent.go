//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// listenName is the application name of LISTEN connections, so that they can be cut.
const listenName = "chaos listen"

// AgentVariable contains the orders of an agent process as JSON.
const AgentVariable = "WEIR_CHAOS_AGENT"

// Orders say what an agent does.
type Orders struct {
	Name string
	URL  string
	// Kind is sql (default), sdk, leader, coordinator, conductor or machine.
	Kind string
	// Machine is for the kind of that name.
	Machine  *Machine `json:",omitempty"`
	Services []string
	Slots    int
	Lease    time.Duration
	// Poll is how often the agent looks for work by itself. Zero means never: it waits
	// for hints and trusts its first LISTEN connection (a broken build).
	Poll time.Duration
	// Listen says that the agent also looks when it receives a hint.
	Listen bool
	// Tend says that the agent tends the engine.
	Tend bool
	// Patience is the timeout of a call.
	Patience time.Duration
	// Skew is how wrong the agent's clock is.
	Skew time.Duration
}

// RunAgent runs an agent process: main calls it when AgentVariable is set. It ends when
// the parent closes the pipe.
func RunAgent(orders string) error {
	var o Orders
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		return fmt.Errorf("the orders of an agent: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	log := newPipeLog(os.Stdin, os.Stdout, cancel)
	switch o.Kind {
	case "machine":
		return runMachine(ctx, o)
	case "conductor":
		return conduct(ctx, o)
	}
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return err
	}
	config.MaxConns = 6
	config.ConnConfig.ConnectTimeout = 2 * time.Second
	config.ConnConfig.RuntimeParams["application_name"] = "chaos " + o.Name
	config.ConnConfig.Tracer = timeWatch{log}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	a := &agent{Orders: o, client: &Client{Name: o.Name, Pool: pool, Log: log, Lease: o.Lease, Patience: o.Patience}, held: map[string]*work{}}
	switch o.Kind {
	case "leader":
		a.lead(ctx)
	case "coordinator":
		a.coordinate(ctx)
	case "sdk":
		return runSDK(ctx, o, pool, log)
	default:
		a.work(ctx)
	}
	return nil
}

// agent is a small worker that does by hand what the SDK's worker does.
type agent struct {
	Orders
	client *Client

	mu   sync.Mutex
	held map[string]*work
	busy sync.WaitGroup
}

// work is a lease that the agent holds.
type work struct {
	Leased
	stop context.CancelFunc
	// canceled is set if the task's cancellation was requested.
	canceled bool
	// good is until when the lease is certain, by the agent's own clock.
	good time.Time
}

// now returns the agent's wall clock, which may be wrong. It is used for nothing that
// leaves the process.
func (a *agent) now() time.Time { return time.Now().Add(a.Skew) }

func (a *agent) work(ctx context.Context) {
	told := make(chan struct{}, 1)
	var loops sync.WaitGroup
	loops.Go(func() { every(ctx, a.Lease/3, a.renew) })
	if a.Tend {
		loops.Go(func() {
			every(ctx, 300*time.Millisecond, func(ctx context.Context) { _, _ = a.client.Tend(ctx, true) }) // the next pass does its work
		})
	}
	poll := a.Poll
	switch {
	case poll == 0:
		poll = time.Hour
		loops.Go(func() { a.listen(ctx, told) })
	case a.Listen:
		loops.Go(func() { every(ctx, 50*time.Millisecond, func(ctx context.Context) { a.listen(ctx, told) }) })
	}
	for ctx.Err() == nil {
		a.claim(ctx)
		select {
		case <-ctx.Done():
		case <-told:
		case <-time.After(poll):
		}
	}
	loops.Wait()
	a.busy.Wait()
}

// every calls f repeatedly, d apart.
func every(ctx context.Context, d time.Duration, f func(context.Context)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f(ctx)
		}
	}
}

// listen waits for hints until its connection is lost.
func (a *agent) listen(ctx context.Context, told chan<- struct{}) {
	config := a.client.Pool.Config().ConnConfig
	config.RuntimeParams["application_name"] = listenName
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `listen weir_available`); err != nil {
		return
	}
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return
		}
		select {
		case told <- struct{}{}:
		default:
		}
	}
}

// claim fills the free slots. A claim without an answer is repeated with its id until the
// answer comes, because its leases would be lost otherwise.
func (a *agent) claim(ctx context.Context) {
	for ctx.Err() == nil {
		a.mu.Lock()
		free := a.Slots - len(a.held)
		a.mu.Unlock()
		if free < 1 {
			return
		}
		id := newID()
		sent := a.now()
		got, out, err := a.client.Claim(ctx, a.Services, free, id)
		for tries := 0; err != nil && out == Unknown && tries < 20 && pause(ctx, 50*time.Millisecond); tries++ {
			sent = a.now()
			got, out, err = a.client.Claim(ctx, a.Services, free, id)
		}
		if len(got) == 0 {
			return
		}
		for _, l := range got {
			w := &work{Leased: l, good: sent.Add(a.Lease)}
			var life context.Context
			life, w.stop = context.WithCancel(ctx)
			a.mu.Lock()
			a.held[l.Task] = w
			a.mu.Unlock()
			a.busy.Go(func() { a.run(ctx, life, w) })
		}
	}
}

// run does the work and reports it repeatedly until an answer comes.
func (a *agent) run(ctx, life context.Context, w *work) {
	defer a.drop(w)
	a.client.Log.End(a.client.Log.Begin(Call{Op: "run", Items: []Item{w.Item}}), Reply{Out: OK})
	if w.Params.Poison {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	done := pause(life, time.Duration(w.Params.WorkMS)*time.Millisecond)
	a.mu.Lock()
	canceled := w.canceled
	a.mu.Unlock()
	if !done && !canceled {
		return // the lease is lost, or the agent ends
	}
	report := func() (string, Outcome, error) { return a.client.Finish(ctx, w.Item) }
	switch {
	case canceled:
		report = func() (string, Outcome, error) { return a.client.ConfirmCancel(ctx, w.Item) }
	case w.Attempt <= w.Params.Fails:
		report = func() (string, Outcome, error) { return a.client.Fail(ctx, w.Item, "chaos wants it to fail") }
	}
	for tries := 0; tries < 200; tries++ {
		if _, _, err := report(); err == nil || !pause(ctx, 50*time.Millisecond) {
			return
		}
	}
}

func (a *agent) drop(w *work) {
	w.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held[w.Task] == w {
		delete(a.held, w.Task)
	}
}

// renew extends held leases, and stops work whose lease is lost or in doubt.
func (a *agent) renew(ctx context.Context) {
	a.mu.Lock()
	items := make([]Item, 0, len(a.held))
	for _, w := range a.held {
		items = append(items, w.Item)
	}
	a.mu.Unlock()
	if len(items) == 0 {
		return
	}
	sent := a.now()
	answers, _, err := a.client.Renew(ctx, items)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		for _, w := range a.held {
			if a.now().After(w.good) {
				w.stop()
			}
		}
		return
	}
	for _, i := range answers {
		w := a.held[i.Task]
		switch {
		case w == nil || w.Attempt != i.Attempt:
		case i.Value == "ok":
			w.good = sent.Add(a.Lease)
		default:
			w.canceled = i.Value == "cancel"
			w.stop()
		}
	}
}

// pause waits for d and reports whether ctx is still valid.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
