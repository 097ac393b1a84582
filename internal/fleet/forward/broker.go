package forward

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

// Config configures a Broker. Store is required, and zero times mean the defaults.
type Config struct {
	Store *fleet.Store
	// Sub receives [fleet.ForwardChannel]. If it is nil, the broker polls.
	Sub *listen.Subscription
	// Server is where other servers reach this one; empty: they do not.
	Server string
	Log    *slog.Logger
	// Take is how long an agent may take to take up a forward: 20 s. Check is the time
	// between two checks whether a forward may go on: 3 s. Trust is how long it goes on
	// when the database does not answer: 30 s. Idle is how long it may carry nothing:
	// [fleet.ForwardIdleAfter]. Poll is the time between two looks without a hint: 2 s.
	Take, Check, Trust, Idle, Poll time.Duration
}

// Broker carries the forwards of one server. It is safe for concurrent use.
type Broker struct {
	config Config
	done   chan struct{}
	group  sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	sessions map[weir.ID]*Session
	// waiting are those who wait for a notification, by what it says.
	waiting map[string]map[chan struct{}]struct{}
}

// New returns a broker. Close it when the server stops.
func New(c Config) *Broker {
	c.Take = cmp.Or(c.Take, 20*time.Second)
	c.Check = cmp.Or(c.Check, 3*time.Second)
	c.Trust = cmp.Or(c.Trust, 30*time.Second)
	c.Idle = cmp.Or(c.Idle, fleet.ForwardIdleAfter)
	c.Poll = cmp.Or(c.Poll, 2*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	b := &Broker{
		config: c, done: make(chan struct{}), sessions: map[weir.ID]*Session{},
		waiting: map[string]map[chan struct{}]struct{}{},
	}
	if c.Sub != nil {
		b.group.Go(b.hear)
	}
	return b
}

// Close ends the forwards and waits until their ends are recorded. A nil Broker has none.
func (b *Broker) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.done)
	}
	b.mu.Unlock()
	b.group.Wait()
}

// hear wakes those whom a notification concerns.
func (b *Broker) hear() {
	defer b.config.Sub.Close()
	for {
		select {
		case <-b.config.Sub.C():
		case <-b.done:
			return
		}
		hint := b.config.Sub.Take()
		b.mu.Lock()
		for word, set := range b.waiting {
			concerned := hint.All
			for _, note := range hint.Notes {
				concerned = concerned || note.Payload == word
			}
			if concerned {
				for c := range set {
					wake(c)
				}
			}
		}
		b.mu.Unlock()
	}
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wait returns a channel that receives the notifications of a word.
func (b *Broker) wait(word string) (c chan struct{}, leave func()) {
	c = make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[word] == nil {
		b.waiting[word] = map[chan struct{}]struct{}{}
	}
	b.waiting[word][c] = struct{}{}
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if delete(b.waiting[word], c); len(b.waiting[word]) == 0 {
			delete(b.waiting, word)
		}
	}
}

// Orders returns the forwards that the agent of a PC should take up, and waits for one as
// long as the agent says. ports are those that the agent allows.
func (b *Broker) Orders(ctx context.Context, pc, ports string, within time.Duration) ([]fleet.ForwardOrder, error) {
	c, leave := b.wait(pc)
	defer leave()
	limit, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		orders, err := b.config.Store.ForwardOrders(ctx, pc, ports)
		if err != nil || len(orders) > 0 {
			return orders, err
		}
		if !loop.Wait(limit, b.config.Poll, c) {
			return nil, ctx.Err()
		}
	}
}

// Refuse records that the agent of a PC does not take up a forward.
func (b *Broker) Refuse(ctx context.Context, pc string, id weir.ID, why string) error {
	return b.config.Store.RefuseForward(ctx, id, pc, why)
}

// errNotHere is the answer to an agent that asks a server for a forward of another one.
func errNotHere() error {
	return problem.New(problem.Unreachable, "try again: another server may carry it; see the setting peer_url",
		"this server does not carry the forward")
}

// Join returns the forward that the agent of a PC takes up here. If another server carries
// it, peer is the address of that one.
func (b *Broker) Join(ctx context.Context, pc string, id weir.ID) (s *Session, peer string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s = b.sessions[id]; s == nil {
		b.mu.Unlock()
		peer, err = b.config.Store.ForwardServer(ctx, id, pc)
		b.mu.Lock()
		if err == nil && (peer == "" || peer == b.config.Server) {
			err = errNotHere()
		}
		return nil, peer, err
	}
	// The name of the PC is known once the row is there, and the agent has read the row.
	if s.pc != pc {
		return nil, "", problem.New(problem.NotFound, "", "there is no such forward")
	}
	if s.taken {
		return nil, "", problem.New(problem.Conflict, "", "the forward was taken up already")
	}
	s.taken = true
	return s, "", nil
}

// Knows returns an error if there is no such device.
func (b *Broker) Knows(ctx context.Context, serial string) error {
	_, err := b.config.Store.Device(ctx, serial)
	return err
}

// Open asks for a forward and waits until the agent has taken it up.
func (b *Broker) Open(ctx context.Context, r fleet.ForwardRequest) (*Session, error) {
	r.Server = b.config.Server
	s := &Session{broker: b, id: newID(), joined: make(chan *tunnel.Conn, 1), over: make(chan struct{})}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, problem.New(problem.Unreachable, "ask again: another server answers, or this one when it is back", "the server is stopping")
	}
	b.group.Add(1)
	b.sessions[s.id] = s
	b.mu.Unlock()
	hint, leave := b.wait(s.id.String())
	defer leave()
	pc, err := b.config.Store.OpenForward(ctx, s.id, r)
	if err != nil {
		b.forget(s)
		b.group.Done()
		return nil, err
	}
	b.mu.Lock()
	s.pc = pc
	b.mu.Unlock()
	if err := s.await(ctx, hint); err != nil {
		s.finish(fleet.ForwardAgent)
		return nil, err
	}
	return s, nil
}

// await waits for the agent.
func (s *Session) await(ctx context.Context, hint <-chan struct{}) error {
	limit, cancel := context.WithTimeout(ctx, s.broker.config.Take)
	defer cancel()
	for {
		looks, stop := context.WithTimeout(limit, s.broker.config.Poll)
		select {
		case s.agent = <-s.joined:
		case <-hint:
		case <-looks.Done():
		}
		stop()
		if s.agent != nil {
			return s.broker.config.Store.JoinForward(ctx, s.id)
		}
		switch err := limit.Err(); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return problem.New(problem.Unreachable, "does it still run with --forward? see: weir pc show "+s.pc,
				"the agent of PC %s did not take up the forward in time", s.pc)
		}
		ends, refused, err := s.broker.config.Store.KeepForward(ctx, s.id)
		switch {
		case err != nil:
			return err
		case refused != "":
			return problem.New(problem.Conflict, "ask the operator of the PC", "PC %s refuses the forward: %s", s.pc, refused)
		case ends != "":
			return problem.New(problem.Conflict, "see the device", "the forward ended before it began: %s", ends)
		}
	}
}

// newID returns a random UUID (version 4).
func newID() (id weir.ID) {
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// forget removes a session from those that agents can join.
func (b *Broker) forget(s *Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, s.id)
}
