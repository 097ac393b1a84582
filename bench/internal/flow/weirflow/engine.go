package weirflow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/schema"
)

// connections is the size of the application's pool.
const connections = 20

// Engine is Weir in one database.
type Engine struct {
	url    string
	folder string
	pool   *pgxpool.Pool
	client *weir.Client
	store  *workflow.Store
	server *flow.Process
}

// New sets Weir up in an empty database and starts its server.
func New(ctx context.Context, databaseURL string) (_ *Engine, err error) {
	if _, err := pg.Migrate(ctx, databaseURL, schema.FS); err != nil {
		return nil, fmt.Errorf("migrate Weir: %w", err)
	}
	e := &Engine{url: databaseURL}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close(context.WithoutCancel(ctx)))
		}
	}()
	if e.folder, err = os.MkdirTemp("", "weir-bench-flow-"); err != nil {
		return nil, fmt.Errorf("create a folder for the bucket: %w", err)
	}
	if e.pool, err = pg.Open(ctx, databaseURL, pg.Options{Name: "bench workflows", MaxConns: connections}); err != nil {
		return nil, err
	}
	if e.client, err = weir.New(e.pool, &weir.Config{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return nil, fmt.Errorf("create a Weir client: %w", err)
	}
	e.store = workflow.New(e.pool, workflow.Options{})
	e.server, err = startServer(ctx, databaseURL, e.folder)
	return e, err
}

// Name returns the name of the system.
func (e *Engine) Name() string { return "weir" }

// Setting returns how it runs.
func (e *Engine) Setting() string {
	return "this tree: weir server and weir agent as processes, SDK worker in this one, all with their defaults, timeline on"
}

// Has returns true for every shape.
func (e *Engine) Has(flow.Shape) bool { return true }

// Close stops the server.
func (e *Engine) Close(context.Context) error {
	var faults []error
	if e.server != nil {
		faults = append(faults, e.server.Stop())
	}
	if e.client != nil {
		e.client.Close()
	}
	if e.pool != nil {
		e.pool.Close()
	}
	if e.folder != "" {
		faults = append(faults, os.RemoveAll(e.folder))
	}
	return errors.Join(faults...)
}

// Start stores the workflow of a shape and starts the workers for its steps.
func (e *Engine) Start(ctx context.Context, shape flow.Shape, n int) (flow.Runner, error) {
	if err := e.put(ctx, shape, n); err != nil {
		return nil, err
	}
	r := &runner{Engine: e, shape: shape, n: n}
	if shape == flow.ChainProcess {
		agent, err := startAgent(ctx, e.url, e.folder)
		if err != nil {
			return nil, err
		}
		r.stops = append(r.stops, func(context.Context) error { return agent.Stop() })
		return r, nil
	}
	workers, slots := 1, flow.Slots
	if shape == flow.FanNeeds || shape == flow.FanMap {
		workers, slots = flow.FanWorkers, 1
	}
	for range workers {
		r.work(ctx, slots)
	}
	return r, nil
}
