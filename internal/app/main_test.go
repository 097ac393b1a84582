package app

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/web/webtest"
)

// TestMain is also the main of a server that runs in a process of its own, and
// of the keepers of its agent and of its workspaces.
func TestMain(m *testing.M) {
	Keeper()
	if len(os.Args) > 1 && os.Args[1] == workspaceInside {
		os.Exit(insideProcess(os.Args[2:]))
	}
	if url := os.Getenv(serveVariable); url != "" {
		os.Exit(serveProcess(url))
	}
	webtest.Main(m) // also closes the browser
}
