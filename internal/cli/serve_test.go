package cli

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// serve starts a server's API on the script's database and puts its address
// into $SERVER.
func serve(ts *testscript.TestScript, _ bool, _ []string) {
	ctx, end := context.WithCancel(context.Background())
	pool, err := pg.Open(ctx, ts.Getenv("WEIR_DATABASE_URL"), pg.Options{Name: "weir server"})
	ts.Check(err)
	client, err := weir.New(pool, nil)
	ts.Check(err)
	store := auth.New(pool, auth.Options{})
	guard, err := door.New(store, door.Config{})
	ts.Check(err)
	hub := timeline.NewHub(pool, nil, timeline.Options{})
	var group sync.WaitGroup
	group.Go(func() { hub.Run(ctx) })
	events := stream.New(stream.Config{Hub: hub, Subject: guard.Subject})
	api := httpapi.New(httpapi.Config{Store: view.New(pool), Operations: op.Local{Stores: []any{work.New(pool, client), workflow.New(pool, workflow.Options{}), vault.New(pool, vault.RandomKeys(), nil), store}}, Auth: store, Door: guard, Stream: events, Version: "v0.0.0-server", Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(api.Handler())
	ts.Setenv("SERVER", server.URL)
	ts.Defer(func() {
		events.Close()
		server.Close()
		end()
		group.Wait()
		client.Close()
		pool.Close()
	})
}
