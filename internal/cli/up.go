package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
)

func (e *env) up() *cobra.Command {
	var demo bool
	c := &cobra.Command{
		Use: "up", Short: "Run Weir: its own PostgreSQL, the engine, the API and the dashboard", Args: e.noArgs,
		Long: `Run Weir until Ctrl-C.

Without --database-url it starts a PostgreSQL of its own in the data folder,
which is kept: start it again and everything is still there. Commands on the
same machine find it by themselves.`,
		Example: "  weir up --demo\n  weir up --data ./.weir --listen 127.0.0.1:8470\n  weir up --database-url postgres://weir@db.example.org/weir",
		RunE: e.config(func(ctx context.Context, c app.Config, values []app.Value, _ []string) error {
			options := e.options(c, values)
			options.Demo = demo
			return app.Up(ctx, c, options)
		}),
	}
	c.Flags().BoolVar(&demo, "demo", false, "run a worker with something to look at")
	settingFlags(c, false)
	return c
}
