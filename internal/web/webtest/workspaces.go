package webtest

import (
	"context"
	"io"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	processes "github.com/weirhq/weir/internal/workspace/provider/process"
)

// yard is where the workspaces of a test would run: nothing is started there.
type yard struct {
	store   *workspace.Store
	process *processes.Provider
}

// Providers are two, the one for everybody first.
func (yard) Providers() []string { return []string{"docker", workspace.OnThisMachine} }

// Image lets only images of Go run.
func (yard) Image(_, image string) error {
	return workspace.RefusedImage(docker.Config{Images: []string{"go"}}.Image(image))
}

// Open makes an address on a host that is nowhere.
func (y yard) Open(ctx context.Context, by auth.Subject, id weir.ID, next string) (string, error) {
	return y.store.Open(ctx, by, id, workspace.Address{Scheme: "http", Domain: "localhost", Port: "8470"}, next)
}

// Logs says that nothing runs.
func (y yard) Logs(ctx context.Context, w workspace.Workspace, lines int, to io.Writer) error {
	return y.process.Logs(ctx, w.ID, lines, to)
}
