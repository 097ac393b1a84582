package forward

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/loop"
)

// endWithin is how long the record of an end may take.
const endWithin = 10 * time.Second

// Session is a forward that this server carries.
type Session struct {
	broker *Broker
	id     weir.ID
	// The broker's mutex guards pc and taken. taken is set when an agent joins.
	pc    string
	taken bool
	// joined receives the agent's end, over is closed when the forward is over.
	joined chan *tunnel.Conn
	over   chan struct{}
	agent  *tunnel.Conn
}

// PC returns the name of the PC of the device.
func (s *Session) PC() string { return s.pc }

// Untake lets the agent join again, because its tunnel did not come about.
func (s *Session) Untake() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	s.taken = false
}

// Attach hands the agent's end over, and returns when the forward is over.
func (s *Session) Attach(agent *tunnel.Conn) {
	s.joined <- agent // it has room for the one that has taken it
	<-s.over
	_ = agent.Close() // it may have ended, or nobody has waited for it any more
}

// ended is why a forward ends, as a cause.
type ended string

func (e ended) Error() string { return string(e) }

// Carry connects the user's end with the agent's, until one of them ends, the database or
// allowed says that it must, or nothing was carried for too long. allowed checks whether the
// user still may. It returns why the forward ended, which the user's end is told.
func (s *Session) Carry(ctx context.Context, user *tunnel.Conn, allowed func(context.Context) error) (why string) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	group.Go(func() {
		_, _ = io.Copy(s.agent, user) // either end may go at any time
		cancel(ended(fleet.ForwardUser))
	})
	group.Go(func() {
		_, _ = io.Copy(user, s.agent) // the same
		cancel(ended(fleet.ForwardAgent))
	})
	group.Go(func() { user.Keep(ctx) })
	group.Go(func() { s.agent.Keep(ctx) })
	group.Go(func() { cancel(ended(s.watch(ctx, user, allowed))) })
	<-ctx.Done()
	why = fleet.ForwardStopping
	var e ended
	if errors.As(context.Cause(ctx), &e) {
		why = string(e)
	}
	_ = s.agent.Close() // it may have ended
	user.End(why)
	group.Wait()
	s.finishWith(why, user.Moved(), s.agent.Moved())
	return why
}

// watch returns why the forward must end.
func (s *Session) watch(ctx context.Context, user *tunnel.Conn, allowed func(context.Context) error) string {
	c := s.broker.config
	moved, at := int64(-1), time.Now()
	checked := at
	for loop.Wait(ctx, c.Check, s.broker.done) {
		select {
		case <-s.broker.done:
			return fleet.ForwardStopping
		default:
		}
		now := time.Now()
		if sum := user.Moved() + s.agent.Moved(); sum != moved {
			moved, at = sum, now
		} else if now.Sub(at) > c.Idle {
			return fleet.ForwardIdle
		}
		if err := allowed(ctx); err != nil {
			return fleet.ForwardForbidden
		}
		ends, _, err := c.Store.KeepForward(ctx, s.id)
		switch {
		case err == nil && ends != "":
			return ends
		case err == nil:
			checked = now
		case now.Sub(checked) > c.Trust:
			return fleet.ForwardUnchecked
		default:
			c.Log.Debug("a forward was not checked", "forward", s.id, "error", err)
		}
	}
	return fleet.ForwardStopping
}

// Drop ends a forward whose user went before it began.
func (s *Session) Drop() { s.finish(fleet.ForwardUser) }

func (s *Session) finish(why string) { s.finishWith(why, 0, 0) }

// finishWith records the end. A record that fails is made by weir.fleet_tidy.
func (s *Session) finishWith(why string, sent, received int64) {
	defer s.broker.group.Done()
	s.broker.forget(s)
	close(s.over)
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	if err := s.broker.config.Store.EndForward(ctx, s.id, why, sent, received); err != nil {
		s.broker.config.Log.Warn("the end of a forward was not recorded", "forward", s.id, "error", err)
	}
}
