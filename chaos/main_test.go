//go:build unix

package chaos

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/cli"
	"github.com/weirhq/weir/internal/testdb"
)

// TestMain is also the main of every agent, of the keepers that agents start, and of
// the product itself: the test binary runs itself again.
func TestMain(m *testing.M) {
	exec.KeeperMain()
	docker.WardenMain()
	if os.Getenv(productVariable) != "" {
		os.Exit(cli.Main("v0.0.0-chaos"))
	}
	if orders := os.Getenv(AgentVariable); orders != "" {
		if err := RunAgent(orders); err != nil {
			fmt.Fprintln(os.Stderr, "agent:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// These tests wait more than they compute.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	// The proxy library leaves a goroutine behind when a connection ends while a toxic is taken out.
	testdb.Main(tidy{m}, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
		goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"), goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"))
}
