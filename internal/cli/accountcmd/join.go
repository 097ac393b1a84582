package accountcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/cli/command"
)

// Join is the command weir join.
func Join(e *command.Env) *cobra.Command {
	return e.Noun("join", "Join tokens: each lets one machine become a node", []string{"joins"},
		command.Lists(e, account.ListJoins, &cobra.Command{Short: "List join tokens that nobody has used"}, joinListing), joinCreate(e), joinRevoke(e))
}

var joinListing = command.Listing[auth.Join]{
	Name:  func(j auth.Join) string { return j.ID },
	Empty: []string{"There are no join tokens.", "Make one with: weir join create --node NAME --service SERVICE=N"},
	Columns: []command.Column[auth.Join]{
		{Title: "ID", Value: func(_ *command.Output, j auth.Join) string { return j.ID }},
		{Title: "NODE", Value: func(_ *command.Output, j auth.Join) string { return j.Node }},
		{Title: "LABELS", Value: func(_ *command.Output, j auth.Join) string { return command.Labels(j.Labels) }},
		{Title: "SERVICES", Value: func(_ *command.Output, j auth.Join) string { return command.Labels(j.Services) }},
		{Title: "BY", Value: func(_ *command.Output, j auth.Join) string { return j.By }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, j auth.Join) string { return o.Ago(j.CreatedAt) }},
		{Title: "EXPIRES", Ages: true, Value: func(o *command.Output, j auth.Join) string { return o.Ago(j.ExpiresAt) }},
	},
}

func joinCreate(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Short:   "Make a join token and print it, once",
		Example: "  weir join create --node edge --service renderer=2\n  weir join create --node edge --labels zone=eu --service renderer=2\n  weir join create --node edge --any",
		Long: `Make a join token and print it, once. The machine that uses it first becomes a
node with a credential of its own; after that the token is worth nothing.

With --labels and --service the node is bound: its agent cannot say that it has
other labels, or does more. One of them is needed, or --any: then the node takes
whatever work its agent asks for, with its secrets.`,
	}
	return command.Operation(e, account.CreateJoin, c, func(_ context.Context, _ *app.Session, in *account.CreatingJoin, made account.Secret) error {
		return e.Output().Did(made.Secret, struct {
			Node string `json:"node,omitempty"`
			account.Secret
		}{in.Body.Node, made}, "%s", made.Secret)
	})
}

func joinRevoke(e *command.Env) *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Take a join token back"}
	return command.Told(e, account.RevokeJoin, c, "Join token %s is gone.")
}
