package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/vault"
)

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
	keys, err := t.config.secretKeys(t.private())
	if errors.Is(err, fs.ErrNotExist) {
		err = problem.New(problem.Conflict, "say where the server has its key: --secret-key-file FILE, or ask the server: --server URL", "secrets are sealed with a key that is not known here")
	}
	if err != nil {
		keys = vault.NoKeys(err)
	}
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
