package accountcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
)

// Token is the command weir token.
func Token(e *command.Env) *cobra.Command {
	return e.Noun("token", "Tokens: they let programs act for a user", []string{"tokens"}, tokenList(e), tokenCreate(e), tokenRevoke(e))
}

func tokenList(e *command.Env) *cobra.Command {
	return e.Personal(command.Lists(e, account.ListTokens, &cobra.Command{
		Short: "List tokens: your own, or everybody's with --all",
		Long: `List tokens: your own, or everybody's with --all. On the database they are always
everybody's. What a token is cannot be shown again: it is known once, when it is
made.`,
	}, tokenListing))
}

var tokenListing = command.Listing[auth.Token]{
	Name:  func(t auth.Token) string { return t.ID },
	Empty: []string{"There are no tokens.", "Make one with: weir token create NAME --scope '*:read'"},
	Columns: []command.Column[auth.Token]{
		{Title: "ID", Value: func(_ *command.Output, t auth.Token) string { return t.ID }},
		{Title: "NAME", Value: func(_ *command.Output, t auth.Token) string { return t.Name }},
		{Title: "USER", Value: func(_ *command.Output, t auth.Token) string { return t.User }},
		{Title: "SCOPES", Value: func(_ *command.Output, t auth.Token) string { return strings.Join(t.Scopes, " ") }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, t auth.Token) string { return o.Ago(t.CreatedAt) }},
		{Title: "USED", Ages: true, Value: func(o *command.Output, t auth.Token) string { return o.AgoOf(t.UsedAt) }},
		{Title: "EXPIRES", Ages: true, Value: func(o *command.Output, t auth.Token) string { return o.Ago(t.ExpiresAt) }},
	},
}

// madeToken is what programs read: the one time that a token is told.
type madeToken struct {
	auth.Token
	Secret string `json:"secret"`
}

func tokenCreate(e *command.Env) *cobra.Command {
	in := new(account.CreatingToken)
	c := &cobra.Command{
		Short: "Make a token and print it, once",
		Long: `Make a token and print it, once: it is not kept anywhere.

A scope is kind:verb, where a star is all of them: '*:read', 'task:submit',
'*:*'. A token never may more than its user, and never hands out rights: it
manages no users, tokens or sessions.`,
		Example: "  weir token create ci --scope 'task:*' --scope 'job:*' --ttl 30d\n  weir token create ci --user ada --scope '*:*' -o name >token.txt",
	}
	typed := e.Flagged(c, &account.CreateToken.Operation, in)
	c.Flags().StringVar(&in.User, "user", "", "on the database: whose token it is; default: the user with your name here, else the only admin there is")
	_ = c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopeExamples(), cobra.ShellCompDirectiveNoFileComp))
	return e.Accounts(c, func(ctx context.Context, s *app.Session, args []string) (err error) {
		if err := typed(args); err != nil {
			return err
		}
		switch {
		case in.User != "" && s.Target.Remote():
			return problem.Refuse("user", "leave --user out, or say with --as who logs in", "--user is for a command on the database: over a server's API a token acts for the one who makes it")
		case in.User == "" && !s.Target.Remote():
			if in.User, err = Self(ctx, s); err != nil {
				return err
			}
			if in.User == "" {
				return command.Invalid("make the first one with: weir open", "a token acts for a user, and there is none yet")
			}
		}
		made, err := account.CreateToken.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		o, token := e.Output(), made.Token
		if o.Table() {
			o.Say("Token %s of %s, good until %s. Keep it safe; it is not shown again.", token.Name, token.User, command.Exact(token.ExpiresAt))
		}
		return o.Did(made.Secret, madeToken{token, made.Secret}, "%s", made.Secret)
	})
}

// scopeExamples are all scopes there are, the widest first.
func scopeExamples() []string {
	scopes := []string{"*:*", "*:read"}
	for _, kind := range auth.Kinds() {
		scopes = append(scopes, kind+":*")
	}
	return scopes
}

func tokenRevoke(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "revoke ID", Aliases: []string{"rm", "drop"}, Short: "End a token at once", Args: e.Args("ID"),
	}
	return e.Accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		id, err := tokenID(ctx, e, s, args[0])
		if err != nil {
			return err
		}
		if _, err := account.RevokeToken.Call(ctx, s.Operations, &account.NamedToken{Token: id}); err != nil {
			return err
		}
		return e.Output().Did(id, command.BareID{ID: id}, "Token %s is revoked.", id)
	})
}

// tokenID finds a token by its id, the end of it, or its name.
func tokenID(ctx context.Context, e *command.Env, s *app.Session, text string) (string, error) {
	tokens, err := account.ListTokens.Call(ctx, s.Operations, &account.ListingTokens{})
	if err != nil {
		return "", err
	}
	var found []string
	for _, t := range tokens.Items {
		if t.ID == text || t.Name == text || len(text) >= 6 && strings.HasSuffix(t.ID, text) {
			found = append(found, t.ID)
		}
	}
	switch len(found) {
	case 0:
		return text, nil // may be somebody else's: the server knows
	case 1:
		return found[0], nil
	}
	return "", command.Invalid("give the id: weir token list", "%s", fmt.Sprintf("several tokens are called %q", text))
}
