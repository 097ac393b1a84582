package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/bench/internal/floor"
	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/river"
	"github.com/weirhq/weir/bench/internal/scenario"
	"github.com/weirhq/weir/bench/internal/server"
	"github.com/weirhq/weir/bench/internal/weir"
)

// connections is the size of every system's pool.
const connections = 20

// assemble sets up every system in its own database. closeAll closes all connections,
// also when an error is returned.
func assemble(ctx context.Context, srv *server.Server, environment report.Environment, o options, out io.Writer) (*scenario.Bench, func(), error) {
	var closers []func()
	closeAll := func() {
		for _, c := range closers {
			c()
		}
	}
	environment.Scale, environment.Quick, environment.Private = o.scale, o.quick, srv.Private()
	var err error
	if environment.Postgres, environment.Settings, err = srv.Settings(ctx); err != nil {
		return nil, closeAll, err
	}
	bench := &scenario.Bench{Server: srv, Out: out, Scale: o.scale, Quick: o.quick, Temporal: o.temporal, Getenv: o.getenv, Only: o.only, Docker: o.docker, HomeMB: o.homeMB}

	add := func(name string, open func(*pgxpool.Pool) (queue.Queue, error)) (*scenario.System, error) {
		system, c, err := setUp(ctx, srv, "weir_bench_"+name, open)
		closers = append(closers, c)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", name, err)
		}
		environment.Systems[name] = system.Version()
		return system, nil
	}
	peer, err := add("river", func(pool *pgxpool.Pool) (queue.Queue, error) { return river.New(pool) })
	if err != nil {
		return nil, closeAll, err
	}
	ours, err := add("weir", func(pool *pgxpool.Pool) (queue.Queue, error) { return weir.New(pool) })
	if err != nil {
		return nil, closeAll, err
	}
	bench.Systems = append(bench.Systems, peer, ours)
	if bench.Floor, err = add("floor", func(pool *pgxpool.Pool) (queue.Queue, error) { return floor.New(pool), nil }); err != nil {
		return nil, closeAll, err
	}
	conn, err := srv.Connect(ctx, "")
	if err != nil {
		return nil, closeAll, err
	}
	closers = append(closers, func() { conn.Close(context.WithoutCancel(ctx)) })
	if bench.Meter, err = meter.New(ctx, conn); err != nil {
		return nil, closeAll, err
	}
	bench.Report = report.New(environment)
	return bench, closeAll, nil
}

// setUp creates a database, a pool and a connection for one system.
func setUp(ctx context.Context, srv *server.Server, database string, open func(*pgxpool.Pool) (queue.Queue, error)) (*scenario.System, func(), error) {
	closeAll := func() {}
	if err := srv.CreateDatabase(ctx, database); err != nil {
		return nil, closeAll, err
	}
	admin, err := srv.Connect(ctx, database)
	if err != nil {
		return nil, closeAll, err
	}
	closeAll = func() { admin.Close(context.WithoutCancel(ctx)) }
	if _, err := admin.Exec(ctx, "create extension if not exists pg_stat_statements"); err != nil {
		return nil, closeAll, fmt.Errorf("create extension pg_stat_statements (add it to shared_preload_libraries): %w", err)
	}
	config, err := pgxpool.ParseConfig(srv.URL(database))
	if err != nil {
		return nil, closeAll, err
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, closeAll, err
	}
	closeAll = func() {
		pool.Close()
		admin.Close(context.WithoutCancel(ctx))
	}
	q, err := open(pool)
	if err != nil {
		return nil, closeAll, err
	}
	if err := q.Setup(ctx); err != nil {
		return nil, closeAll, err
	}
	return &scenario.System{Queue: q, Database: database, Admin: admin}, closeAll, nil
}
