package app

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/vault"
)

// Rollouts is what commands do with databases and the changes brought to them:
// on a database, or through a server's API, which knows by itself who asks.
type Rollouts interface {
	PutDatabase(ctx context.Context, by string, d rollout.Database, dsn string) (rollout.Database, error)
	Databases(ctx context.Context, f rollout.DatabaseFilter, page view.Page) ([]rollout.Database, error)
	Database(ctx context.Context, name string) (rollout.Database, error)
	DatabaseHistory(ctx context.Context, name string, page view.Page) ([]target.Entry, error)

	Preview(ctx context.Context, p rollout.Plan, o rollout.PreviewOptions) (rollout.Preview, error)
	Create(ctx context.Context, by string, p rollout.Plan, idempotencyKey string) (rollout.Rollout, error)
	Replace(ctx context.Context, by string, id weir.ID, p rollout.Plan) (rollout.Rollout, error)
	Rollouts(ctx context.Context, f rollout.Filter, page view.Page) ([]rollout.Rollout, error)
	Tasks(ctx context.Context, id weir.ID) ([]rollout.Task, error)
	TaskPage(ctx context.Context, id weir.ID, f rollout.TaskFilter, page view.Page) ([]rollout.Task, error)
}

// newRollouts makes a store. Without a vault it does what needs no database but
// Weir's own.
func newRollouts(pool *pgxpool.Pool, v *vault.Vault, log *slog.Logger) *rollout.Store {
	o := rollout.Options{Log: log}
	if v != nil {
		o.Vault = v
	}
	return rollout.New(pool, o)
}

// vault is that of a command that has the database itself. Where the key is not
// known here, the vault says so when a secret is needed.
func (t Target) vault(pool *pgxpool.Pool) *vault.Vault {
	keys, _ := t.config.secretKeys(t.private())
	return vault.New(pool, keys, nil)
}

// startExecutor runs changes of rollouts on this server.
func (s *Server) startExecutor(ctx context.Context, p *parts) (string, error) {
	// Not the same twice: a server that was killed may still have leases.
	name := fmt.Sprintf("executor@%s-%d-%08x", s.config.NodeName, os.Getpid(), rand.Uint32()) // #nosec G404 -- a name is no secret
	p.executor = weir.NewWorker(p.client, weir.WorkerConfig{Name: name, Concurrency: s.config.RolloutWorkers})
	rollout.Handle(p.executor, rollout.ExecutorConfig{Store: p.rollouts, Concurrency: s.config.RolloutWorkers, Log: s.log})
	s.group.Go(func() {
		if err := p.executor.Run(context.WithoutCancel(ctx)); err != nil && !s.stopping.Load() {
			s.failed <- fmt.Errorf("the executor of rollouts: %w", err)
		}
	})
	return fmt.Sprintf("%d at once", s.config.RolloutWorkers), nil
}

// stopExecutor lets changes end that are under way.
func (s *Server) stopExecutor(p *parts) error {
	return s.say.step("Stopping the executor of rollouts", func() (string, error) {
		ctx, cancel := context.WithTimeout(s.options.Force, handBackWithin)
		defer cancel()
		if err := p.executor.Stop(ctx); err != nil && s.options.Force.Err() == nil {
			return "", err
		}
		return "stopped", nil
	})
}
