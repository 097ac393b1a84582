package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

func (e *env) token() *cobra.Command {
	return e.noun("token", "Tokens: they let programs act for a user", []string{"tokens"}, e.tokenList(), e.tokenCreate(), e.tokenRevoke())
}

func (e *env) tokenList() *cobra.Command {
	return e.personal(lists(e, account.ListTokens, &cobra.Command{
		Short: "List tokens: your own, or everybody's with --all",
		Long: `List tokens: your own, or everybody's with --all. On the database they are always
everybody's. What a token is cannot be shown again: it is known once, when it is
made.`,
	}, tokenListing))
}

var tokenListing = listing[auth.Token]{
	name:  func(t auth.Token) string { return t.ID },
	empty: []string{"There are no tokens.", "Make one with: weir token create NAME --scope '*:read'"},
	columns: []column[auth.Token]{
		{title: "ID", value: func(_ *output, t auth.Token) string { return t.ID }},
		{title: "NAME", value: func(_ *output, t auth.Token) string { return t.Name }},
		{title: "USER", value: func(_ *output, t auth.Token) string { return t.User }},
		{title: "SCOPES", value: func(_ *output, t auth.Token) string { return strings.Join(t.Scopes, " ") }},
		{title: "CREATED", ages: true, value: func(o *output, t auth.Token) string { return o.ago(t.CreatedAt) }},
		{title: "USED", ages: true, value: func(o *output, t auth.Token) string { return o.ago(at(t.UsedAt)) }},
		{title: "EXPIRES", ages: true, value: func(o *output, t auth.Token) string { return o.ago(t.ExpiresAt) }},
	},
}

// madeToken is what programs read: the one time that a token is told.
type madeToken struct {
	auth.Token
	Secret string `json:"secret"`
}

func (e *env) tokenCreate() *cobra.Command {
	in := new(account.CreatingToken)
	c := &cobra.Command{
		Short: "Make a token and print it, once",
		Long: `Make a token and print it, once: it is not kept anywhere.

A scope is kind:verb, where a star is all of them: '*:read', 'task:submit',
'*:*'. A token never may more than its user, and never hands out rights: it
manages no users, tokens or sessions.`,
		Example: "  weir token create ci --scope 'task:*' --scope 'job:*' --ttl 30d\n  weir token create ci --user ada --scope '*:*' -o name >token.txt",
	}
	typed := e.flagged(c, &account.CreateToken.Operation, in)
	c.Flags().StringVar(&in.User, "user", "", "on the database: whose token it is; default: the user with your name here, else the only admin there is")
	_ = c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopeExamples(), cobra.ShellCompDirectiveNoFileComp))
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) (err error) {
		if err := typed(args); err != nil {
			return err
		}
		switch {
		case in.User != "" && s.Target.Remote():
			return problem.Refuse("user", "leave --user out, or say with --as who logs in", "--user is for a command on the database: over a server's API a token acts for the one who makes it")
		case in.User == "" && !s.Target.Remote():
			if in.User, err = self(ctx, s); err != nil {
				return err
			}
			if in.User == "" {
				return invalid("make the first one with: weir open", "a token acts for a user, and there is none yet")
			}
		}
		made, err := account.CreateToken.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		o, token := e.output(), made.Token
		if o.table() {
			o.say("Token %s of %s, good until %s. Keep it safe; it is not shown again.", token.Name, token.User, exact(token.ExpiresAt))
		}
		return o.did(made.Secret, madeToken{token, made.Secret}, "%s", made.Secret)
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

func (e *env) tokenRevoke() *cobra.Command {
	c := &cobra.Command{
		Use: "revoke ID", Aliases: []string{"rm", "drop"}, Short: "End a token at once", Args: e.args("ID"),
	}
	return e.accounts(c, func(ctx context.Context, s *app.Session, args []string) error {
		id, err := e.tokenID(ctx, s, args[0])
		if err != nil {
			return err
		}
		if _, err := account.RevokeToken.Call(ctx, s.Operations, &account.NamedToken{Token: id}); err != nil {
			return err
		}
		return e.output().did(id, bareID{id}, "Token %s is revoked.", id)
	})
}

// tokenID finds a token by its id, the end of it, or its name.
func (e *env) tokenID(ctx context.Context, s *app.Session, text string) (string, error) {
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
	return "", invalid("give the id: weir token list", "%s", fmt.Sprintf("several tokens are called %q", text))
}
