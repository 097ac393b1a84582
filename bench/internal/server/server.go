package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL with databases of the benchmark.
type Server struct {
	url string
	// private is nil if the benchmark did not start the server.
	private *private
	created []string
}

// Open uses the server at databaseURL, or starts a private one if it is empty.
func Open(ctx context.Context, databaseURL string) (*Server, error) {
	s := &Server{url: databaseURL}
	if databaseURL == "" {
		p, err := startPrivate(ctx)
		if err != nil {
			return nil, err
		}
		s.private, s.url = p, p.cluster.URL("postgres")
	}
	if err := s.check(ctx); err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// check refuses a server on which a committed job could be lost, because its figures
// would compare nothing.
func (s *Server) check(ctx context.Context) error {
	conn, err := s.Connect(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := conn.QueryRow(ctx, "select current_setting($1)", setting).Scan(&value); err != nil {
			return fmt.Errorf("read setting %s: %w", setting, err)
		}
		if value != "on" {
			return fmt.Errorf("server has %s = %s: set it to on, the benchmark counts durable completion only", setting, value)
		}
	}
	return nil
}

// URL returns the address of a database on the server; an empty name means the one the
// server was opened with.
func (s *Server) URL(database string) string {
	if database == "" {
		return s.url
	}
	u, err := url.Parse(s.url)
	if err != nil || u.Scheme == "" {
		return s.url + " dbname=" + database
	}
	u.Path = "/" + database
	return u.String()
}

// Connect opens one connection to a database on the server.
func (s *Server) Connect(ctx context.Context, database string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return nil, fmt.Errorf("connect to the benchmark's server: %w", err)
	}
	return conn, nil
}

// CreateDatabase makes an empty database; a leftover of an earlier run is dropped first.
// Close removes it again.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	conn, err := s.Connect(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if err := dropDatabase(ctx, conn, name); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	s.created = append(s.created, name)
	return nil
}

func dropDatabase(ctx context.Context, conn *pgx.Conn, name string) error {
	if _, err := conn.Exec(ctx, "drop database if exists "+pgx.Identifier{name}.Sanitize()+" with (force)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

// Close removes everything that the benchmark made on the server.
func (s *Server) Close(ctx context.Context) error {
	if s.private != nil {
		return s.private.stop(ctx)
	}
	conn, err := s.Connect(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var errs []error
	for _, name := range s.created {
		errs = append(errs, dropDatabase(ctx, conn, name))
	}
	return errors.Join(errs...)
}

// Private reports whether the benchmark started the server.
func (s *Server) Private() bool { return s.private != nil }

// Settings returns what a reader needs to judge or repeat the figures.
func (s *Server) Settings(ctx context.Context) (version string, settings map[string]string, err error) {
	conn, err := s.Connect(ctx, "")
	if err != nil {
		return "", nil, err
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "select current_setting('server_version')").Scan(&version); err != nil {
		return "", nil, fmt.Errorf("read the server version: %w", err)
	}
	rows, err := conn.Query(ctx, `
		select name, current_setting(name) from pg_settings where name = any ($1)`, shown)
	if err != nil {
		return "", nil, fmt.Errorf("read the server settings: %w", err)
	}
	settings = map[string]string{}
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		settings[name] = value
		return nil
	}); err != nil {
		return "", nil, fmt.Errorf("read the server settings: %w", err)
	}
	return strings.Fields(version)[0], settings, nil
}

var shown = []string{
	"autovacuum", "autovacuum_naptime", "checkpoint_timeout", "data_checksums", "fsync", "full_page_writes", "jit", "max_connections",
	"max_wal_size", "random_page_cost", "shared_buffers", "shared_preload_libraries", "synchronous_commit", "wal_compression",
	"wal_level", "wal_sync_method",
}
