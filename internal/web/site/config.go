package site

import (
	"context"
	"log/slog"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workspace"
)

// Config is what the dashboard needs: Store, Auth and Door. All else may be left out.
type Config struct {
	Store *view.Store
	Auth  *auth.Store
	Door  *door.Door
	// Hub says when something happened. Nil: live pages look every few seconds.
	Hub *timeline.Hub
	// Health says how this server is; Settings how it is set up.
	Health   func(context.Context) Health
	Settings func() []Setting
	// Operations carries out what is described by its domain.
	Operations op.Local
	// Workflows, Rollouts, Fleets, Workspaces, Secrets and Bucket are what their pages show and use. Nil:
	// the page says what to set.
	Workflows  *workflow.Store
	Rollouts   *rollout.Store
	Fleets     *fleet.Store
	Workspaces *workspace.Host
	Secrets    *vault.Vault
	Bucket     blob.Bucket
	Version    string
	// Env says which installation this is, for people who run several.
	Env string
	Log *slog.Logger
}

// Health is how one server is.
type Health struct {
	Checks []Check
	// Epoch is that of its term if it leads, else zero.
	Epoch int64
	Loops []loop.Stats
}

// Check is one line of the readiness report.
type Check struct {
	Name   string
	OK     bool
	Detail string
}

// Setting is one line of the configuration.
type Setting struct {
	Name, Variable, Help string
	// Value is masked when it is a secret.
	Value, Default string
	// Origin is where the value comes from: default, file, environment, flag.
	Origin string
}

// Flows are the workflows, or an error if this server keeps none.
func (c *Config) Flows() (*workflow.Store, error) {
	if c.Workflows == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no workflows")
	}
	return c.Workflows, nil
}
