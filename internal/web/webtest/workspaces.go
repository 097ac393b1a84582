package webtest

import (
	"context"
	"io"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	processes "github.com/weirhq/weir/internal/workspace/provider/process"
)

// still runs nothing: there is no Docker.
type still struct{ *docker.Provider }

// Logs says that nothing was printed.
func (still) Logs(context.Context, weir.ID, int, io.Writer) error { return nil }

// yard is where the workspaces of a test would run: nothing is started there. It offers two
// ways, the one for everybody first, and lets only images of Go run.
func yard(t testing.TB, store *workspace.Store, users *auth.Store) *workspace.Host {
	t.Helper()
	containers, err := docker.New(docker.Config{Install: "test", Host: "unix:///nowhere.sock", Images: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	return &workspace.Host{
		Store: store, Users: users, Offered: []string{"docker", workspace.OnThisMachine},
		Providers: []provider.Provider{still{containers}, processes.New(processes.Config{Dir: t.TempDir()})},
		Address:   workspace.Address{Scheme: "http", Domain: "localhost", Port: "8470"},
	}
}
