package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

func (e *env) sessionNoun() *cobra.Command {
	return e.noun("session", "Browsers that are logged in", []string{"sessions"}, e.sessionList(), e.sessionRevoke())
}

func (e *env) sessionList() *cobra.Command {
	return e.personal(lists(e, account.ListSessions, &cobra.Command{
		Short: "List sessions",
		Long: `List sessions: your own, those of the user that --user names, or everybody's with
--all. On the database they are everybody's unless --user is given.`,
	}, sessionListing))
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
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Log a session out"}
	return e.personal(operation(e, account.RevokeSession, c, func(_ context.Context, _ *app.Session, in *account.NamedSession, _ op.Nothing) error {
		return e.output().did(in.Session, bareID{in.Session}, "Session %s has ended.", in.Session)
	}))
}
