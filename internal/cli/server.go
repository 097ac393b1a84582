package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
)

func (e *env) server() *cobra.Command {
	c := &cobra.Command{
		Use: "server", Short: "Run a server on a database that somebody else keeps", Args: e.noArgs,
		Long: `Run a server until Ctrl-C: the engine, the API and the dashboard on a PostgreSQL
that somebody else keeps. Any number may run on one database: one of them leads,
the others answer and stand by.

It needs --database-url or WEIR_DATABASE_URL, and leaves nothing on this machine.
For a PostgreSQL of its own see: weir up --help`,
		Example: "  WEIR_DATABASE_URL=postgres://weir@db.example.org/weir weir server --listen 0.0.0.0:8470 --public-url https://weir.example.org",
		RunE: e.config(func(ctx context.Context, c app.Config, values []app.Value, _ []string) error {
			return app.Serve(ctx, c, e.options(c, values))
		}),
	}
	settingFlags(c, false)
	return c
}

// options are what a server is told beside its configuration.
func (e *env) options(c app.Config, values []app.Value) app.Options {
	return app.Options{Version: e.version, Values: values, Program: e.program, Out: e.Out, Log: c.Logger(e.Err), Force: e.force}
}
