package metrics

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspaces is the store that reads workspaces.
type Workspaces interface {
	Figures(ctx context.Context) (workspace.Figures, error)
}

var (
	workspaces          = gauge(database, "weir_workspaces", "Workspaces that are not deleted, by phase", "phase")
	workspaceOperations = gauge(database, "weir_workspace_operations", "Workspaces with an operation under way, by what it is", "operation")
	workspaceErrors     = gauge(database, "weir_workspace_errors", "Workspaces in error, by reason; they wait for a person", "reason")
	workspacesUnseen    = gauge(database, "weir_workspaces_unseen", "How many providers of workspaces, or buckets, could not be seen at the last look: nothing is done there")
)

// workspaceReading reads workspaces half as often as tasks, because they change slowly.
func workspaceReading(s Workspaces, every time.Duration) *reading[workspace.Figures] {
	return &reading[workspace.Figures]{name: "workspaces", every: 2 * every, read: s.Figures}
}

// putWorkspaces also exports phases without a workspace, because a rule that waits for
// one needs a zero before it.
func putWorkspaces(o out, f workspace.Figures) {
	for _, phase := range ladder.Phases {
		if phase != ladder.Deleted {
			o.put(workspaces, float64(f.ByPhase[string(phase)]), string(phase))
		}
	}
	for _, op := range ladder.Operations {
		if op != ladder.None {
			o.put(workspaceOperations, float64(f.ByOperation[string(op)]), string(op))
		}
	}
	for _, reason := range ladder.Reasons {
		o.put(workspaceErrors, float64(f.ByReason[string(reason)]), string(reason))
	}
	o.put(workspacesUnseen, float64(len(f.Unseen)))
}
