package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/testwait"
)

// inspect asks the engine itself what the container of the work may do.
func (b *bench) inspect(w driver.Work) container.InspectResponse {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	found, err := b.engine.ContainerInspect(ctx, "weir-"+w.Task+"-1", client.ContainerInspectOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return found.Container
}

func (b *bench) kill(w driver.Work, signal string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	if _, err := b.engine.ContainerKill(ctx, b.inspect(w).ID, client.ContainerKillOptions{Signal: signal}); err != nil {
		b.t.Fatal(err)
	}
	testwait.Every(b.t, 20*time.Millisecond, "the container ends", func() bool { return !b.inspect(w).State.Running })
}

// These restrictions hold for every container, whatever a step and an operator ask for.
func TestEveryContainerIsConfined(t *testing.T) {
	host := dockertest.Daemon(t)
	tests := map[string]struct {
		config func(*docker.Config)
		work   func(*driver.Work)
		want   docker.Limits
	}{
		"defaults":           {want: docker.Limits{CPU: 1, Memory: 2 << 30, Pids: 512}},
		"the step's limits":  {work: func(w *driver.Work) { w.Run.CPU, w.Run.Memory, w.Run.Pids = 0.5, "256m", 64 }, want: docker.Limits{CPU: 0.5, Memory: 256 << 20, Pids: 64}},
		"operator's limits":  {config: func(c *docker.Config) { c.Default = docker.Limits{CPU: 0.25, Memory: 64 << 20, Pids: 32} }, want: docker.Limits{CPU: 0.25, Memory: 64 << 20, Pids: 32}},
		"read-only root":     {config: func(c *docker.Config) { c.ReadOnly = true }, want: docker.Limits{CPU: 1, Memory: 2 << 30, Pids: 512}},
		"another user":       {config: func(c *docker.Config) { c.User = "1234:1234" }, want: docker.Limits{CPU: 1, Memory: 2 << 30, Pids: 512}},
		"hostile definition": {work: func(w *driver.Work) { w.Run.Env = map[string]string{"DOCKER_HOST": "x"}; w.Run.Dir = "/" }, want: docker.Limits{CPU: 1, Memory: 2 << 30, Pids: 512}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, host)
			if test.config != nil {
				test.config(&b.config)
				b.driver = b.newDriver()
			}
			w := b.work("sleep")
			if test.work != nil {
				test.work(&w)
			}
			r, _ := b.start(w)
			wantConfined(t, b.inspect(w), w, test.want)
			if got := b.inspect(w).HostConfig.ReadonlyRootfs; got != b.config.ReadOnly {
				t.Errorf("read-only root: %v", got)
			}
			if got := b.inspect(w).Config.User; got != b.config.User {
				t.Errorf("user %q, want %q", got, b.config.User)
			}
			if err := r.Stop(context.Background(), 0); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func wantConfined(t *testing.T, c container.InspectResponse, w driver.Work, limits docker.Limits) {
	t.Helper()
	h := c.HostConfig
	no := map[string]bool{
		"privileged": h.Privileged, "all ports": h.PublishAllPorts, "auto-remove": h.AutoRemove,
		"added capabilities": len(h.CapAdd) > 0, "binds": len(h.Binds) > 0, "volumes of others": len(h.VolumesFrom) > 0,
		"devices": len(h.Devices)+len(h.DeviceRequests)+len(h.DeviceCgroupRules) > 0, "ports": len(h.PortBindings) > 0,
		"groups": len(h.GroupAdd) > 0, "links": len(h.Links) > 0, "sysctls": len(h.Sysctls) > 0, "extra hosts": len(h.ExtraHosts) > 0,
		"the machine's network": h.NetworkMode.IsHost(), "network of another": h.NetworkMode.IsContainer(), "a network": !h.NetworkMode.IsNone(),
		"the machine's processes": h.PidMode != "", "the machine's memory": h.IpcMode != "private", "the machine's name": h.UTSMode != "",
		"the machine's users": h.UsernsMode != "", "a terminal": c.Config.Tty, "an input": c.Config.OpenStdin,
		"another cgroup": h.Cgroup != "" || h.CgroupParent != "", "no memory killer": h.OomKillDisable != nil && *h.OomKillDisable,
		"restarts": !h.RestartPolicy.IsNone(), "volumes": len(c.Config.Volumes) > 0, "another runtime": h.Runtime != "runc",
		"swap": h.MemorySwap != h.Memory, "unmasked paths": len(h.MaskedPaths) == 0, "writable kernel paths": len(h.ReadonlyPaths) == 0,
		"no init": h.Init == nil || !*h.Init,
	}
	for what, is := range no {
		if is {
			t.Errorf("the container has %s", what)
		}
	}
	if !slices.Equal(h.CapDrop, []string{"ALL"}) || !slices.Equal(h.SecurityOpt, []string{"no-new-privileges:true"}) {
		t.Errorf("dropped %q, security options %q", h.CapDrop, h.SecurityOpt)
	}
	if h.NanoCPUs != int64(limits.CPU*1e9) || h.Memory != limits.Memory || h.PidsLimit == nil || *h.PidsLimit != limits.Pids {
		t.Errorf("limits: cpu %d, memory %d, pids %v; want %+v", h.NanoCPUs, h.Memory, h.PidsLimit, limits)
	}
	for label, want := range map[string]string{"weir.task": w.Task, "weir.attempt": "1", "weir.fence": w.Fence, "weir.node": w.Node} {
		if got := c.Config.Labels[label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	var mounted []string
	for _, m := range c.Mounts {
		if m.Type != mount.TypeBind || filepath.Dir(m.Source) != w.Dir || m.RW != (m.Destination == "/weir/out") || m.Propagation != mount.PropagationRPrivate {
			t.Errorf("mount %+v", m)
		}
		mounted = append(mounted, m.Destination)
	}
	slices.Sort(mounted)
	if want := []string{"/weir/in", "/weir/out", "/weir/params.json", "/weir/secrets"}; !slices.Equal(mounted, want) {
		t.Errorf("mounted %q, want %q", mounted, want)
	}
}

// The same restrictions, seen from inside the container.
func TestContainerHasNoPower(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	_, out := b.run(b.work("status"))
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(out.out(), want+"\n") {
			t.Errorf("no %q in %q", want, out.out())
		}
	}
	_, out = b.run(b.work("net"))
	if want := "interface lo\n"; out.out() != want {
		t.Errorf("interfaces %q, want %q", out.out(), want)
	}
}

func TestSecretsAreReadOnlyAndPrivate(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stat", "/weir/secrets/key", "/weir/params.json")
	b.write(w, "secrets/key", "s3cret", 0o400)
	if exit, out := b.run(w); exit.Code != 0 || out.out() != "/weir/secrets/key 0400\n/weir/params.json 0600\n" {
		t.Errorf("exit %+v: %q %q", exit, out.out(), out.err())
	}
	w = b.work("write", "/weir/secrets", "/weir/in", "/weir", "/weir/out")
	if _, out := b.run(w); !strings.Contains(out.out(), "/weir/secrets false\n/weir/in false\n") || !strings.Contains(out.out(), "/weir/out true\n") {
		t.Errorf("what it could write: %q", out.out())
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "written")); err == nil {
		t.Error("it wrote into the folder of the attempt")
	}
}

// A user other than the agent's can read its params and write its results.
func TestAnotherUserCanWork(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t), func(c *docker.Config) { c.User = "1234:1234" })
	w := b.work("result")
	b.write(w, "secrets/key", "s3cret", 0o400)
	if exit, out := b.run(w); exit.Code != 0 {
		t.Errorf("exit %+v: %s", exit, out.err())
	}
	info, err := os.Stat(w.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the attempt is open to others: %v, %v", info.Mode(), err)
	}
}
