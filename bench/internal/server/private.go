package server

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/weirhq/weir/internal/pg"
)

// settings of the private server, the same for all systems.
var settings = map[string]string{
	// The server is durable, or else the figures would mean nothing.
	"fsync":              "on",
	"synchronous_commit": "on",
	"full_page_writes":   "on",
	// There is enough room that neither cache nor WAL size decides.
	"shared_buffers":  "1GB",
	"max_wal_size":    "4GB",
	"max_connections": "400",
	// A timed checkpoint must not fall into one system's round; the benchmark makes one
	// before each round instead.
	"checkpoint_timeout": "30min",
	// These are PostgreSQL's defaults, where Weir's own server is tuned for Weir.
	"autovacuum":         "on",
	"autovacuum_naptime": "1min",
	"wal_compression":    "off",
	"random_page_cost":   "4",
	"jit":                "on",

	"shared_preload_libraries": "pg_stat_statements",
}

// private is a server that lives as long as the benchmark.
type private struct {
	cluster *pg.Cluster
	dir     string
}

func startPrivate(ctx context.Context) (*private, error) {
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return nil, fmt.Errorf("create a folder for the private server: %w", err)
	}
	// If started by root, the server runs as another user, who must be able to enter the
	// folder.
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	cluster, err := pg.Start(ctx, pg.Config{Dir: dir, Settings: settings})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &private{cluster: cluster, dir: dir}, nil
}

func (p *private) stop(ctx context.Context) error {
	return errors.Join(p.cluster.Stop(ctx), os.RemoveAll(p.dir))
}
