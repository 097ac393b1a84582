package workcmd

import (
	"cmp"
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
{"payload": …} to it, with Content-Type: application/json. Where the address of the server
is not known, only the path is printed.`,
		Example: "  weir task link 8057b302099a/paid",
	}, func(_ context.Context, s *app.Session, _ *work.NamedTask, out work.Link) error {
		if s.Target.Dashboard != "" {
			out.URL = s.Target.Dashboard + out.Path
		}
		link := cmp.Or(out.URL, out.Path)
		return e.Output().Did(link, out, "%s", link)
	})
}
