package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/inside/relay"
)

const (
	// forwardConns is how many connections one forward may have open at a time.
	forwardConns = 64
	// forwardHalf is how long a direction of a connection may go on after the other one
	// has ended.
	forwardHalf = time.Hour
	// forwardDial is how long the port of a device may take to answer.
	forwardDial = 10 * time.Second
	// forwardAgain is the pause before a forward that was not taken up is tried again.
	forwardAgain = 200 * time.Millisecond
)

// Forwarder is a transport that can carry forwards. Over SQL there is none.
type Forwarder interface {
	// Forwards waits for forwards to devices of this PC. ports are those that are allowed.
	Forwards(ctx context.Context, ports string, wait time.Duration) ([]node.Forward, error)
	// JoinForward opens the way on which the connections of a forward come.
	JoinForward(ctx context.Context, id weir.ID) (Tunnel, error)
	RefuseForward(ctx context.Context, id weir.ID, why string) error
}

// Tunnel is the agent's end of a forward.
type Tunnel interface {
	io.ReadWriteCloser
	// Keep pings the other end until ctx ends, and closes the tunnel of one that has gone.
	Keep(ctx context.Context)
}

// forwardLoop takes up forwards until ctx ends, which ends them.
func (a *Agent) forwardLoop(ctx context.Context) {
	transport, ok := a.transport.(Forwarder)
	if !ok || len(a.config.Forwards) == 0 || a.config.Devices == nil {
		return
	}
	var mu sync.Mutex
	taken := map[weir.ID]struct{}{}
	var group sync.WaitGroup
	defer group.Wait()
	for failures := 0; ctx.Err() == nil; {
		orders, err := transport.Forwards(ctx, a.config.Forwards.Ports(), a.config.Poll)
		if err != nil {
			if ctx.Err() == nil {
				a.failed("forwards", err)
			}
			loop.Wait(ctx, backoff(failures), nil)
			failures++
			continue
		}
		failures = 0
		for _, order := range orders {
			mu.Lock()
			_, under := taken[order.ID]
			taken[order.ID] = struct{}{}
			mu.Unlock()
			if under {
				continue
			}
			group.Go(func() {
				a.takeUp(ctx, transport, order)
				mu.Lock()
				delete(taken, order.ID)
				mu.Unlock()
			})
		}
		if len(orders) > 0 {
			loop.Wait(ctx, forwardAgain, nil) // they wait until their tunnels are there
		}
	}
}

// takeUp carries one forward until it ends.
func (a *Agent) takeUp(ctx context.Context, transport Forwarder, order node.Forward) {
	log := a.log.With("forward", order.ID, "device", order.Serial, "port", order.Port)
	address, err := a.forwardAddress(order)
	if err != nil {
		log.Warn("a forward is refused", "error", err)
		if err := transport.RefuseForward(ctx, order.ID, err.Error()); err != nil && ctx.Err() == nil {
			log.Warn("the refusal of a forward was not heard", "error", err)
		}
		return
	}
	tunnel, err := transport.JoinForward(ctx, order.ID)
	if err != nil {
		if ctx.Err() == nil {
			log.Debug("a forward was not taken up", "error", err)
			// Another server may carry it; a refusal that is final ends the order.
			loop.Wait(ctx, forwardAgain, nil)
		}
		return
	}
	defer tunnel.Close()
	defer context.AfterFunc(ctx, func() { _ = tunnel.Close() })() // it may have ended
	log.Info("a forward begins", "address", address)
	life, end := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { tunnel.Keep(life) })
	err = relay.ServeWith(tunnel, relay.Limits{Most: forwardConns, Half: forwardHalf}, func() (*net.TCPConn, error) {
		conn, err := (&net.Dialer{Timeout: forwardDial}).DialContext(life, "tcp", address)
		if err != nil {
			log.Warn("the port of a forward does not answer", "address", address, "error", err)
			return nil, err
		}
		return conn.(*net.TCPConn), nil
	})
	end()
	keeper.Wait()
	log.Info("a forward ended", "error", err)
}

// forwardAddress returns where a forward leads. Only what the operator allows counts, for a
// device that this PC sees itself.
func (a *Agent) forwardAddress(order node.Forward) (string, error) {
	a.mu.Lock()
	device, there := a.survey.devices[order.Serial]
	a.mu.Unlock()
	if !there {
		return "", errors.New("the device is not attached to this PC")
	}
	return a.config.Forwards.Address(device, order.Port)
}

// errNoForwarder is the error of an agent that should carry forwards and has no server.
func errNoForwarder() error {
	return problem.Refuse("forward", "let the agent talk to a server: --server URL", "an agent on a database carries no forwards")
}
