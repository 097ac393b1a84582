//go:build unix

package chaos

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/testdb"
)

// TestMain is also the main function of every agent and of the keepers that agents start,
// because the test binary runs itself again.
func TestMain(m *testing.M) {
	exec.KeeperMain()
	docker.WardenMain()
	if orders := os.Getenv(AgentVariable); orders != "" {
		if err := RunAgent(orders); err != nil {
			fmt.Fprintln(os.Stderr, "agent:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// These tests wait more than they compute, but too many at once make leases run out.
	flag.Parse()
	if err := flag.Set("test.parallel", "3"); err != nil {
		panic(err)
	}
	testdb.Main(tidy{m})
}
