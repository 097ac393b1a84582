package docker_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	host := dockertest.Start(t)
	t.Cleanup(func() { // after all cases
		if left := newEngine(t, host.Host).left(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
	providertest.Suite(t, func(t *testing.T) providertest.Subject {
		one, two := strings.ToLower(rand.Text()), strings.ToLower(rand.Text())
		return providertest.Subject{
			Provider: newProvider(t, host.Host, one), Again: newProvider(t, host.Host, one), Other: newProvider(t, host.Host, two),
			Kill: func(t testing.TB, id weir.ID) { newEngine(t, host.Host).kill(id) },
			Blind: func(t testing.TB) func() {
				host.Freeze(t)
				return func() { host.Thaw(t) }
			},
			NoImage: "weir.test/absent:1",
		}
	})
}
