package workspace_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/inside"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

// harbor is a controller whose workspaces run in Docker as well.
type harbor struct {
	*rig
	engine *dockertest.Engine
	docker *docker.Provider
	// direct is the engine without anything of ours between.
	direct *client.Client
}

// newHarbor makes one that waits so long for a look.
func newHarbor(t *testing.T, engine *dockertest.Engine, install string, look time.Duration) *harbor {
	t.Helper()
	p, err := docker.New(docker.Config{Install: install, Host: engine.Host, Program: providertest.Program(t), Memory: 256 << 20, Grace: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(client.WithHost(engine.Host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), direct.Close()); err != nil {
			t.Error(err)
		}
	})
	r := newRig(t, func(_ *rig, c *workspace.Config) { c.Providers, c.LookMost = append(c.Providers, p), look })
	return &harbor{rig: r, engine: engine, docker: p, direct: direct}
}

func (h *harbor) create(name string, desired ladder.Phase) weir.ID {
	h.Helper()
	id, _, err := h.store.Create(h.Context(), "ann", workspace.Draft{Owner: h.owner, Name: name, Provider: "docker", Desired: desired})
	h.ok(err)
	return id
}

// through is a client that reaches a workspace as the proxy does.
func (h *harbor) through(id weir.ID) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.docker.Dial(ctx, id) }}}
}

func (h *harbor) read(id weir.ID) string {
	h.Helper()
	answer, err := h.through(id).Get("http://workspace/files/notes.txt")
	h.ok(err)
	text, err := io.ReadAll(answer.Body)
	h.ok(errors.Join(err, answer.Body.Close()))
	return string(text)
}

// types writes the file in the terminal.
func (h *harbor) types(id weir.ID) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), testwait.Limit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://workspace/terminal", &websocket.DialOptions{HTTPClient: h.through(id), Subprotocols: []string{inside.Protocol}})
	h.ok(err)
	defer conn.CloseNow()
	h.ok(conn.Write(ctx, websocket.MessageBinary, []byte("echo kept > notes.txt; echo do''ne\r")))
	for screen := ""; !strings.Contains(screen, "done"); {
		_, text, err := conn.Read(ctx)
		h.ok(err)
		screen += string(text)
	}
	if text := h.read(id); text != "kept\n" {
		h.Errorf("the file is %q", text)
	}
}

// volumes are what the engine has of all workspaces of the installation.
func (h *harbor) volumes(install string) (names []string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), testwait.Limit)
	defer cancel()
	list, err := h.direct.VolumeList(ctx, client.VolumeListOptions{Filters: client.Filters{}.Add("label", "weir.install="+install)})
	h.ok(err)
	for _, v := range list.Items {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return names
}

func TestDocker(t *testing.T) {
	engine := dockertest.Start(t)
	t.Run("life", func(t *testing.T) { newHarbor(t, engine, "life", testwait.Limit).lives() })
	t.Run("away", func(t *testing.T) { newHarbor(t, engine, "away", 3*time.Second).outlasts() })
}

// lives: what is typed in the terminal is there after the volume was archived, was gone,
// and came back.
func (h *harbor) lives() {
	id := h.create("first", ladder.Running)
	h.reach(id, ladder.Running)
	h.types(id)
	h.want(id, ladder.Archived)
	if w := h.reach(id, ladder.Archived); w.Archive == nil || w.Archive.Entries < 2 {
		h.Errorf("the archive is %+v", w.Archive)
	}
	if left := h.volumes("life"); len(left) > 0 {
		h.Errorf("it is archived, and there is %q", left)
	}
	h.want(id, ladder.Running)
	h.reach(id, ladder.Running)
	if text := h.read(id); text != "kept\n" {
		h.Errorf("what came back is %q", text)
	}
	h.want(id, ladder.Deleted)
	h.reach(id, ladder.Deleted)
	if left := h.volumes("life"); len(left) > 0 {
		h.Errorf("it is deleted, and there is %q", left)
	}
}

// outlasts an engine that hangs, and one that was killed: nothing is deleted and nothing
// is made, what was seen stands and is said to be unknown, workspaces elsewhere go on,
// and all heals by itself.
func (h *harbor) outlasts() {
	_, err := h.store.SetPolicy(h.Context(), "ann", workspace.PolicyChange{PerUser: new(10)})
	h.ok(err)
	up, low := h.create("up", ladder.Running), h.create("low", ladder.Running)
	for _, id := range []weir.ID{up, low} {
		h.reach(id, ladder.Running)
		h.types(id)
	}
	for _, fault := range []struct {
		name         string
		breaks, ends func(testing.TB)
	}{{"hangs", h.engine.Freeze, h.engine.Thaw}, {"gone", h.engine.Kill, h.engine.Up}} {
		h.want(up, ladder.Running)
		h.reach(up, ladder.Running)
		h.want(low, ladder.Archived)
		h.reach(low, ladder.Archived)
		before := h.volumes("away")

		fault.breaks(h)
		h.want(up, ladder.Archived)
		h.want(low, ladder.Running)
		late := h.create("late-"+fault.name, ladder.Running)
		ours := h.rig.create("ours-"+fault.name, ladder.Standby)
		h.tick()
		h.wait(24 * time.Hour) // no patience runs out
		h.reach(ours, ladder.Standby)
		for id, was := range map[weir.ID]ladder.Phase{up: ladder.Running, low: ladder.Archived, late: ladder.Pending} {
			h.unseen(id, was)
		}

		fault.ends(h)
		if after := h.volumes("away"); !slices.Equal(after, before) {
			h.Errorf("%s: there was %q, and there is %q", fault.name, before, after)
		}
		h.reach(up, ladder.Archived)
		h.reach(low, ladder.Running)
		h.reach(late, ladder.Running)
		if text := h.read(low); text != "kept\n" {
			h.Errorf("%s: what came back is %q", fault.name, text)
		}
		if p, err := h.store.Policy(h.Context()); err != nil || p.UnknownAt != nil {
			h.Errorf("%s: it is over, and %+v, %v", fault.name, p, err)
		}
	}
}

// unseen: a workspace is as it was when it could last be seen, and it is said so.
func (h *harbor) unseen(id weir.ID, was ladder.Phase) {
	h.Helper()
	if w := h.get(id); w.Phase != was || w.Operation != ladder.None || w.Error != "" {
		h.Errorf("it was %s, and is %+v", was, w)
	}
	p, err := h.store.Policy(h.Context())
	if err != nil || p.UnknownAt == nil || !slices.Equal(p.UnknownOf, []string{"docker"}) {
		h.Errorf("%+v, %v", p, err)
	}
	says := "It was " + string(was) + " when it could last be seen"
	if was == ladder.Pending {
		says = "Nobody could look at it yet: docker: "
	}
	y, err := h.store.Why(h.Context(), id)
	if err != nil || !strings.HasPrefix(y.Summary, says) {
		h.Errorf("%+v, %v", y, err)
	}
}
