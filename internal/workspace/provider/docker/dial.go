package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/inside/relay"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// way is a process of ours in a container that carries connections.
type way struct {
	container string
	// opened is closed once session or err is set.
	opened  chan struct{}
	session *relay.Session
	err     error
}

func (w *way) close() {
	<-w.opened
	if w.session != nil {
		_ = w.session.Close() // what it carried ends with it
	}
}

// Dial reaches the container.
func (p *Provider) Dial(ctx context.Context, id weir.ID) (net.Conn, error) {
	conn, err := p.reach(ctx, id, "")
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return conn, nil
}

// reach dials on the way that there is, or on a new one. A container, if one is named, is
// the one that it has to lead into.
func (p *Provider) reach(ctx context.Context, id weir.ID, container string) (net.Conn, error) {
	for try := 0; ; try++ {
		w := p.way(id, container)
		if w == nil {
			return nil, provider.ErrNotRunning // for us: we are closed
		}
		select {
		case <-w.opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if w.err != nil {
			return nil, w.err
		}
		conn, err := w.session.Dial(ctx)
		// It may have been an old one, into a container that has gone.
		if errors.Is(err, relay.ErrClosed) && try == 0 {
			p.drop(id, w)
			continue
		}
		return conn, err
	}
}

// way is the one that is open, or a new one. It is opened in its own time: whoever has
// less gives up, and the next one finds it open.
func (p *Provider) way(id weir.ID, container string) *way {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ways == nil {
		return nil
	}
	old := p.ways[id]
	if old != nil && !old.over(container) {
		return old
	}
	w := &way{opened: make(chan struct{})}
	p.ways[id] = w
	p.busy.Go(func() {
		if old != nil {
			old.close()
		}
		ctx, cancel := context.WithTimeout(p.life, p.config.Call)
		defer cancel()
		w.session, w.container, w.err = p.open(ctx, id)
		close(w.opened)
		if w.err != nil {
			p.drop(id, w)
		}
	})
	return w
}

// over: it leads nowhere any more, or into another container.
func (w *way) over(container string) bool {
	select {
	case <-w.opened:
		return w.err != nil || w.session.Closed() || container != "" && container != w.container
	default:
		return false
	}
}

// drop forgets a way. None: the one that there is.
func (p *Provider) drop(id weir.ID, w *way) {
	p.mu.Lock()
	if w == nil {
		w = p.ways[id]
	}
	if w != nil && p.ways[id] == w {
		delete(p.ways, id)
	}
	p.mu.Unlock()
	if w != nil {
		w.close()
	}
}

// relayUser is nobody: the user of the workspace cannot touch its process.
const relayUser = "65534:65534"

// open starts the process that carries connections, in the container of the workspace.
func (p *Provider) open(ctx context.Context, id weir.ID) (*relay.Session, string, error) {
	found, err := call(ctx, p, "look at the container", func(ctx context.Context) (client.ContainerInspectResult, error) {
		return p.engine.ContainerInspect(ctx, nameOf(id), client.ContainerInspectOptions{})
	})
	if cerrdefs.IsNotFound(err) {
		return nil, "", provider.ErrNotRunning
	}
	if err != nil {
		return nil, "", err
	}
	c := found.Container
	if c.Config.Labels[labelInstall] != p.config.Install || c.State == nil || !c.State.Running {
		return nil, "", provider.ErrNotRunning
	}
	port, err := strconv.ParseUint(c.Config.Labels[labelPort], 10, 16)
	if err != nil {
		return nil, "", fmt.Errorf("the port of the workspace: %w", err)
	}
	made, err := call(ctx, p, "open a way in", func(ctx context.Context) (client.ExecCreateResult, error) {
		return p.engine.ExecCreate(ctx, c.ID, client.ExecCreateOptions{
			User: relayUser, AttachStdin: true, AttachStdout: true, AttachStderr: true, WorkingDir: "/",
			Cmd: p.command("relay", strconv.FormatUint(port, 10)),
		})
	})
	if err != nil {
		return nil, "", err
	}
	// The pipe outlives the call that opens it: its end is the session's.
	pipe, err := call(ctx, p, "open a way in", func(ctx context.Context) (client.ExecAttachResult, error) {
		return p.engine.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	})
	if err != nil {
		return nil, "", err
	}
	session, err := relay.Open(newPipe(&pipe.HijackedResponse))
	return session, c.ID, err
}

// pipe is the input and output of a process in a container.
type pipe struct {
	client.HijackedResponse
	out   *io.PipeReader
	group sync.WaitGroup
}

// newPipe takes apart what the engine sends as one stream.
func newPipe(from *client.HijackedResponse) *pipe {
	p := &pipe{HijackedResponse: *from}
	out, in := io.Pipe()
	p.out = out
	p.group.Go(func() {
		_, err := stdcopy.StdCopy(in, io.Discard, p.Reader)
		_ = in.CloseWithError(err) // never fails; without an error it is the end
	})
	return p
}

func (p *pipe) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.Conn.Write(b) }

func (p *pipe) Close() error {
	err := errors.Join(p.Conn.Close(), p.out.Close())
	p.group.Wait()
	return err
}
