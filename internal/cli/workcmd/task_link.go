package workcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/work"
)

func taskLink(e *command.Env) *cobra.Command {
	return command.Operation(e, work.LinkTask, &cobra.Command{
		Long: `Make a signed link that tells a task of the event that it waits for. Whoever has the
link can end the wait, once, and can do nothing else; it ends with the wait. POST
{"payload": …} to the path that is printed, at the address of the server.`,
		Example: "  weir task link 8057b302099a/paid",
	}, func(_ context.Context, _ *app.Session, _ *work.NamedTask, out work.Link) error {
		return e.Output().Did(out.Path, out, "%s", out.Path)
	})
}
