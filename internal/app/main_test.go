package app

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

// TestMain is also the main of a server that runs in a process of its own.
func TestMain(m *testing.M) {
	if url := os.Getenv(serveVariable); url != "" {
		os.Exit(serveProcess(url))
	}
	testdb.Main(m)
}
