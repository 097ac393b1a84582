package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

func (e *env) join() *cobra.Command {
	return e.noun("join", "Join tokens: each lets one machine become a node", []string{"joins"},
		lists(e, account.ListJoins, &cobra.Command{Short: "List join tokens that nobody has used"}, joinListing), e.joinCreate(), e.joinRevoke())
}

var joinListing = listing[auth.Join]{
	name:  func(j auth.Join) string { return j.ID },
	empty: []string{"There are no join tokens.", "Make one with: weir join create --node NAME --service SERVICE=N"},
	columns: []column[auth.Join]{
		{title: "ID", value: func(_ *output, j auth.Join) string { return j.ID }},
		{title: "NODE", value: func(_ *output, j auth.Join) string { return j.Node }},
		{title: "LABELS", value: func(_ *output, j auth.Join) string { return labels(j.Labels) }},
		{title: "SERVICES", value: func(_ *output, j auth.Join) string { return labels(j.Services) }},
		{title: "BY", value: func(_ *output, j auth.Join) string { return j.By }},
		{title: "CREATED", ages: true, value: func(o *output, j auth.Join) string { return o.ago(j.CreatedAt) }},
		{title: "EXPIRES", ages: true, value: func(o *output, j auth.Join) string { return o.ago(j.ExpiresAt) }},
	},
}

func (e *env) joinCreate() *cobra.Command {
	c := &cobra.Command{
		Short:   "Make a join token and print it, once",
		Example: "  weir join create --node edge --service renderer=2\n  weir join create --node edge --labels zone=eu --service renderer=2\n  weir join create --node edge --any",
		Long: `Make a join token and print it, once. The machine that uses it first becomes a
node with a credential of its own; after that the token is worth nothing.

With --labels and --service the node is bound: its agent cannot say that it has
other labels, or does more. One of them is needed, or --any: then the node takes
whatever work its agent asks for, with its secrets.`,
	}
	return operation(e, account.CreateJoin, c, func(_ context.Context, _ *app.Session, in *account.CreatingJoin, made account.Secret) error {
		return e.output().did(made.Secret, struct {
			Node string `json:"node,omitempty"`
			account.Secret
		}{in.Body.Node, made}, "%s", made.Secret)
	})
}

func (e *env) joinRevoke() *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Take a join token back"}
	return operation(e, account.RevokeJoin, c, func(_ context.Context, _ *app.Session, in *account.NamedJoin, _ op.Nothing) error {
		return e.output().did(in.Join, bareID{in.Join}, "Join token %s is gone.", in.Join)
	})
}
