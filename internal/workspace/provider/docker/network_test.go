package docker_test

import (
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
)

// Each workspace is on a network that no other is on, and that goes with it. The way in
// does not need it.
func TestANetworkOfItsOwn(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	p, e := newProvider(t, host, "network", func(c *docker.Config) { c.Network = docker.NetworkOwn }), newEngine(t, host)
	first, second := running(t, p, ""), running(t, p, "")
	for _, id := range []string{first.String(), second.String()} {
		found, err := e.NetworkInspect(e.ctx(), "ws-"+id+"-net", client.NetworkInspectOptions{})
		e.ok(err)
		if len(found.Network.Containers) != 1 || found.Network.Labels["weir.workspace"] != id || found.Network.Driver != "bridge" {
			t.Errorf("the network is %+v", found.Network)
		}
	}
	c := e.container(first)
	wantConfined(t, c, 256<<20)
	if c.HostConfig.NetworkMode.IsNone() || len(c.NetworkSettings.Networks) != 1 {
		t.Errorf("it is on %q: %+v", c.HostConfig.NetworkMode, c.NetworkSettings.Networks)
	}
	if screen := typed(t, p, first, "ls /sys/class/net; echo en''d", "end"); !strings.Contains(screen, "eth0") {
		t.Errorf("its networks are %q", screen)
	}
	if err := p.Stop(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := e.NetworkInspect(e.ctx(), "ws-"+first.String()+"-net", client.NetworkInspectOptions{}); err == nil {
		t.Error("the network is left")
	}
	if err := p.Start(t.Context(), provider.Spec{ID: first, Name: "first", Mounts: 2}); err != nil {
		t.Fatal(err)
	}
	answers(t, p, first)
}
