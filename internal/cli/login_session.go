package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
)

func (e *env) sessionNoun() *cobra.Command {
	return e.noun("session", "Browsers that are logged in", []string{"sessions"}, e.sessionList(), e.sessionRevoke())
}

func (e *env) sessionList() *cobra.Command {
	var user string
	c := &cobra.Command{Short: "List sessions"}
	c.Flags().StringVar(&user, "user", "", "only those of this user")
	return e.personal(listCommand(e, c, func(_ context.Context, s *app.Session, _ []string) (list[auth.Session], error) {
		return plainList(view.Page{}, sessionListing, func(ctx context.Context, _ view.Page) ([]auth.Session, error) { return s.Accounts.Sessions(ctx, user) }), nil
	}))
}

var sessionListing = listing[auth.Session]{
	name:  func(s auth.Session) string { return s.ID },
	empty: []string{"Nobody is logged in.", "Log in in the browser with: weir open"},
	columns: []column[auth.Session]{
		{title: "ID", value: func(_ *output, s auth.Session) string { return s.ID }},
		{title: "USER", value: func(_ *output, s auth.Session) string { return s.User }},
		{title: "BY", value: func(_ *output, s auth.Session) string { return s.Method }},
		{title: "FROM", value: func(_ *output, s auth.Session) string { return s.Address }},
		{title: "SINCE", ages: true, value: func(o *output, s auth.Session) string { return o.ago(s.CreatedAt) }},
		{title: "SEEN", ages: true, value: func(o *output, s auth.Session) string { return o.ago(s.SeenAt) }},
		{title: "EXPIRES", ages: true, wide: true, value: func(o *output, s auth.Session) string { return o.ago(s.ExpiresAt) }},
		{title: "AGENT", value: func(_ *output, s auth.Session) string { return s.Agent }},
	},
}

func (e *env) sessionRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke ID", Aliases: []string{"rm", "drop"}, Short: "Log a session out", Args: e.args("ID")}
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		if err := s.Accounts.RevokeSession(ctx, args[0]); err != nil {
			return err
		}
		return e.output().did(args[0], struct {
			ID string `json:"id"`
		}{args[0]}, "Session %s has ended.", args[0])
	})
}
