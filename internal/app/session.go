package app

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/remote"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// commandConns is enough for a command: one to ask, one to follow.
const commandConns = 4

// Session is a command's connection to a database or a server.
type Session struct {
	// Operations carries operations out, here or on a server.
	Operations op.Caller
	// Follow calls f for every event after a cursor, until ctx ends or f fails. It is no
	// operation, because it does not end.
	Follow func(ctx context.Context, after weir.Cursor, filter weir.Filter, f func(weir.Event) error) error
	// Target is where it is connected.
	Target Target

	// server is nil on a database, view on a server.
	server *remote.Client
	view   *view.Store
	// version and login are for servers only.
	version func(ctx context.Context) (remote.Version, error)
	login   func(ctx context.Context, name, password string) error
	close   func()
}

// Who says who connects.
type Who struct {
	// Name is who changes people and credentials on a database. A server knows
	// by the token.
	Name string
	// Version is that of the program.
	Version string
}

// Connect connects to where a command works. Close the session afterwards.
func Connect(ctx context.Context, t Target, who Who) (*Session, error) {
	if t.Remote() {
		return connectServer(t, who.Version)
	}
	pool, err := pg.Open(ctx, t.Database, pg.Options{Name: "weir command", MaxConns: commandConns})
	if err != nil {
		return nil, err
	}
	client, err := weir.New(pool, nil)
	if err != nil {
		pool.Close()
		return nil, err
	}
	waker := wake.New(pool, wake.Config{Scripts: t.config.WakeScripts, URLs: t.config.WakeURLs, Broadcast: t.config.WakeBroadcast})
	secrets := t.vault(pool)
	defined := workflow.New(pool, workflow.Options{Vault: secrets})
	stores := []any{work.New(pool, client).Checked(defined.CheckRun, fleet.CheckScheduled), defined, newRollouts(pool, secrets, nil), fleet.New(pool), secrets, waker, commandHost(pool, t), auth.New(pool, auth.Options{})}
	operations := op.Local{Stores: stores, Who: func(context.Context) auth.Subject { return auth.System(who.Name) }}
	return &Session{Operations: operations, Follow: client.Follow, view: view.New(pool), Target: t, close: func() {
		client.Close()
		pool.Close()
	}}, nil
}

// Close says what is left to say and disconnects.
func (s *Session) Close() { s.close() }

// Login makes the session that of a person, where it asks a server.
func (s *Session) Login(ctx context.Context, name, password string) error {
	return s.login(ctx, name, password)
}

// Forward opens the user's end of a forward to a port of a device. Only a server carries one.
func (s *Session) Forward(ctx context.Context, serial string, port int, force bool) (*tunnel.Conn, error) {
	if s.server == nil {
		return nil, problem.New(problem.Conflict, "ask a server: --server URL, or weir login URL", "a forward goes through a server, and %s is a database", s.Target.Asked())
	}
	return s.server.Forward(ctx, serial, port, force)
}

// Archive is where the timeline was written before it was dropped. Only a command
// with the database knows.
func (s *Session) Archive(ctx context.Context) (blob.Bucket, error) {
	if s.Target.Remote() {
		return nil, problem.New(problem.Conflict, "run it where the server runs, or with --database-url and --events-export", "a server does not give its archive away")
	}
	at := s.Target.config.exportURL(s.Target.private())
	if at == "" {
		return nil, problem.New(problem.Conflict, "say where it is: --events-export URL", "the timeline is not archived: events_export is not set")
	}
	return blob.Open(ctx, at)
}
