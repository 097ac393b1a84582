package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
)

// versionWithin is how long a server may take to say its version.
const versionWithin = 3 * time.Second

// build says what this binary is.
type build struct {
	Version string `json:"version"`
	// Commit is known when the binary was built inside the repository.
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildOf(version string) build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// apiVersion is the API that this binary speaks. Within one, servers and
// commands of different versions understand each other.
const apiVersion = "v1"

// versions is what programs read: this binary, and the server it would ask.
type versions struct {
	build
	Server *serverVersion `json:"server,omitempty"`
}

type serverVersion struct {
	Address string `json:"address"`
	Version string `json:"version,omitempty"`
	API     string `json:"api,omitempty"`
	Error   string `json:"error,omitempty"`
}

// warning says that the two do not understand each other, if so.
func (v serverVersion) warning() string {
	if v.API == "" || v.API == apiVersion {
		return ""
	}
	return fmt.Sprintf("Warning: the server speaks API %s, this command %s: install version %s of weir.", command.Clean(v.API), apiVersion, command.Clean(v.Version))
}

func versionCommand(e *command.Env) *cobra.Command {
	var client bool
	c := &cobra.Command{
		Use: "version", Short: "Show the version of this binary, and of the server it would ask", Args: e.NoArgs,
	}
	c.Flags().BoolVar(&client, "client", false, "ask no server")
	c.RunE = e.Run(func(cmd *cobra.Command, _ []string) error {
		v := versions{build: buildOf(e.Version)}
		if !client {
			v.Server = askVersion(e, cmd)
		}
		commit := ""
		if v.Commit != "" {
			commit = ", commit " + v.Commit[:min(12, len(v.Commit))]
		}
		o := e.Output()
		if err := o.Did(v.Version, v, "weir %s%s, %s, %s", v.Version, commit, v.Go, v.Platform); err != nil || !o.Table() || v.Server == nil {
			return err
		}
		switch {
		case v.Server.Error != "":
			o.Say("server %s: %s", v.Server.Address, command.Clean(v.Server.Error))
			return nil
		case v.Server.Version == "":
			return nil
		}
		fmt.Fprintf(o.Out, "server %s at %s\n", command.Clean(v.Server.Version), v.Server.Address)
		if warning := v.Server.warning(); warning != "" {
			o.Say("%s", warning)
		}
		return nil
	})
	return c
}

// askVersion asks the server that commands would ask. That there is none is
// no error here.
func askVersion(e *command.Env, cmd *cobra.Command) *serverVersion {
	target, err := e.Target(cmd)
	if err != nil || !target.Remote() && target.Running == nil {
		return nil
	}
	found := &serverVersion{Address: target.Asked()}
	if target.Running != nil {
		found.Address, found.Version = target.Dashboard, target.Running.Version
		return found
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), versionWithin)
	defer cancel()
	s, err := app.Connect(ctx, target, e.Who())
	if err == nil {
		defer s.Close()
		v, asked := s.ServerVersion(ctx)
		found.Version, found.API, err = v.Version, v.API, asked
	}
	if err != nil {
		found.Error = problem.Explain(err).What
	}
	return found
}
