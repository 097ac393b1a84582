package docker_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

func TestMain(m *testing.M) { dockertest.Main(m) }

// newProvider makes one on an engine, with what a test says about it.
func newProvider(t testing.TB, host, install string, change ...func(*docker.Config)) *docker.Provider {
	t.Helper()
	config := docker.Config{Install: install, Host: host, Program: providertest.Program(t), Memory: 256 << 20, Grace: 5 * time.Second, Pull: docker.PullNever}
	for _, c := range change {
		c(&config)
	}
	p, err := docker.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// engine speaks to Docker beside the provider.
type engine struct {
	*client.Client
	testing.TB
}

func newEngine(t testing.TB, host string) *engine {
	t.Helper()
	cli, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cli.Close() })
	return &engine{cli, t}
}

func (e *engine) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// ctx lasts as long as a test is patient, and into its cleanups.
func (e *engine) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	e.Cleanup(cancel)
	return ctx
}

func (e *engine) container(id weir.ID) container.InspectResponse {
	e.Helper()
	found, err := e.ContainerInspect(e.ctx(), "ws-"+id.String(), client.ContainerInspectOptions{})
	e.ok(err)
	return found.Container
}

// kill ends a container as a crash does.
func (e *engine) kill(id weir.ID) {
	e.Helper()
	_, err := e.ContainerKill(e.ctx(), "ws-"+id.String(), client.ContainerKillOptions{Signal: "KILL"})
	e.ok(err)
	testwait.Until(e, "the end of the container", func() bool { return !e.container(id).State.Running })
}

func newID() (id weir.ID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// running is a workspace that answers. It goes at the end of the test.
func running(t testing.TB, p *docker.Provider, image string) weir.ID {
	t.Helper()
	id := newID()
	t.Cleanup(func() { clear(t, p, id) })
	if err := errors.Join(p.Provision(t.Context(), id, 0), p.Start(t.Context(), provider.Spec{ID: id, Name: "first", Image: image, Mounts: 1, Op: newID()})); err != nil {
		t.Fatal(err)
	}
	answers(t, p, id)
	return id
}

func answers(t testing.TB, p *docker.Provider, id weir.ID) {
	t.Helper()
	testwait.Every(t, 50*time.Millisecond, "the workspace answers", func() bool {
		w, err := p.Look(context.WithoutCancel(t.Context()))
		return err == nil && w.Containers[id].Ready
	})
}

func clear(t testing.TB, p *docker.Provider, id weir.ID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	defer cancel()
	w, err := p.Look(ctx)
	if err := errors.Join(err, p.Stop(ctx, id), p.Remove(ctx, id, w.Volumes[id])); err != nil {
		t.Error(err)
	}
}

// through is a client that reaches a workspace as the proxy does.
func through(p *docker.Provider, id weir.ID) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx, id) }}}
}

func read(t testing.TB, p *docker.Provider, id weir.ID, path string) (int, string) {
	t.Helper()
	answer, err := through(p, id).Get("http://workspace" + path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// typed types into the terminal of a workspace, and gives what is printed up to a mark.
func typed(t testing.TB, p *docker.Provider, id weir.ID, line, mark string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://workspace/terminal", &websocket.DialOptions{HTTPClient: through(p, id), Subprotocols: []string{inside.Protocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageBinary, []byte(line+"\r")); err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	for !strings.Contains(screen.String(), mark) {
		_, text, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("%v after %q", err, screen.String())
		}
		screen.Write(text)
	}
	return screen.String()
}

// left is everything that the engine has of workspaces.
func (e *engine) left() []string {
	e.Helper()
	filters := client.Filters{}.Add("label", "weir.install")
	containers, err := e.ContainerList(e.ctx(), client.ContainerListOptions{All: true, Filters: filters})
	e.ok(err)
	volumes, err := e.VolumeList(e.ctx(), client.VolumeListOptions{Filters: filters})
	e.ok(err)
	networks, err := e.NetworkList(e.ctx(), client.NetworkListOptions{Filters: filters})
	e.ok(err)
	var all []string
	for _, c := range containers.Items {
		all = append(all, c.Names...)
	}
	for _, v := range volumes.Items {
		all = append(all, v.Name)
	}
	for _, n := range networks.Items {
		all = append(all, n.Name)
	}
	return all
}

// waitGone waits until nothing runs beside the volume of a workspace.
func waitGone(t testing.TB, e *engine, id string) {
	t.Helper()
	testwait.Every(t, 50*time.Millisecond, "the helper has gone", func() bool {
		list, err := e.ContainerList(e.ctx(), client.ContainerListOptions{Filters: client.Filters{}.Add("label", "weir.workspace="+id)})
		e.ok(err)
		return len(list.Items) == 0
	})
}
