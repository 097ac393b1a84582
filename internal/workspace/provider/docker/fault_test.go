package docker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
)

// An engine that hangs or is gone makes every call an error, in its time, and nothing is
// lost by that.
func TestAnEngineThatIsAway(t *testing.T) {
	t.Parallel()
	host := dockertest.Start(t)
	p := newProvider(t, host.Host, "away", func(c *docker.Config) { c.Call = 5 * time.Second })
	id, rest := running(t, p, ""), newID()
	t.Cleanup(func() { clear(t, p, rest) })
	if err := p.Provision(t.Context(), rest, 0); err != nil {
		t.Fatal(err)
	}
	volume := provider.Volume{Marker: provider.Fresh}
	calls := map[string]func(context.Context) error{
		"check":     p.Check,
		"look":      func(ctx context.Context) error { _, err := p.Look(ctx); return err },
		"provision": func(ctx context.Context) error { return p.Provision(ctx, newID(), 0) },
		"restore":   func(ctx context.Context) error { return p.Restore(ctx, newID(), strings.NewReader(""), volume) },
		"start":     func(ctx context.Context) error { return p.Start(ctx, provider.Spec{ID: rest, Mounts: 1}) },
		"stop":      func(ctx context.Context) error { return p.Stop(ctx, id) },
		"archive":   func(ctx context.Context) error { _, err := p.Archive(ctx, rest, volume, io.Discard); return err },
		"remove":    func(ctx context.Context) error { return p.Remove(ctx, rest, volume) },
		"logs":      func(ctx context.Context) error { return p.Logs(ctx, id, 1, io.Discard) },
	}
	away := func(how string) {
		t.Helper()
		var group sync.WaitGroup
		for name, call := range calls {
			group.Go(func() {
				wrong := new(problem.Problem)
				if err := call(t.Context()); !errors.As(err, &wrong) || wrong.Kind != problem.Unreachable {
					t.Errorf("%s while the engine %s: %v", name, how, err)
				}
			})
		}
		group.Wait()
	}
	host.Freeze(t)
	away("hangs")
	host.Thaw(t)
	answers(t, p, id)
	host.Down(t)
	away("is gone")
	host.Up(t)
	w, err := p.Look(t.Context())
	if err != nil || len(w.Volumes) != 2 || w.Volumes[id] != (provider.Volume{Marker: provider.Fresh, Mounts: 1}) || w.Volumes[rest] != volume {
		t.Errorf("afterwards there is %+v, %v", w, err)
	}
	// It went down with the engine, and starts again with it.
	if err := p.Start(t.Context(), provider.Spec{ID: id, Name: "first", Mounts: 2}); err != nil {
		t.Fatal(err)
	}
	answers(t, p, id)
}

// An engine that hangs in the middle of a look tells nothing about a workspace: the way to
// ask whether that answers leads through the engine.
func TestAnEngineThatHangsDuringALook(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	id := running(t, newProvider(t, host, "during"), "")
	front := newFront(t, host)
	p := newProvider(t, front.host, "during", func(c *docker.Config) { c.Call = 5 * time.Second })
	front.hangAfter("/containers/json")
	w, err := p.Look(t.Context())
	if wrong := new(problem.Problem); !errors.As(err, &wrong) || wrong.Kind != problem.Unreachable {
		t.Errorf("it says %+v of %v: %v", w, id, err)
	}
}

// What has the names of ours, and not our labels, is another's.
func TestThingsOfOthers(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p, e := newProvider(t, host, "ours"), newEngine(t, host)
	image := dockertest.Image(t, host)
	id := newID()
	t.Cleanup(func() { clear(t, p, id) })
	if err := p.Provision(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	made, err := e.ContainerCreate(e.ctx(), client.ContainerCreateOptions{Name: "ws-" + id.String(), Config: &container.Config{Image: image, Cmd: []string{"sleep"}}})
	e.ok(err)
	t.Cleanup(func() {
		_, err := e.ContainerRemove(e.ctx(), made.ID, client.ContainerRemoveOptions{Force: true})
		e.ok(err)
	})
	_, err = e.ContainerStart(e.ctx(), made.ID, client.ContainerStartOptions{})
	e.ok(err)
	taken := "ws-" + id.String() + "-mark-5"
	_, err = e.VolumeCreate(e.ctx(), client.VolumeCreateOptions{Name: taken})
	e.ok(err)
	t.Cleanup(func() {
		_, err := e.VolumeRemove(e.ctx(), taken, client.VolumeRemoveOptions{})
		e.ok(err)
	})
	w, err := p.Look(t.Context())
	if err != nil || len(w.Containers) > 0 || w.Volumes[id].Mounts != 0 {
		t.Errorf("it sees %+v, %v", w, err)
	}
	wrong := new(problem.Problem)
	if err := p.Start(t.Context(), provider.Spec{ID: id, Mounts: 1}); !errors.As(err, &wrong) || wrong.Kind != problem.Conflict {
		t.Errorf("start: %v", err)
	}
	if err := p.Start(t.Context(), provider.Spec{ID: id, Mounts: 5}); err == nil || !strings.Contains(err.Error(), "not of this installation") {
		t.Errorf("start with a mark of another: %v", err)
	}
	if _, err := p.Dial(t.Context(), id); !errors.Is(err, provider.ErrNotRunning) {
		t.Errorf("dial: %v", err)
	}
	if err := p.Stop(t.Context(), id); err != nil {
		t.Errorf("stop: %v", err)
	}
	if !e.container(id).State.Running {
		t.Error("it has stopped the container of another")
	}
	if _, err := e.VolumeInspect(e.ctx(), taken, client.VolumeInspectOptions{}); err != nil {
		t.Errorf("the volume of another: %v", err)
	}
}

// Somebody sweeps volumes away that no container uses, and with them the mark.
func TestAMarkThatWasSweptAway(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p, e := newProvider(t, host, "swept"), newEngine(t, host)
	id := running(t, p, "")
	_, err := e.VolumeRemove(e.ctx(), "ws-"+id.String()+"-mark-1", client.VolumeRemoveOptions{})
	e.ok(err)
	want := provider.Volume{Marker: provider.Fresh, Mounts: 1}
	if w, err := p.Look(t.Context()); err != nil || w.Volumes[id] != want {
		t.Errorf("it sees %+v, %v", w, err)
	}
	if err := p.Stop(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if w, err := p.Look(t.Context()); err != nil || w.Volumes[id] != want {
		t.Errorf("after the stop it sees %+v, %v", w, err)
	}
}

// held hands out a part, and the rest when it is let go.
type held struct {
	io.Reader
	reached, release chan struct{}
	once             sync.Once
}

func (h *held) Read(b []byte) (int, error) {
	h.once.Do(func() {
		close(h.reached)
		<-h.release
	})
	return h.Reader.Read(b)
}

// A stream that does not get on is given up.
func TestAStreamThatStalls(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p := newProvider(t, host, "stalls", func(c *docker.Config) { c.Stall = time.Second })
	id := newID()
	t.Cleanup(func() { clear(t, p, id) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck := &held{Reader: new(bytes.Buffer), reached: make(chan struct{}), release: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- p.Restore(ctx, id, stuck, provider.Volume{Marker: "key"}) }()
	select {
	case <-stuck.reached:
		waitGone(t, newEngine(t, host), id.String())
		close(stuck.release) // a bucket's reader ends with its context
	case err := <-done:
		done <- err // a busy engine stalls before it reads
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "nothing has moved") {
		t.Errorf("it said %v", err)
	}
}
