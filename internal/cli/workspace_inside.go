package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// workspaceInside is what runs inside of workspaces and beside their homes. Providers call
// it, people do not.
func (e *env) workspaceInside() *cobra.Command {
	return &cobra.Command{
		Use: "workspace-inside", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.began = true
			return program.Run(cmd.Context(), args, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		},
	}
}
