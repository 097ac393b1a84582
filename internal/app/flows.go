package app

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Flows is what commands do with workflows and what agents leave: on a database,
// or through a server's API, which knows by itself who asks.
type Flows interface {
	PutWorkflow(ctx context.Context, d *definition.Definition, source string, o workflow.PutOptions) (w workflow.Workflow, created bool, err error)
	Workflows(ctx context.Context, page view.Page) ([]workflow.Workflow, error)
	Workflow(ctx context.Context, name string, version int) (workflow.Workflow, error)
	Versions(ctx context.Context, name string, page view.Page) ([]workflow.Workflow, error)
	SetActive(ctx context.Context, name string, version int, active bool) error
	// DeleteWorkflow deletes a version, or with 0 all of it, and says how many.
	DeleteWorkflow(ctx context.Context, name string, version int) (versions int, err error)
	RunWorkflow(ctx context.Context, r workflow.RunRequest) (weir.ID, error)
	PlanWorkflow(ctx context.Context, name string, version int, o definition.Options) ([]workflow.Preview, error)
	PlanDefinition(ctx context.Context, d *definition.Definition, o definition.Options) ([]workflow.Preview, error)
	Backfill(ctx context.Context, r workflow.BackfillRequest) ([]time.Time, []weir.ID, error)
	Rerun(ctx context.Context, job weir.ID, r workflow.RerunRequest) (weir.ID, error)
	RetryJob(ctx context.Context, job weir.ID, d weir.Decision) (tasks int, err error)
	WhyJob(ctx context.Context, job weir.ID) ([]weir.Reason, error)

	Artifacts(ctx context.Context, f view.ArtifactFilter, page view.Page) ([]view.Artifact, error)
	Artifact(ctx context.Context, id int64) (view.Artifact, error)
	// Content reads an artifact. The caller closes it.
	Content(ctx context.Context, a view.Artifact) (io.ReadCloser, error)
	// Log gives the lines that an attempt printed, behind a place; with follow it
	// waits for more until the attempt has ended. Attempt 0 is the newest.
	Log(ctx context.Context, task weir.ID, attempt int, after joblog.Place, follow bool) iter.Seq2[joblog.Line, error]

	Secrets(ctx context.Context) ([]vault.Secret, error)
	PutSecret(ctx context.Context, name, value, note string) error
	DropSecret(ctx context.Context, name string) error
	// RotateSecrets seals every secret with the first key of the key file.
	RotateSecrets(ctx context.Context) (vault.Rotation, error)

	SetWake(ctx context.Context, node string, m wake.Method) error
	Wake(ctx context.Context, node string) error
	SetNode(ctx context.Context, n weir.Node, by string) error
}
