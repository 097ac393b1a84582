package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

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

func (e *env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version of this binary", Args: e.noArgs,
		RunE: e.run(func(*cobra.Command, []string) error {
			b := buildOf(e.version)
			commit := ""
			if b.Commit != "" {
				commit = ", commit " + b.Commit[:min(12, len(b.Commit))]
			}
			return e.output().did(b.Version, b, "weir %s%s, %s, %s", b.Version, commit, b.Go, b.Platform)
		}),
	}
}
