package command

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

// Env is one run of the command: its files, its global flags, and what it has
// found out about them.
type Env struct {
	Streams
	Force   context.Context
	Version string
	// Line is the command line, without the program.
	Line []string

	// Began is set when the command line was understood and the work begins.
	Began bool
	// HelpFor is the command whose help an error points to.
	HelpFor string

	// Program is how to call this command again, where are the flags that lead
	// to the same place, and verbs what may follow: see hint.
	Program, where string
	Verbs          map[string]bool

	// Asked is the server that was asked, if one was: errors name it. loginHint
	// is what to do if it does not know who asks.
	Asked, loginHint string
	// Person is who a command acts for where a token may not.
	Person person
	// typed reads standard input line by line, if somebody does.
	typed *bufio.Reader

	ConfigFile string
	Format     string
	// Reread reads the configuration once more.
	Reread func() (app.Config, error)
}

// Source collects the settings that were given as flags.
func (e *Env) Source(cmd *cobra.Command) app.Source {
	given := map[string]string{}
	names := map[string]string{}
	for _, s := range append(app.Settings(), app.ClientSettings()...) {
		names[s.Flag] = s.Name
	}
	e.where = ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		e.remember(f.Name, f.Value.String())
		if name, ok := names[f.Name]; ok && f.Annotations[ownFlag] == nil {
			given[name] = f.Value.String()
		}
	})
	return app.Source{Flags: given, File: e.ConfigFile}
}

// Run is a command that needs no database.
func (e *Env) Run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := e.checkFormat(); err != nil {
			return err
		}
		e.Began = true
		return f(cmd, args)
	}
}

// Config is a command that needs the configuration.
func (e *Env) Config(f func(ctx context.Context, c app.Config, values []app.Value, args []string) error) func(*cobra.Command, []string) error {
	return e.Run(func(cmd *cobra.Command, args []string) error {
		src := e.Source(cmd)
		c, values, err := app.Load(src)
		if err != nil {
			return err
		}
		e.Reread = func() (app.Config, error) {
			c, _, err := app.Load(src)
			return c, err
		}
		return f(cmd.Context(), c, values, args)
	})
}

// Target finds out where a command works.
func (e *Env) Target(cmd *cobra.Command) (app.Target, error) {
	src := e.Source(cmd)
	c, values, err := app.Load(src)
	if err != nil {
		return app.Target{}, err
	}
	return app.FindTarget(c, append(values, app.ClientValues(src)...))
}

// Session is a command that asks a database or a server.
func (e *Env) Session(f func(ctx context.Context, s *app.Session, args []string) error) func(*cobra.Command, []string) error {
	return e.Run(func(cmd *cobra.Command, args []string) error {
		s, err := e.Connect(cmd)
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

// Connect connects to where a command works. Close the session afterwards.
func (e *Env) Connect(cmd *cobra.Command) (*app.Session, error) {
	target, err := e.Target(cmd)
	if err != nil {
		return nil, err
	}
	s, err := app.Connect(cmd.Context(), target, e.Who())
	if err != nil {
		return nil, err
	}
	if target.Remote() {
		e.Asked, e.loginHint = target.Server, "log in with: weir login "+target.Server
		if target.Context != "" {
			e.Asked += " (context " + target.Context + ")"
		}
	}
	return s, nil
}

// Output is where and how to print.
func (e *Env) Output() *Output {
	o := &Output{Streams: e.Streams, Format: e.Format, Now: time.Now(), Hint: e.Hint}
	if f, ok := e.Out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		o.Terminal, o.Width = terminal(f)
	}
	o.Color = o.Terminal && os.Getenv("NO_COLOR") == ""
	return o
}

// Who is who connects.
func (e *Env) Who() app.Who { return app.Who{Name: Whoami(), Version: e.Version} }

// Whoami is who a decision is said to be by.
func Whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}
