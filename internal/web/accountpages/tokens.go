package accountpages

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *pages) tokens(r *site.Request) (site.View, error) {
	ctx := r.Context()
	all := r.Query("whose") == "all" && r.Can(auth.Administer, "token")
	tokens, err := w.Auth.Tokens(r.Context(), r.Subject, all)
	if err != nil {
		return site.View{}, err
	}
	var tabs []ui.Tab
	if r.Can(auth.Administer, "token") {
		tabs = []ui.Tab{{Label: ui.Say(ctx, "word.yours"), Href: "/tokens", Current: !all}, {Label: ui.Say(ctx, "word.everybodys"), Href: "/tokens?whose=all", Current: all}}
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.tokens"), Actions: ui.ButtonLink(ui.Say(ctx, "word.newtoken"), "plus",
			"/new-token", true)},
		Body: tokensPage(tabs, tokens, all), Follow: people(),
	}, nil
}

func askNewToken(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "word.newtoken"), Text: ui.Say(ctx, "token.text"), Button: ui.Say(ctx, "token.create"), Back: "/tokens",
		Fields: []ui.Field{
			{
				Name: "name", Label: ui.Say(ctx, "word.name"), Hint: ui.Say(ctx, "token.name.hint"), Example: "ci", Focus: true,
				Auto: "off",
			},
			{Name: "scopes", Label: ui.Say(ctx, "word.scopes"), Type: "checks", Options: ui.Codes(ctx, "scope.", "*:read",
				"task:submit", "job:submit", "task:command", "job:command", "*:*"), Values: []string{"*:read"}},
			{
				Name: "more", Label: ui.Say(ctx, "word.morescopes"), Optional: true, Example: "pool:manage schedule:*",
				Hint: ui.Say(ctx, "token.more.hint"), Auto: "off",
			},
			{Name: "days", Label: ui.Say(ctx, "word.worksfor"), Type: "select", Options: ui.Codes(ctx, "days.", "7", "30", "90",
				"365"), Value: "90"},
		},
	}, nil
}

func (w *pages) createToken(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	days, err := strconv.Atoi(r.Field("days"))
	if err != nil || days < 1 || days > 365 {
		return site.Done{}, problem.Refuse("days", "choose one of the list", "a token cannot work for %q days", r.Field("days"))
	}
	scopes := append(slices.Clone(r.PostForm["scopes"]), strings.Fields(r.Field("more"))...)
	in := account.TokenBody{Name: r.Field("name"), Scopes: scopes, TTL: op.Period(time.Duration(days) * 24 * time.Hour)}
	made, err := account.CreateToken.Call(r.Context(), w.Operations, &account.CreatingToken{Body: in})
	if err != nil {
		return site.Done{}, err
	}
	return site.Done{Show: &site.View{
		Head: ui.Head{
			Title:  ui.Say(ctx, "token.title", made.Token.Name),
			Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.tokens"), Href: "/tokens"}},
		},
		Body: secretPage(ui.Say(ctx, "token.copy"), made.Secret, "/tokens"),
	}}, nil
}

func askRevokeToken(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "word.revokethistoken"), Button: ui.Say(ctx, "token.revoke"), Danger: true, Back: "/tokens",
		Text: ui.Say(ctx, "token.revoke.text"),
	}, nil
}

func tokenRevoked(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/tokens", Say: ui.Say(r.Context(), "said.token.revoked")}
}
