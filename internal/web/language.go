package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// languageCookie is what a person chose. It is no secret and no right.
const languageCookie = "weir_language"

// say is a text in the language of the page; count is one with a number.
func say(ctx context.Context, key string, values ...any) string {
	return locale.From(ctx).Say(key, values...)
}

func count(ctx context.Context, key string, n int) string { return locale.From(ctx).Count(key, n) }

// because is a reason in the language of the page; text is the reason in English.
func because(ctx context.Context, r interface {
	In(language, text string) string
}, text string,
) string {
	return plain(r.In(locale.From(ctx).Code, text))
}

// spokenProblem is a problem in the language of the page.
func spokenProblem(ctx context.Context, p *problem.Problem) *problem.Problem {
	return p.In(locale.From(ctx).Code)
}

// told is what a reader may know of an error, in the language of the page.
func told(ctx context.Context, err error) *problem.Problem {
	p, _ := problem.Public(err)
	return spokenProblem(ctx, p)
}

// columns are the headings of a table, by the names of their words; one that ends in # holds
// numbers, and an empty one the actions of a row.
func columns(ctx context.Context, names ...string) []ui.Column {
	out := make([]ui.Column, len(names))
	for i, name := range names {
		name, out[i].Number = strings.CutSuffix(name, "#")
		if name != "" {
			out[i].Label = say(ctx, "word."+name)
		}
	}
	return out
}

// codes are choices whose words are found by their codes.
func codes[C ~string](ctx context.Context, prefix string, values ...C) []ui.Option {
	out := make([]ui.Option, len(values))
	for i, v := range values {
		out[i] = ui.Option{Value: string(v), Label: ui.Code(ctx, prefix, string(v))}
	}
	return out
}

// language is that of a reader: the one they chose, else the one their browser asks for.
func language(hr *http.Request) *locale.Words {
	chosen := ""
	if cookie, err := hr.Cookie(languageCookie); err == nil {
		chosen = cookie.Value
	}
	return locale.Pick(chosen, hr.Header.Get("Accept-Language"))
}

// setLanguage keeps the choice of a person in their browser.
func (w *Web) setLanguage(rw http.ResponseWriter, hr *http.Request) {
	code := hr.PostFormValue("language")
	if locale.Known(code) {
		http.SetCookie(rw, &http.Cookie{ // #nosec G124 -- without Secure only on plain http, where a browser would drop it
			Name: languageCookie, Value: code, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true,
			Secure: w.config.Door.Secure(), SameSite: http.SameSiteLaxMode,
		})
	}
	http.Redirect(rw, hr, local(hr.PostFormValue("back")), http.StatusSeeOther) // #nosec G710 -- local keeps it here
}
