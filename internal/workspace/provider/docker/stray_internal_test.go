package docker

import (
	"errors"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// The engine makes a volume that is not there: a home that was removed just before its
// container was made would be replaced by an empty one.
func TestAHomeThatVanishesBeforeItsContainer(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	image := dockertest.Image(t, host)
	p, err := New(Config{Install: "stray", Host: host})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	id := weir.ID{1, 2, 3}
	p.tool.volume = "weir-tool-none"
	volume := nameOf(id, "home", "gone")
	_, err = p.create(t.Context(), provider.Spec{ID: id, Mounts: 1}, &sight{homes: map[string]string{"gone": volume}}, note{nonce: "gone"}, imageOf(image))
	if !errors.Is(err, provider.ErrNoVolume) {
		t.Errorf("it said %v", err)
	}
	if _, err := p.engine.ContainerInspect(t.Context(), nameOf(id), client.ContainerInspectOptions{}); !cerrdefs.IsNotFound(err) {
		t.Errorf("the container: %v", err)
	}
	if _, err := p.engine.VolumeInspect(t.Context(), volume, client.VolumeInspectOptions{}); !cerrdefs.IsNotFound(err) {
		t.Errorf("the volume: %v", err)
	}
}

func imageOf(name string) image {
	return image{name: name, command: []string{"sleep"}, home: defaultHome, port: defaultPort}
}
