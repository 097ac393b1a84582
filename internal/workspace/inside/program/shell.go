package program

import (
	"context"
	"os"

	"github.com/weirhq/weir/internal/workspace/inside/shell"
)

// shelled is a shell, and ends the process as one: with the code of its last command,
// whatever codes mean to the program around it. Ctrl-C is for what runs in the shell and
// SIGTERM for the shell itself, so the end of ctx is not heeded.
func shelled(ctx context.Context, s Streams) error {
	code, err := shell.Run(context.WithoutCancel(ctx), s.In, s.Out, s.Err)
	if err == nil && code != 0 {
		os.Exit(code)
	}
	return err
}
