package cli

import (
	"context"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirhq/weir/internal/app"
)

// env is one run of the command: its files, its global flags, and what it has
// found out about them.
type env struct {
	Streams
	force   context.Context
	version string

	// began is set when the command line was understood and the work begins.
	began bool
	// helpFor is the command whose help an error points to.
	helpFor string

	configFile string
	format     string
}

// source collects the settings that were given as flags.
func (e *env) source(cmd *cobra.Command) app.Source {
	given := map[string]string{}
	names := map[string]string{}
	for _, s := range app.Settings() {
		names[s.Flag] = s.Name
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if name, ok := names[f.Name]; ok {
			given[name] = f.Value.String()
		}
	})
	return app.Source{Flags: given, File: e.configFile}
}

// run is a command that needs no database.
func (e *env) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := e.checkFormat(); err != nil {
			return err
		}
		e.began = true
		return f(cmd, args)
	}
}

// config is a command that needs the configuration.
func (e *env) config(f func(ctx context.Context, c app.Config, values []app.Value, args []string) error) func(*cobra.Command, []string) error {
	return e.run(func(cmd *cobra.Command, args []string) error {
		c, values, err := app.Load(e.source(cmd))
		if err != nil {
			return err
		}
		return f(cmd.Context(), c, values, args)
	})
}

// session is a command that asks the database.
func (e *env) session(f func(ctx context.Context, s *app.Session, args []string) error) func(*cobra.Command, []string) error {
	return e.config(func(ctx context.Context, c app.Config, values []app.Value, args []string) error {
		s, err := app.Connect(ctx, c, values)
		if err != nil {
			return err
		}
		defer s.Close()
		return f(ctx, s, args)
	})
}

// output is where and how to print.
func (e *env) output() *output {
	o := &output{Streams: e.Streams, format: e.format, now: time.Now()}
	if f, ok := e.Out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		o.terminal, o.width = terminal(f)
	}
	o.color = o.terminal && os.Getenv("NO_COLOR") == ""
	return o
}

// whoami is who a decision is said to be by.
func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
