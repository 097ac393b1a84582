package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/inside/relay"
)

const (
	// forwardHalf is how long a direction of a connection may go on after the other one
	// has ended.
	forwardHalf = time.Hour
	// forwardDial is how long a connection may take to reach the device.
	forwardDial = 20 * time.Second
	// forwardTries is how often a forward that broke off is opened again, forwardPause the
	// time between.
	forwardTries, forwardPause = 5, time.Second
)

func deviceForward(e *command.Env) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "forward SERIAL LOCAL:REMOTE", Short: "Reach a port of a device from this machine, through the agent of its PC",
		Args: e.Args("SERIAL", "LOCAL:REMOTE"),
		Long: `Reach a port of a device from this machine, until Ctrl-C. Connections to the port
LOCAL of this machine go through the server to the agent of the device's PC, and from
there to the port REMOTE, if the operator of that PC allows it: weir agent --forward.
LOCAL of 0 takes any free port; one number stands for both.

The device has to be reserved by you, or in maintenance, and nothing may run on it, so
that no run is disturbed. The forward ends with the reservation.`,
		Example: "  weir device reserve R58M123ABC --until 2h\n  weir device forward R58M123ABC 5555:5555\n  adb connect 127.0.0.1:5555    # in another terminal",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		local, port, err := forwardPorts(args[1])
		if err != nil {
			return err
		}
		f := &forwarding{session: s, out: e.Output(), serial: args[0], port: port, force: force}
		return f.run(ctx, local)
	})
	c.Flags().BoolVar(&force, "force", false, "without a reservation: it can disturb what runs on the device; for admins")
	c.ValidArgsFunction = e.Complete(DeviceNames)
	return c
}

// forwardPorts reads LOCAL:REMOTE.
func forwardPorts(text string) (local, remote int, err error) {
	from, to, both := strings.Cut(text, ":")
	if !both {
		to = from
	}
	local, errLocal := strconv.Atoi(from)
	remote, errRemote := strconv.Atoi(to)
	if errLocal != nil || errRemote != nil || local < 0 || local > 65535 || remote < 1 || remote > 65535 {
		return 0, 0, command.Invalid("write it so: 5555:5555, the port here and the one of the device", "%q is not LOCAL:REMOTE", text)
	}
	return local, remote, nil
}

// forwarding is a forward of this command. It is opened before the port is, so that a refusal
// comes at once, and again when it broke off.
type forwarding struct {
	session *app.Session
	out     *command.Output
	serial  string
	port    int
	force   bool
	group   sync.WaitGroup

	mu  sync.Mutex
	way *way
}

// way is one tunnel and the session within.
type way struct {
	tunnel *tunnel.Conn
	relay  *relay.Session
}

func (f *forwarding) run(ctx context.Context, local int) error {
	life, end := context.WithCancelCause(ctx)
	defer f.group.Wait()
	defer f.close()
	defer end(nil)
	if _, err := f.reach(life); err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(local)))
	if err != nil {
		return problem.Refuse("local", "choose another: 0 takes a free one", "port %d of this machine cannot be used: %s", local, err)
	}
	defer listener.Close()
	defer context.AfterFunc(life, func() { _ = listener.Close() })() // it ends with this
	fmt.Fprintf(f.out.Out, "%s leads to port %d of device %s. Ctrl-C ends it.\n", listener.Addr(), f.port, command.Clean(f.serial))
	f.group.Go(func() { f.watch(life, end) })
	for {
		conn, err := listener.Accept()
		if err != nil {
			if cause := context.Cause(life); ctx.Err() == nil && cause != nil {
				return cause
			}
			return nil //nolint:nilerr // the user ended it
		}
		f.group.Go(func() { f.connect(life, conn.(*net.TCPConn)) })
	}
}

// connect carries one connection.
func (f *forwarding) connect(ctx context.Context, from *net.TCPConn) {
	defer from.Close()
	w, err := f.reach(ctx)
	if err != nil {
		return // watch says why
	}
	dial, cancel := context.WithTimeout(ctx, forwardDial)
	to, err := w.relay.Dial(dial)
	cancel()
	if err != nil {
		fmt.Fprintf(f.out.Err, "Port %d of %s does not answer.\n", f.port, command.Clean(f.serial))
		return
	}
	relay.Join(to.(relay.Half), from)
}

// reach returns the way that is open, or opens one.
func (f *forwarding) reach(ctx context.Context) (*way, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.way != nil && !f.way.relay.Closed() {
		return f.way, nil
	}
	conn, err := f.session.Forward(ctx, f.serial, f.port, f.force)
	if err != nil {
		return nil, err
	}
	session, err := relay.OpenWith(conn, forwardHalf)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	f.way = &way{conn, session}
	f.group.Go(func() {
		life, end := context.WithCancel(ctx)
		defer end()
		defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // it may have ended
		f.group.Go(func() { conn.Keep(life) })
		<-session.Done()
		_ = conn.Close() // the same
	})
	return f.way, nil
}

func (f *forwarding) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.way != nil {
		_ = f.way.relay.Close() // it may have ended
	}
}

// watch waits until the way ends. One that must end ends the command; one that was idle is
// opened again by the next connection, and one that broke off at once.
func (f *forwarding) watch(ctx context.Context, end context.CancelCauseFunc) {
	for {
		f.mu.Lock()
		w := f.way
		f.mu.Unlock()
		select {
		case <-w.relay.Done():
		case <-ctx.Done():
			return
		}
		why := w.tunnel.Why()
		switch why {
		case fleet.ForwardIdle:
			if !loop.Wait(ctx, forwardPause, nil) { // until a connection opens it again
				return
			}
			continue
		case "", fleet.ForwardStopping:
			fmt.Fprintln(f.out.Err, "The forward broke off. Opening it again.")
			if err := f.again(ctx); err != nil {
				end(err)
				return
			}
		default:
			end(problem.New(problem.Conflict, "see the device", "the forward ended: %s", forwardEnded(why)).Run("weir device show " + f.serial))
			return
		}
	}
}

// again opens a way that broke off.
func (f *forwarding) again(ctx context.Context) (err error) {
	for range forwardTries {
		if _, err = f.reach(ctx); err == nil || problem.Explain(err).Kind != problem.Unreachable {
			return err
		}
		if !loop.Wait(ctx, forwardPause, nil) {
			return ctx.Err()
		}
	}
	return err
}

// forwardEnded says why a forward ended.
func forwardEnded(why string) string {
	words := map[string]string{
		fleet.ForwardReservation: "the device is no longer reserved by you, nor in maintenance",
		fleet.ForwardAgent:       "the agent of its PC has gone",
		fleet.ForwardMoved:       "the device hangs on another PC",
		fleet.ForwardRetired:     "the device was retired",
		fleet.ForwardForbidden:   "you may not any more",
		fleet.ForwardUnchecked:   "the server could not check whether it may go on",
		fleet.ForwardGone:        "the server has lost it",
	}
	if text, ok := words[why]; ok {
		return text
	}
	return why
}
