package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *Web) tokens(r *Request) (View, error) {
	all := r.Query("whose") == "all" && r.Can(auth.Administer, "token")
	tokens, err := w.config.Auth.Tokens(r.Context(), r.Subject, all)
	if err != nil {
		return View{}, err
	}
	var tabs []ui.Tab
	if r.Can(auth.Administer, "token") {
		tabs = []ui.Tab{{Label: "Yours", Href: "/tokens", Current: !all}, {Label: "Everybody's", Href: "/tokens?whose=all", Current: all}}
	}
	return View{
		Head: ui.Head{Title: "Tokens", Actions: ui.ButtonLink("New token", "plus", "/new-token", true)},
		Body: tokensPage(tabs, tokens, all), Follow: people(),
	}, nil
}

// scopeOptions are the usual ones; the text field takes any other.
var scopeOptions = []ui.Option{
	{Value: "*:read", Label: "Read everything (*:read)"},
	{Value: "task:submit", Label: "Submit tasks (task:submit)"},
	{Value: "job:submit", Label: "Submit jobs (job:submit)"},
	{Value: "task:command", Label: "Cancel, retry, hold and release tasks (task:command)"},
	{Value: "job:command", Label: "Cancel jobs (job:command)"},
	{Value: "*:*", Label: "Everything your role may (*:*)"},
}

// lifetimes are how many days a token may live.
var lifetimes = []ui.Option{{Value: "7", Label: "7 days"}, {Value: "30", Label: "30 days"}, {Value: "90", Label: "90 days"}, {Value: "365", Label: "a year"}}

func askNewToken(*Request) (ui.Question, error) {
	return ui.Question{
		Title: "New token", Text: "A program with this token acts for you, within the scopes you choose.", Button: "Create the token", Back: "/tokens",
		Fields: []ui.Field{
			{Name: "name", Label: "Name", Hint: "What it is for.", Example: "ci", Focus: true, Auto: "off"},
			{Name: "scopes", Label: "Scopes", Type: "checks", Options: scopeOptions, Values: []string{"*:read"}},
			{Name: "more", Label: "More scopes", Optional: true, Example: "pool:manage schedule:*", Hint: "kind:verb, with a space between two; * stands for all.", Auto: "off"},
			{Name: "days", Label: "Works for", Type: "select", Options: lifetimes, Value: "90"},
		},
	}, nil
}

func (w *Web) createToken(r *Request) (Done, error) {
	days, err := strconv.Atoi(r.Field("days"))
	if err != nil || days < 1 || days > 365 {
		return Done{}, problem.Refuse("days", "choose one of the list", "a token cannot work for %q days", r.Field("days"))
	}
	scopes := append(slices.Clone(r.PostForm["scopes"]), strings.Fields(r.Field("more"))...)
	t, secret, err := w.config.Auth.CreateToken(r.Context(), r.Subject, auth.NewToken{Name: r.Field("name"), Scopes: scopes, TTL: time.Duration(days) * 24 * time.Hour})
	if err != nil {
		return Done{}, err
	}
	return Done{Show: &View{
		Head: ui.Head{Title: "The token " + t.Name, Crumbs: []ui.Crumb{{Label: "Tokens", Href: "/tokens"}}},
		Body: secretPage("Copy the token now. It is not shown again.", secret, "/tokens"),
	}}, nil
}

func askRevokeToken(*Request) (ui.Question, error) {
	return ui.Question{
		Title: "Revoke this token?", Button: "Revoke the token", Danger: true, Back: "/tokens",
		Text: "Programs that use it are refused from now on. This cannot be undone.",
	}, nil
}

func (w *Web) revokeToken(r *Request) (Done, error) {
	if err := w.config.Auth.RevokeToken(r.Context(), r.Subject, r.PathValue("id")); err != nil {
		return Done{}, err
	}
	return Done{To: "/tokens", Say: "The token is revoked."}, nil
}
