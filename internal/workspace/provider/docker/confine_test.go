package docker_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"

	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

// wantConfined asks the engine itself what a container may do. It holds for all.
func wantConfined(t testing.TB, c container.InspectResponse, memory int64) {
	t.Helper()
	h := c.HostConfig
	for what, is := range map[string]bool{
		"privileges": h.Privileged, "all ports": h.PublishAllPorts, "ports": len(h.PortBindings) > 0,
		"folders of the machine": len(h.Binds) > 0, "volumes of others": len(h.VolumesFrom) > 0,
		"devices": len(h.Devices)+len(h.DeviceRequests)+len(h.DeviceCgroupRules) > 0,
		"groups":  len(h.GroupAdd) > 0, "links": len(h.Links) > 0, "sysctls": len(h.Sysctls) > 0, "extra hosts": len(h.ExtraHosts) > 0,
		"the machine's network": h.NetworkMode.IsHost(), "the network of another": h.NetworkMode.IsContainer(),
		"the machine's processes": h.PidMode != "", "the machine's memory": h.IpcMode != "private", "the machine's name": h.UTSMode != "",
		"the machine's users": h.UsernsMode != "", "a terminal": c.Config.Tty, "another cgroup": h.Cgroup != "" || h.CgroupParent != "",
		"no memory killer": h.OomKillDisable != nil && *h.OomKillDisable, "restarts": !h.RestartPolicy.IsNone(),
		"another runtime": h.Runtime != "runc", "swap": h.MemorySwap != h.Memory, "unmasked paths": len(h.MaskedPaths) == 0,
		"writable kernel paths": len(h.ReadonlyPaths) == 0, "no init": h.Init == nil || !*h.Init,
		"unbounded processors": h.NanoCPUs <= 0, "unbounded processes": h.PidsLimit == nil || *h.PidsLimit <= 0,
	} {
		if is {
			t.Errorf("the container has %s", what)
		}
	}
	if !slices.Equal(h.CapDrop, []string{"ALL"}) || !slices.Equal(h.SecurityOpt, []string{"no-new-privileges:true"}) {
		t.Errorf("dropped %q, security options %q", h.CapDrop, h.SecurityOpt)
	}
	if h.Memory != memory {
		t.Errorf("memory %d, want %d", h.Memory, memory)
	}
	for _, m := range c.Mounts {
		if m.Type != mount.TypeVolume && m.Type != mount.TypeTmpfs {
			t.Errorf("mount %+v", m)
		}
	}
}

