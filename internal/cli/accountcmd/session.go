package accountcmd

import (
	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/cli/command"
)

// Sessions is the command weir session.
func Sessions(e *command.Env) *cobra.Command {
	return e.Noun("session", "Browsers that are logged in", []string{"sessions"}, sessionList(e), sessionRevoke(e))
}

func sessionList(e *command.Env) *cobra.Command {
	return e.Personal(command.Lists(e, account.ListSessions, &cobra.Command{
		Short: "List sessions",
		Long: `List sessions: your own, those of the user that --user names, or everybody's with
--all. On the database they are everybody's unless --user is given.`,
	}, sessionListing))
}

var sessionListing = command.Listing[auth.Session]{
	Name:  func(s auth.Session) string { return s.ID },
	Empty: []string{"Nobody is logged in.", "Log in in the browser with: weir open"},
	Columns: []command.Column[auth.Session]{
		{Title: "ID", Value: func(_ *command.Output, s auth.Session) string { return s.ID }},
		{Title: "USER", Value: func(_ *command.Output, s auth.Session) string { return s.User }},
		{Title: "BY", Value: func(_ *command.Output, s auth.Session) string { return s.Method }},
		{Title: "FROM", Value: func(_ *command.Output, s auth.Session) string { return s.Address }},
		{Title: "SINCE", Ages: true, Value: func(o *command.Output, s auth.Session) string { return o.Ago(s.CreatedAt) }},
		{Title: "SEEN", Ages: true, Value: func(o *command.Output, s auth.Session) string { return o.Ago(s.SeenAt) }},
		{Title: "EXPIRES", Ages: true, Wide: true, Value: func(o *command.Output, s auth.Session) string { return o.Ago(s.ExpiresAt) }},
		{Title: "AGENT", Value: func(_ *command.Output, s auth.Session) string { return s.Agent }},
	},
}

func sessionRevoke(e *command.Env) *cobra.Command {
	c := &cobra.Command{Aliases: []string{"rm", "drop"}, Short: "Log a session out"}
	return e.Personal(command.Told(e, account.RevokeSession, c, "Session %s has ended."))
}
