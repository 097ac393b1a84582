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
	in := &account.CreatingJoin{}
	n := &in.Body
	var ttl string
	c := &cobra.Command{
		Use: "create", Short: "Make a join token and print it, once", Args: e.noArgs,
		Example: "  weir join create --node edge --service renderer=2\n  weir join create --node edge --labels zone=eu --service renderer=2\n  weir join create --node edge --any",
		Long: `Make a join token and print it, once. The machine that uses it first becomes a
node with a credential of its own; after that the token is worth nothing.

With --labels and --service the node is bound: its agent cannot say that it has
other labels, or does more. One of them is needed, or --any: then the node takes
whatever work its agent asks for, with its secrets.`,
		RunE: e.session(func(ctx context.Context, s *app.Session, _ []string) (err error) {
			if n.TTL, err = readTTL(ttl); err != nil {
				return err
			}
			made, err := account.CreateJoin.Call(ctx, s.Operations, in)
			if err != nil {
				return err
			}
			return e.output().did(made.Secret, struct {
				Node string `json:"node,omitempty"`
				account.Secret
			}{n.Node, made}, "%s", made.Secret)
		}),
	}
	c.Flags().StringToStringVar(&n.Labels, "labels", nil, "labels the node has, whatever its agent says: `KEY=VALUE,…`; default: those of the agent")
	c.Flags().StringToIntVar(&n.Services, "service", nil, "service the node may do and the most at once: `NAME=N`; may be repeated; default: what the agent offers")
	c.Flags().BoolVar(&n.Any, "any", false, "let the node take any work; in place of --labels and --service")
	c.Flags().StringVar(&n.Node, "node", "", "name the node must have; one that has it now is replaced")
	c.Flags().StringVar(&ttl, "ttl", "", "how long it is good; default: 1h")
	return c
}

func (e *env) joinRevoke() *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Take a join token back"}
	return operation(e, account.RevokeJoin, c, func(_ context.Context, _ *app.Session, in *account.NamedJoin, _ op.Nothing) error {
		return e.output().did(in.Join, bareID{in.Join}, "Join token %s is gone.", in.Join)
	})
}