func TestAWorkspaceIsConfined(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p := newProvider(t, host, "confined", func(c *docker.Config) { c.CPU, c.Pids = 0.5, 64 })
	e := newEngine(t, host)
	id := running(t, p, "")
	c := e.container(id)
	wantConfined(t, c, 256<<20)
	if c.HostConfig.NanoCPUs != 5e8 || *c.HostConfig.PidsLimit != 64 || len(c.HostConfig.CapAdd) > 0 || !c.HostConfig.NetworkMode.IsNone() || c.HostConfig.AutoRemove {
		t.Errorf("cpu %d, pids %d, capabilities %q, network %q", c.HostConfig.NanoCPUs, *c.HostConfig.PidsLimit, c.HostConfig.CapAdd, c.HostConfig.NetworkMode)
	}
	if c.Config.User != "1000:1000" || c.Config.OpenStdin {
		t.Errorf("it runs as %q, with an input: %v", c.Config.User, c.Config.OpenStdin)
	}
	for label, want := range map[string]string{"weir.install": "confined", "weir.workspace": id.String(), "weir.role": "workspace", "weir.mounts": "1", "weir.marker": provider.Fresh} {
		if got := c.Config.Labels[label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	if op := c.Config.Labels["weir.op"]; len(op) != 36 {
		t.Errorf("the operation is %q", op)
	}
	places := map[string]bool{}
	for _, m := range c.Mounts {
		places[m.Destination] = m.RW
		if !strings.HasPrefix(m.Name, "ws-"+id.String()+"-home-") && !strings.HasPrefix(m.Name, "weir-tool-") {
			t.Errorf("it sees the volume %s", m.Name)
		}
	}
	if len(places) != 2 || !places["/home/workspace"] || places["/.weir"] {
		t.Errorf("it may write to %v", places)
	}
	// The same, seen from inside.
	screen := typed(t, p, id, "cat /proc/self/status; echo en''d", "end")
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1", "Uid:\t1000\t1000\t1000\t1000"} {
		if !strings.Contains(screen, want+"\r\n") {
			t.Errorf("no %q in %q", want, screen)
		}
	}
	if screen = typed(t, p, id, "ls /sys/class/net; echo en''d", "end"); !strings.Contains(screen, "$ lo\r\nend") && !strings.Contains(screen, "\nlo\r\nend") {
		t.Errorf("its networks are %q", screen)
	}
	if screen = typed(t, p, id, "echo x > /.weir/weir || echo en''d", "end"); !strings.Contains(screen, "read-only file system") {
		t.Errorf("it can write to the tool: %q", screen)
	}
}

// What is typed in the terminal is in the home, also after the container has gone.
func TestTheTerminalWritesToTheHome(t *testing.T) {
	t.Parallel()
	p := newProvider(t, dockertest.Daemon(t), "terminal")
	id := running(t, p, "")
	typed(t, p, id, "echo ke''pt > notes.txt; ls -l; echo en''d", "end")
	if err := p.Stop(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context(), provider.Spec{ID: id, Name: "first", Mounts: 2}); err != nil {
		t.Fatal(err)
	}
	answers(t, p, id)
	if code, text := read(t, p, id, "/files/notes.txt"); code != 200 || text != "kept\n" {
		t.Errorf("%d %q", code, text)
	}
}

// Every container that is ever made is confined, whatever it is for, as the engine sees it
// before it starts: all those of a life, and the one of an image of others.
func TestEveryContainerIsConfined(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	front := newFront(t, host)
	p := newProvider(t, front.host, "every", func(c *docker.Config) { c.Images = []string{"weir.test/*"} })
	providertest.Image(t, host, "weir.test/root:1", `ENTRYPOINT ["/program","serve","--home","/srv","--listen","127.0.0.1:8080"]`, "LABEL weir.workspace.home=/srv")
	id := running(t, p, "")
	volume := provider.Volume{Marker: provider.Fresh, Mounts: 1}
	var archive bytes.Buffer
	_, err := p.Archive(t.Context(), id, volume, io.Discard)
	if !errors.Is(err, provider.ErrInUse) {
		t.Errorf("it was packed while it ran: %v", err)
	}
	if err := p.Stop(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err = p.Archive(t.Context(), id, volume, &archive); err != nil {
		t.Fatal(err)
	}
	back := provider.Volume{Marker: "key", Mounts: 2}
	if err := errors.Join(p.Remove(t.Context(), id, volume), p.Restore(t.Context(), id, &archive, back), p.Start(t.Context(), provider.Spec{ID: id, Image: "weir.test/root:1", Mounts: 3})); err != nil {
		t.Fatal(err)
	}
	answers(t, p, id)

	made, entered := front.seen()
	kinds := map[string]int{}
	for _, c := range made {
		if role := c.Config.Labels["weir.role"]; role == "workspace" {
			kinds[role]++
			wantConfined(t, c, 256<<20)
			wantMounts(t, c, 2)
			continue
		}
		verb := c.Config.Cmd[1]
		kinds[verb]++
		wantHelper(t, c, verb)
	}
	if want := map[string]int{"workspace": 2, "install": 1, "pack": 1, "unpack": 1}; !maps.Equal(kinds, want) {
		t.Errorf("it made %v, and not %v", kinds, want)
	}
	// The ways in: of nobody, with no privileges.
	if len(entered) == 0 {
		t.Error("nobody has seen a way in")
	}
	for _, e := range entered {
		if e.Privileged || e.User != "65534:65534" || e.Tty || !slices.Equal(e.Cmd, []string{"/.weir/weir", "relay", "8080"}) {
			t.Errorf("a way in: %+v", e)
		}
	}
}

// wantMounts: volumes of ours and nothing else. All but the home is read-only.
func wantMounts(t testing.TB, c container.InspectResponse, count int) {
	t.Helper()
	if len(c.Mounts) != count {
		t.Errorf("mounts %+v", c.Mounts)
	}
	for _, m := range c.Mounts {
		tool, home := strings.HasPrefix(m.Name, "weir-tool-"), strings.HasPrefix(m.Name, "ws-") && strings.Contains(m.Name, "-home-")
		if m.Type != mount.TypeVolume || m.Driver != "local" || !tool && !home || tool && m.RW && c.Config.Labels["weir.role"] == "workspace" {
			t.Errorf("mount %+v", m)
		}
	}
}

// wantHelper: it is root for owners and modes alone: no devices, no mounts, no other
// processes, no network, and nothing to write to but the one volume.
func wantHelper(t testing.TB, c container.InspectResponse, verb string) {
	t.Helper()
	wantConfined(t, c, 512<<20)
	wantMounts(t, c, 1)
	h := c.HostConfig
	if !h.ReadonlyRootfs || !h.NetworkMode.IsNone() || !h.AutoRemove || h.LogConfig.Type != "none" || c.Config.User != "0:0" {
		t.Errorf("%s: root read-only: %v, network %s, removes itself: %v, log %s, user %s", verb, h.ReadonlyRootfs, h.NetworkMode, h.AutoRemove, h.LogConfig.Type, c.Config.User)
	}
	may := map[string][]string{"pack": {"DAC_OVERRIDE"}, "unpack": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"}}[verb]
	for _, capability := range h.CapAdd {
		if !slices.Contains(may, strings.TrimPrefix(capability, "CAP_")) {
			t.Errorf("%s has %s", verb, capability)
		}
	}
	if verb == "pack" && c.Mounts[0].RW {
		t.Error("whoever packs can write to the home")
	}
}
