package fleets

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
)

// The calls that an agent makes by itself, and how often.
const (
	lookEvery  = 5 * time.Second
	renewEvery = 10 * time.Second
	beatEvery  = 10 * time.Second
	tendEvery  = time.Second
)

// side is the load besides the turns.
type side struct {
	lab          *Lab
	all          sync.WaitGroup
	mu           sync.Mutex
	err          error
	calls, plain atomic.Int64
}

// start starts the side load. The returned function waits for its end, after ctx was
// canceled.
func (l *Lab) start(ctx context.Context, b Beside) func() (plain, calls int, err error) {
	s := &side{lab: l}
	if b.Lives {
		s.cycle(ctx, lookEvery, l.say)
		s.cycle(ctx, renewEvery, l.renew)
		s.cycle(ctx, beatEvery, l.beat)
		s.run(func() error { return l.tend(ctx) })
	}
	if b.Plain > 0 {
		s.run(func() error { return s.work(ctx, b.Plain) })
	}
	return func() (int, int, error) {
		s.all.Wait()
		return int(s.plain.Load()), int(s.calls.Load()), s.err
	}
}

func (s *side) run(do func() error) {
	s.all.Go(func() {
		if err := do(); err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, err)
			s.mu.Unlock()
		}
	})
}

// cycle has every PC make a call once per interval, evenly spread, whatever the others
// do. A PC without an answer to its previous call skips its turn, as agents do.
func (s *side) cycle(ctx context.Context, every time.Duration, do func(context.Context, *pc) error) {
	pause := every / time.Duration(len(s.lab.pcs))
	busy := make([]atomic.Bool, len(s.lab.pcs))
	s.run(func() error {
		due := time.Now()
		for i := 0; ; i = (i + 1) % len(busy) {
			due = due.Add(pause)
			if !loop.Wait(ctx, max(time.Until(due), 0), nil) {
				return nil
			}
			if busy[i].Swap(true) {
				continue
			}
			s.run(func() error {
				defer busy[i].Store(false)
				if err := do(context.WithoutCancel(ctx), s.lab.pcs[i]); err != nil {
					return err
				}
				s.calls.Add(1)
				return nil
			})
		}
	})
}

// renew extends all leases of a PC.
func (l *Lab) renew(ctx context.Context, p *pc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	tasks, attempts, tokens := make([]weir.ID, len(p.held)), make([]int, len(p.held)), make([]weir.ID, len(p.held))
	for i, h := range p.held {
		tasks[i], attempts[i], tokens[i] = h.Task, h.Attempt, h.Token
	}
	var refused int
	if err := l.Pool.QueryRow(ctx, `select count(*) from weir.renew($1, $2, $3, $4, $5)`, p.name, tasks, attempts, tokens, lease).Scan(&refused); err != nil {
		return err
	}
	if refused > 0 {
		return errors.New("a lease of " + p.name + " was lost")
	}
	return nil
}

func (l *Lab) beat(ctx context.Context, p *pc) error {
	_, err := l.Pool.Exec(ctx, `select weir.heartbeat($1)`, p.name)
	return err
}

// tend runs the leader's passes.
func (l *Lab) tend(ctx context.Context) error {
	for loop.Wait(ctx, tendEvery, nil) {
		for _, sql := range []string{`select weir.tend(sweep => true)`, `select weir.fleet_tend()`} {
			if _, err := l.others.Exec(context.WithoutCancel(ctx), sql); err != nil {
				return err
			}
		}
	}
	return nil
}

// work submits tasks at a fixed rate and works them, as the SDK does.
func (s *side) work(ctx context.Context, pace int) error {
	const service, tick = "plain", 100 * time.Millisecond
	client, err := weir.New(s.lab.others, &weir.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	worker := weir.NewWorker(client, weir.WorkerConfig{Concurrency: 100})
	weir.Handle(worker, service, func(context.Context, *weir.Run[struct{}]) (any, error) {
		s.plain.Add(1)
		return nil, nil
	}, weir.Concurrency(100))
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(ctx)) }()
	var failed error
	for due := time.Now(); failed == nil && loop.Wait(ctx, time.Until(due), nil); due = due.Add(tick) {
		tasks := make([]weir.Task, pace/int(time.Second/tick))
		for i := range tasks {
			tasks[i] = weir.Task{Service: service}
		}
		_, failed = client.SubmitMany(context.WithoutCancel(ctx), tasks)
	}
	stopped := worker.Stop(context.WithoutCancel(ctx))
	failed = errors.Join(failed, stopped, <-ended)
	client.Close()
	return failed
}
