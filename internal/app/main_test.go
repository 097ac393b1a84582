package app

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

// TestMain is also the main of a server that runs in a process of its own, and
// of the keepers of its agent.
func TestMain(m *testing.M) {
	Keeper()
	if url := os.Getenv(serveVariable); url != "" {
		os.Exit(serveProcess(url))
	}
	testdb.Main(m)
}
