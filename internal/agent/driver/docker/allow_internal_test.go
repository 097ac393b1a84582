package docker

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

// A step has no network unless the node allows the one that it asks for, because the
// bridge network reaches the metadata address of a cloud.
func TestNetworksAreTheNodesToAllow(t *testing.T) {
	for _, c := range []struct {
		config      Config
		asked, want string
	}{
		{Config{}, "", "none"},
		{Config{}, "none", "none"},
		{Config{}, "bridge", ""},
		{Config{}, "backend", ""},
		{Config{Networks: []string{"bridge"}}, "", "none"},
		{Config{Networks: []string{"bridge"}}, "bridge", "bridge"},
		{Config{Networks: []string{"backend"}}, "bridge", ""},
		{Config{Networks: []string{"host"}}, "host", ""},
		{Config{Networks: []string{"container:x"}}, "container:x", ""},
	} {
		got, err := c.config.withDefaults().network(c.asked)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v asks for %q: %q, %v", c.config.Networks, c.asked, got, err)
		}
		if err != nil {
			if p := problem.Explain(err); p.Kind != problem.Forbidden || p.Field != "network" || !strings.Contains(p.Next, "--docker-network "+c.asked) {
				t.Errorf("%q is refused with %+v", c.asked, p)
			}
		}
	}
}
