package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
)

func up(e *command.Env) *cobra.Command {
	var demo bool
	c := &cobra.Command{
		Use: "up", Short: "Run Weir: its own PostgreSQL, the engine, the API and the dashboard", Args: e.NoArgs,
		Long: `Run Weir until Ctrl-C.

Without --database-url it starts a PostgreSQL of its own in the data folder,
which is kept: start it again and everything is still there. Commands on the
same machine find it by themselves.`,
		Example: "  weir up --demo\n  weir up --data ./.weir --listen 127.0.0.1:8470\n  weir up --database-url postgres://weir@db.example.org/weir",
		RunE: e.Config(func(ctx context.Context, c app.Config, values []app.Value, _ []string) error {
			// On a terminal a hang-up is the end of it, not a wish to read files again.
			f, _ := e.In.(*os.File)
			options := options(ctx, e, c, values, f == nil || !term.IsTerminal(int(f.Fd())))
			options.Demo = demo
			return app.Up(ctx, c, options)
		}),
	}
	c.Flags().BoolVar(&demo, "demo", false, "run a worker with something to look at")
	command.SettingFlags(c, false)
	return c
}
