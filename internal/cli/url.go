package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
)

func databaseURL(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "url", Short: "Print the database URL, with its password", Args: e.NoArgs,
		Long: `Print the URL of the database that commands use: the one that is set, or that
of the Weir that runs on this machine. It holds the password.`,
		Example: "  psql \"$(weir url)\"\n  WEIR_DATABASE_URL=\"$(weir url --data ./.weir)\" ./worker",
		RunE: e.Config(func(_ context.Context, c app.Config, values []app.Value, _ []string) error {
			url, err := app.DatabaseURL(c, values)
			if err != nil {
				return err
			}
			return e.Output().Did(url, struct {
				URL string `json:"url"`
			}{url}, "%s", url)
		}),
	}
}
