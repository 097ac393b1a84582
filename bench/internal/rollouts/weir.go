package rollouts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/tending"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/schema"
)

// Side is the part of a Weir server that rollouts need: a leader with the loops of the
// engine and of rollouts, and an executor, all with their defaults.
type Side struct {
	Pool  *pgxpool.Pool
	store *rollout.Store
	stop  func() error
}

// Open migrates the database at url and starts the server.
func Open(ctx context.Context, url string) (*Side, error) {
	if _, err := pg.Migrate(ctx, url, schema.FS); err != nil {
		return nil, fmt.Errorf("migrate Weir: %w", err)
	}
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return nil, err
	}
	keys, err := vault.LoadKeys(filepath.Join(dir, "secret.key"), true)
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	pool, err := pg.Open(ctx, url, pg.Options{Name: "bench rollouts"})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	client, err := weir.New(pool, &weir.Config{Logger: log})
	if err != nil {
		pool.Close()
		return nil, err
	}
	s := &Side{Pool: pool, store: rollout.New(pool, rollout.Options{Vault: vault.New(pool, keys, log), Log: log})}
	worker := weir.NewWorker(client, weir.WorkerConfig{Concurrency: 8})
	rollout.Handle(worker, rollout.ExecutorConfig{Store: s.store, Log: log})
	hints := listen.New(pool.Config().ConnConfig, log)
	gates, lost := hints.Listen(tending.GatesChannel), hints.Listen(rollout.Channel)
	leader := coordinator.New(coordinator.Config{Pool: pool, Log: log, Loops: func(term *coordinator.Term) []loop.Loop {
		return append(engine.Loops(engine.Config{Pool: pool, Gates: gates, Log: log}, term), rollout.Loops(rollout.Config{Pool: pool, Store: s.store, Hints: lost.C(), Log: log}, term)...)
	}})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	var failed error
	parts.Go(func() { _ = hints.Run(ctx) }) // its error is that we end
	parts.Go(func() { leader.Run(ctx) })
	parts.Go(func() { failed = worker.Run(ctx) })
	s.stop = func() error {
		cancel()
		parts.Wait()
		client.Close()
		pool.Close()
		return failed
	}
	return s, nil
}

// Close stops the server.
func (s *Side) Close() error { return s.stop() }

// register registers a database.
func (s *Side) register(ctx context.Context, name, url string) error {
	d, err := s.store.PutDatabase(ctx, "bench", rollout.Database{Name: name, Engine: "postgres", Environment: "bench"}, url)
	if err == nil && d.Fault != "" {
		err = errors.New(d.Fault)
	}
	return err
}

// ended waits until the given number of tasks of a rollout is done.
func (s *Side) ended(ctx context.Context, id weir.ID, want int) error {
	for {
		var done, bad int
		err := s.Pool.QueryRow(ctx, `select count(*) filter (where f.outcome = 'done'), count(*) filter (where f.outcome <> 'done')
			from weir.rollout_tasks x join weir.finished f on f.task = x.task join weir.tasks q on q.id = x.task where q.job = $1`, id).Scan(&done, &bad)
		switch {
		case err != nil:
			return fmt.Errorf("count the tasks of a rollout: %w", err)
		case bad > 0:
			return fmt.Errorf("%d tasks of a rollout failed", bad)
		case done >= want:
			return nil
		case !loop.Wait(ctx, 2*time.Millisecond, nil):
			return ctx.Err()
		}
	}
}

// Rollout applies the migrations to a database. It returns when the last end is
// committed, with the time from the start of the rollout, without making the plan.
func (s *Side) Rollout(ctx context.Context, name, url string, list []Migration) (started time.Duration, err error) {
	if err := s.register(ctx, name, url); err != nil {
		return 0, err
	}
	plan := rollout.Plan{Name: name, Stages: []rollout.Stage{{Name: "all", Databases: []string{name}}}}
	for _, m := range list {
		c, err := m.change()
		if err != nil {
			return 0, err
		}
		plan.Changes = append(plan.Changes, c)
	}
	x, err := s.store.Create(ctx, "bench", plan, "")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := s.store.Start(ctx, "bench", x.ID); err != nil {
		return 0, err
	}
	err = s.ended(ctx, x.ID, len(list))
	return time.Since(began), err
}

// Once applies the migrations with a tool to the database at url.
func Once(ctx context.Context, tool, url, dir string, list []Migration) error {
	return apply(ctx, tool, url, dir, list, 1)
}

// Write puts the migrations into a folder for Once.
func Write(dir string, list []Migration) error { return write(dir, list) }

// reading returns the change of the promote scenario: the database records when it ran.
func reading(version int) script.Change {
	sql := "insert into marks default values;"
	return script.Change{Version: fmt.Sprint(version), Name: fmt.Sprintf("mark_%d", version), Kind: script.Data, SQL: sql, Checksum: script.Checksum(sql), Transaction: true}
}
