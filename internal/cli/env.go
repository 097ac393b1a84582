package cli

import (
	"bufio"
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
	// line is the command line, without the program.
	line []string

	// began is set when the command line was understood and the work begins.
	began bool
	// helpFor is the command whose help an error points to.
	helpFor string

	// program is how to call this command again, where are the flags that lead
	// to the same place, and verbs what may follow: see hint.
	program, where string
	verbs          map[string]bool

	// asked is the server that was asked, if one was: errors name it. loginHint
	// is what to do if it does not know who asks.
	asked, loginHint string
	// person is who a command acts for where a token may not.
	person person
	// typed reads standard input line by line, if somebody does.
	typed *bufio.Reader

	configFile string
	format     string
	// reread reads the configuration once more.
	reread func() (app.Config, error)
}

// source collects the settings that were given as flags.
func (e *env) source(cmd *cobra.Command) app.Source {
	given := map[string]string{}
	names := map[string]string{}
	for _, s := range append(app.Settings(), app.ClientSettings()...) {
		names[s.Flag] = s.Name
	}
	e.where = ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		e.remember(f.Name, f.Value.String())
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
		src := e.source(cmd)
		c, values, err := app.Load(src)
		if err != nil {
			return err
		}
		e.reread = func() (app.Config, error) {
			c, _, err := app.Load(src)
			return c, err
		}
		return f(cmd.Context(), c, values, args)
	})
}

// target finds out where a command works.
func (e *env) target(cmd *cobra.Command) (app.Target, error) {
	src := e.source(cmd)
	c, values, err := app.Load(src)
	if err != nil {
		return app.Target{}, err
	}
	return app.FindTarget(c, append(values, app.ClientValues(src)...))
}

// session is a command that asks a database or a server.
func (e *env) session(f func(ctx context.Context, s *app.Session, args []string) error) func(*cobra.Command, []string) error {
	return e.run(func(cmd *cobra.Command, args []string) error {
		s, err := e.connect(cmd)
		if err != nil {
			return err
		}
		defer s.Close()
		if cmd.Annotations[personal] != "" && s.Target.Remote() {
			if err := e.logIn(cmd.Context(), s); err != nil {
				return err
			}
		}
		return f(cmd.Context(), s, args)
	})
}

// connect connects to where a command works. Close the session afterwards.
func (e *env) connect(cmd *cobra.Command) (*app.Session, error) {
	target, err := e.target(cmd)
	if err != nil {
		return nil, err
	}
	s, err := app.Connect(cmd.Context(), target, e.who())
	if err != nil {
		return nil, err
	}
	if target.Remote() {
		e.asked, e.loginHint = target.Server, "log in with: weir login "+target.Server
		if target.Context != "" {
			e.asked += " (context " + target.Context + ")"
		}
	}
	return s, nil
}

// output is where and how to print.
func (e *env) output() *output {
	o := &output{Streams: e.Streams, format: e.format, now: time.Now(), hint: e.hint}
	if f, ok := e.Out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		o.terminal, o.width = terminal(f)
	}
	o.color = o.terminal && os.Getenv("NO_COLOR") == ""
	return o
}

// who is who connects.
func (e *env) who() app.Who { return app.Who{Name: whoami(), Version: e.version} }

// whoami is who a decision is said to be by.
func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
