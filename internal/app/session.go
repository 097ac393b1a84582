package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/pg"
)

// commandConns is enough for a command: one to ask, one to follow.
const commandConns = 4

// Session is a command's connection to the database.
type Session struct {
	Client *weir.Client
	Store  *view.Store
	// URL is where it is connected; it holds a password.
	URL string

	pool *pgxpool.Pool
}

// Connect finds the database and connects to it. Close the session afterwards.
func Connect(ctx context.Context, c Config, values []Value) (*Session, error) {
	url, err := DatabaseURL(c, values)
	if err != nil {
		return nil, err
	}
	pool, err := pg.Open(ctx, url, pg.Options{Name: "weir command", MaxConns: commandConns})
	if err != nil {
		return nil, err
	}
	client, err := weir.New(pool, nil)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Session{Client: client, Store: view.New(pool), URL: url, pool: pool}, nil
}

// Close says what is left to say and disconnects.
func (s *Session) Close() {
	s.Client.Close()
	s.pool.Close()
}

// now is the database's time: it alone decides what is due.
func (s *Session) now(ctx context.Context) (now time.Time, err error) {
	if err = s.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now); err != nil {
		err = fmt.Errorf("ask for the time: %w", err)
	}
	return now, err
}

// DatabaseURL is the address of the database that a command should use: the
// one that is set, or that of the server in the data folder. If nobody said
// which folder, the likely ones are tried.
func DatabaseURL(c Config, values []Value) (string, error) {
	if c.DatabaseURL != "" {
		return c.DatabaseURL, nil
	}
	folders := []string{c.Data}
	for _, v := range values {
		if v.Name == "data" && v.Origin == "default" {
			folders = dataFolders()
		}
	}
	var failed error
	for _, folder := range folders {
		r, err := ReadRunning(folder)
		if err == nil {
			return r.DatabaseURL, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", &Problem{
		Kind: Unreachable,
		What: fmt.Sprintf("no running Weir was found in %s", strings.Join(folders, " or ")),
		Next: "start one with: weir up, or say where it is with --data DIR or --database-url URL",
		err:  failed,
	}
}
