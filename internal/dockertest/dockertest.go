package dockertest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/testwait"
)

// shared is the engine of this process.
var shared struct {
	sync.Mutex
	inMain bool
	users  int
	engine *Engine
	// failed remembers that no engine can run here, because each try takes seconds.
	failed error
}

// Main runs the tests of a package, stops the engine if a test started one, and checks
// that no goroutine is left. It does not return. Use it as the whole of TestMain. A
// package that uses another TestMain does not need it: its engine lives as long as a test
// uses it.
func Main(m *testing.M, options ...goleak.Option) {
	shared.inMain = true
	code := m.Run()
	if shared.engine != nil {
		if err := shared.engine.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "dockertest:", err)
			code = max(code, 1)
		}
	}
	os.Exit(testwait.Ended(code, options...))
}

// Daemon returns the address of the process's Docker engine, and starts the engine if
// necessary. Tests share it: each takes care only of its own containers.
func Daemon(t testing.TB) (host string) {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.engine == nil && shared.failed == nil {
		if shared.failed = possible(); shared.failed == nil {
			shared.engine, shared.failed = launch(context.Background())
		}
	}
	if shared.failed != nil {
		missing(t, shared.failed)
	}
	shared.users++
	t.Cleanup(func() { release(t) })
	return shared.engine.Host
}

// release ends the engine with the last test that uses it, unless Main does.
func release(t testing.TB) {
	shared.Lock()
	defer shared.Unlock()
	shared.users--
	if shared.inMain || shared.users > 0 {
		return
	}
	if err := shared.engine.stop(); err != nil {
		t.Error(err)
	}
	shared.engine = nil
}

// Start gives the test an engine of its own, which it may stop, kill and freeze.
func Start(t testing.TB) *Engine {
	t.Helper()
	if err := possible(); err != nil {
		missing(t, err)
	}
	e, err := launch(context.Background())
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() {
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// missing skips or fails the test, which cannot run here.
func missing(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("no Docker engine: %v", why)
	}
	t.Skipf("SKIPPED, no Docker engine: %v", why)
}
