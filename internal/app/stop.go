package app

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// handBackWithin is how long a worker may take to hand back what it holds.
	handBackWithin = 15 * time.Second
	// closeWithin is how long requests under way may take to end.
	closeWithin = 15 * time.Second
	// shutdownWithin is how long PostgreSQL may take to write everything out.
	shutdownWithin = time.Minute
	// drainServer is how long weir server answers on after it said that it stops:
	// longer than the pause between two looks of a usual balancer.
	drainServer = 5 * time.Second
)

// drain tells balancers that this server goes away, and goes on answering until
// they have heard: a listener that closes first would refuse what they still send.
func (s *Server) drain() {
	s.draining.Store(true)
	delay := s.config.DrainDelay
	if delay == 0 && !s.private {
		delay = drainServer
	}
	if delay <= 0 {
		return
	}
	_ = s.say.step("Draining; Ctrl-C again to force", func() (string, error) { // it cannot fail
		loop.Wait(s.options.Force, delay, s.options.drained)
		return "done", nil
	})
}

// stop ends everything: who works hands back, nobody new is let in, who answers
// ends its answers, who leads resigns, and PostgreSQL comes last because all of
// them need it.
func (s *Server) stop() error {
	s.draining.Store(true)
	s.stopping.Store(true)
	if s.listener == nil {
		return nil // nothing was started
	}
	s.say.line("Stopping; Ctrl-C again to force.")
	err := s.drop(s.parts.Load())
	if s.cluster != nil {
		err = errors.Join(err, s.say.step("Stopping PostgreSQL", func() (string, error) {
			ctx, cancel := context.WithTimeout(s.options.Force, shutdownWithin)
			defer cancel()
			return "stopped", s.cluster.Stop(ctx)
		}))
	}
	s.group.Wait()
	if s.private {
		err = errors.Join(err, removeRunning(s.config.Data))
	}
	switch {
	case err != nil:
	case s.options.Force.Err() != nil:
		s.say.line("Stopped by force; nothing that was committed is lost.")
	default:
		s.say.line("Stopped cleanly.")
	}
	return err
}

// drop ends what stands on the database, as far as it was started.
func (s *Server) drop(p *parts) error {
	if p == nil {
		return s.closeHTTP()
	}
	var err error
	if p.demo != nil {
		err = s.say.step("Stopping the demo", func() (string, error) {
			ctx, cancel := context.WithTimeout(s.options.Force, handBackWithin)
			defer cancel()
			if err := p.demo.Stop(ctx); err != nil && s.options.Force.Err() == nil {
				return "", err
			}
			return "handed back what it held", nil
		})
	}
	if p.agent != nil {
		err = errors.Join(err, s.stopAgent(p))
	}
	if p.executor != nil {
		err = errors.Join(err, s.stopExecutor(p))
	}
	if p.shut != nil {
		p.shut() // streams end, and their clients go to another server
	}
	err = errors.Join(err, s.closeHTTP())
	if p.resign != nil {
		err = errors.Join(err, s.say.step("Leaving the coordinator", func() (string, error) {
			p.resign()
			<-p.led
			return "done", nil
		}))
	}
	if s.private && p.houses != nil {
		err = errors.Join(err, s.say.step("Stopping workspaces of this machine", func() (string, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.options.Force), handBackWithin)
			defer cancel()
			return p.houses.rest(ctx)
		}))
	}
	if p.houses != nil {
		err = errors.Join(err, p.houses.leave())
	}
	p.forwards.Close()
	p.hints.Close()
	if p.bucket != nil {
		err = errors.Join(err, blob.Close(p.bucket))
	}
	if p.bus != nil {
		err = errors.Join(err, p.bus.Close())
	}
	if p.client != nil {
		p.client.Close()
	}
	for _, pool := range []*pgxpool.Pool{p.reads, p.terms, p.pool} {
		if pool != nil {
			pool.Close()
		}
	}
	if p.tracing != nil {
		ctx, cancel := context.WithTimeout(s.options.Force, closeWithin)
		defer cancel()
		err = errors.Join(err, p.tracing.Stop(ctx))
	}
	return err
}

func (s *Server) closeHTTP() error {
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.options.Force, closeWithin)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		return s.http.Close() // somebody would not let go
	}
	return nil
}
