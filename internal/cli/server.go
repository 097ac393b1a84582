package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
)

func server(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "server", Short: "Run a server on a database that somebody else keeps", Args: e.NoArgs,
		Long: `Run a server until Ctrl-C: the engine, the API and the dashboard on a PostgreSQL
that somebody else keeps. Any number may run on one database: one of them leads,
the others answer and stand by.

It needs --database-url or WEIR_DATABASE_URL, and leaves nothing on this machine.
A signal to stop makes it say not ready for --drain-delay and then end what it
does; a second one ends it at once. SIGHUP makes it read the log level and the
certificate again.

For a PostgreSQL of its own see: weir up --help`,
		Example: "  WEIR_DATABASE_URL=postgres://weir@db.example.org/weir weir server --listen 0.0.0.0:8470 --public-url https://weir.example.org",
		RunE: e.Config(func(ctx context.Context, c app.Config, values []app.Value, _ []string) error {
			return app.Serve(ctx, c, options(ctx, e, c, values, true))
		}),
	}
	command.SettingFlags(c, false)
	return c
}

// options are what a server is told beside its configuration. With hup, SIGHUP
// makes it read its configuration again.
func options(ctx context.Context, e *command.Env, c app.Config, values []app.Value, hup bool) app.Options {
	level := new(slog.LevelVar)
	level.Set(c.Level())
	o := app.Options{
		Version: e.Version, Values: values, Program: e.Program, Out: e.Out, Log: c.LoggerAt(e.Err, level), Force: e.Force,
		Level: level, Reread: e.Reread,
	}
	if hup && !signal.Ignored(syscall.SIGHUP) { // nohup wants it ignored
		o.Reload = hangups(ctx)
	}
	return o
}

// hangups hears of each SIGHUP until ctx ends.
func hangups(ctx context.Context) <-chan struct{} {
	heard, told := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(heard, syscall.SIGHUP)
	go func() {
		defer signal.Stop(heard)
		for {
			select {
			case <-ctx.Done():
				return
			case <-heard:
			}
			select {
			case told <- struct{}{}:
			default: // one more look is enough for both
			}
		}
	}()
	return told
}
