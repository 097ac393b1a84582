package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// databaseFlows are the Flows of a command that has the database itself. The
// bucket and the keys of secrets it finds as a server would.
type databaseFlows struct {
	*weir.Client
	store  *view.Store
	flows  *workflow.Store
	waker  *wake.Waker
	pool   *pgxpool.Pool
	target Target
	by     string
}

func newDatabaseFlows(pool *pgxpool.Pool, client *weir.Client, store *view.Store, t Target, by string) *databaseFlows {
	return &databaseFlows{
		Client: client, store: store, flows: workflow.New(pool, workflow.Options{}), pool: pool, target: t, by: by,
		waker: wake.New(pool, wake.Config{Scripts: t.config.WakeScripts, URLs: t.config.WakeURLs, Broadcast: t.config.WakeBroadcast}),
	}
}

func (f *databaseFlows) PutWorkflow(ctx context.Context, d *definition.Definition, source string, o workflow.PutOptions) (workflow.Workflow, bool, error) {
	return f.flows.Put(ctx, f.by, d, source, o)
}

func (f *databaseFlows) Workflows(ctx context.Context, page view.Page) ([]workflow.Workflow, error) {
	return f.flows.Workflows(ctx, page)
}

func (f *databaseFlows) Workflow(ctx context.Context, name string, version int) (workflow.Workflow, error) {
	return f.flows.Workflow(ctx, name, version)
}

func (f *databaseFlows) Versions(ctx context.Context, name string, page view.Page) ([]workflow.Workflow, error) {
	return f.flows.Versions(ctx, name, page)
}

func (f *databaseFlows) SetActive(ctx context.Context, name string, version int, active bool) error {
	return f.flows.SetActive(ctx, f.by, name, version, active)
}

func (f *databaseFlows) DeleteWorkflow(ctx context.Context, name string, version int) (int, error) {
	return f.flows.Delete(ctx, f.by, name, version)
}

func (f *databaseFlows) RunWorkflow(ctx context.Context, r workflow.RunRequest) (weir.ID, error) {
	r.By = cmp.Or(r.By, f.by)
	return f.flows.Run(ctx, r)
}

func (f *databaseFlows) PlanWorkflow(ctx context.Context, name string, version int, o definition.Options) ([]workflow.Preview, error) {
	return f.flows.Plan(ctx, name, version, o)
}

func (f *databaseFlows) PlanDefinition(ctx context.Context, d *definition.Definition, o definition.Options) ([]workflow.Preview, error) {
	return f.flows.PlanDefinition(ctx, d, o)
}

func (f *databaseFlows) Backfill(ctx context.Context, r workflow.BackfillRequest) ([]time.Time, []weir.ID, error) {
	r.By = cmp.Or(r.By, f.by)
	return f.flows.Backfill(ctx, r)
}

func (f *databaseFlows) Rerun(ctx context.Context, job weir.ID, r workflow.RerunRequest) (weir.ID, error) {
	r.By = cmp.Or(r.By, f.by)
	return f.flows.Rerun(ctx, job, r)
}

func (f *databaseFlows) Artifacts(ctx context.Context, filter view.ArtifactFilter, page view.Page) ([]view.Artifact, error) {
	return f.store.Artifacts(ctx, filter, page)
}

func (f *databaseFlows) Artifact(ctx context.Context, id int64) (view.Artifact, error) {
	return f.store.Artifact(ctx, id)
}

func (f *databaseFlows) Content(ctx context.Context, a view.Artifact) (io.ReadCloser, error) {
	bucket, err := f.bucket(ctx)
	if err != nil {
		return nil, err
	}
	body, _, err := bucket.Get(ctx, a.Key, 0, -1)
	if err != nil {
		return nil, err
	}
	return blob.Verify(body, a.SHA256, a.Size), nil
}

// Log follows by looking: a command is not worth a listener of its own.
func (f *databaseFlows) Log(ctx context.Context, id weir.ID, attempt int, after joblog.Place, follow bool) iter.Seq2[joblog.Line, error] {
	return func(yield func(joblog.Line, error) bool) {
		bucket, err := f.bucket(ctx)
		if err != nil {
			yield(joblog.Line{}, err)
			return
		}
		log, err := f.log(ctx, bucket, id, attempt)
		if err != nil {
			yield(joblog.Line{}, err)
			return
		}
		lines := joblog.Read(ctx, bucket, log, after)
		if follow {
			lines = joblog.Follow(ctx, bucket, log, after, joblog.Live{Ended: f.store.LogEnded(id, log.Attempt)})
		}
		lines(yield)
	}
}

// log says where the log of an attempt is; 0 is the newest.
func (f *databaseFlows) log(ctx context.Context, bucket blob.Bucket, id weir.ID, attempt int) (joblog.Log, error) {
	task, err := f.store.Task(ctx, id)
	if err != nil || attempt > 0 {
		return task.Log(attempt), err
	}
	return task.NewestLog(ctx, bucket)
}

func (f *databaseFlows) Secrets(ctx context.Context) ([]vault.Secret, error) {
	// Names are in the database: no key is needed to read them.
	return vault.New(f.pool, vault.Keys{}, nil).List(ctx)
}

func (f *databaseFlows) PutSecret(ctx context.Context, name, value, note string) error {
	v, err := f.vault()
	if err != nil {
		return err
	}
	return v.Put(ctx, f.by, name, value, note)
}

func (f *databaseFlows) RotateSecrets(ctx context.Context) (vault.Rotation, error) {
	v, err := f.vault()
	if err != nil {
		return vault.Rotation{}, err
	}
	return v.Rotate(ctx)
}

// vault is one with the keys of this machine.
func (f *databaseFlows) vault() (*vault.Vault, error) {
	keys, err := f.target.config.secretKeys(f.target.private())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New(problem.Conflict, "say where the server has its key: --secret-key-file FILE, or ask the server: --server URL", "secrets are sealed with a key that is not known here")
	}
	if err != nil {
		return nil, err
	}
	return vault.New(f.pool, keys, nil), nil
}

func (f *databaseFlows) DropSecret(ctx context.Context, name string) error {
	return vault.New(f.pool, vault.Keys{}, nil).Delete(ctx, f.by, name)
}

func (f *databaseFlows) SetWake(ctx context.Context, node string, m wake.Method) error {
	return f.waker.SetWake(ctx, f.by, node, m)
}

func (f *databaseFlows) Wake(ctx context.Context, node string) error {
	return f.waker.Wake(ctx, f.by, node)
}

func (f *databaseFlows) bucket(ctx context.Context) (blob.Bucket, error) {
	at := f.target.config.bucketURL(f.target.private())
	if at == "" {
		return nil, problem.New(problem.Conflict, "say where the server keeps them: --bucket URL, or ask the server: --server URL", "it is not known here where artifacts and logs are kept")
	}
	return blob.Open(ctx, at)
}
