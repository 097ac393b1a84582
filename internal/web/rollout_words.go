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
func because(ctx context.Context, r interface{ In(language, text string) string }, text string) string {
	return plain(r.In(locale.From(ctx).Code, text))
}

// spoken makes a page speak the language of its reader.
func spoken(load func(*Request) (View, error)) func(*Request) (View, error) {
	return func(r *Request) (View, error) {
		speak(r)
		return load(r)
	}
}

// spokenAsk makes a question speak the language of its reader.
func spokenAsk(ask func(*Request) (ui.Question, error)) func(*Request) (ui.Question, error) {
	return func(r *Request) (ui.Question, error) {
		speak(r)
		return ask(r)
	}
}

// spokenDo makes what an action says speak the language of its reader.
func spokenDo(do func(*Request) (Done, error)) func(*Request) (Done, error) {
	return func(r *Request) (Done, error) {
		speak(r)
		return do(r)
	}
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

func speak(r *Request) {
	chosen := ""
	if cookie, err := r.Cookie(languageCookie); err == nil {
		chosen = cookie.Value
	}
	r.Request = r.WithContext(locale.With(r.Context(), locale.Pick(chosen, r.Header.Get("Accept-Language"))))
}

// setLanguage keeps the choice of a person in their browser.
func (w *Web) setLanguage(rw http.ResponseWriter, hr *http.Request) {
	code := hr.PostFormValue("language")
	if locale.Known(code) {
		http.SetCookie(rw, &http.Cookie{ // #nosec G124 -- without Secure only on plain http, where a browser would drop it
			Name: languageCookie, Value: code, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, Secure: w.config.Door.Secure(), SameSite: http.SameSiteLaxMode,
		})
	}
	http.Redirect(rw, hr, local(hr.PostFormValue("back")), http.StatusSeeOther) // #nosec G710 -- local keeps it here
}

// look is how a state is shown beside its word.
type look struct{ icon, class string }

// statusLooks are those of tasks. What is available has a colour of its own:
// nothing is in its way, and nobody has taken it.
var statusLooks = map[string]look{
	"NOT_STARTED": {"not-started", "is-idle"},
	"PENDING":     {"pending", "is-pending"},
	"AVAILABLE":   {"available", "is-available"},
	"RUNNING":     {"running", "is-running"},
	"DONE":        {"done", "is-done"},
	"FAILED":      {"failed", "is-failed"},
	"CANCELED":    {"canceled", "is-canceled"},
	"UNKNOWN":     {"help", "is-unknown"},
	"SKIPPED":     {"skipped", "is-skipped"},
}

// stateLooks are those of rollouts and stages.
var stateLooks = map[string]look{
	"not_started": {"not-started", "is-idle"},
	"running":     {"running", "is-running"},
	"waiting":     {"user", "is-held"},
	"paused":      {"held", "is-held"},
	"done":        {"done", "is-done"},
	"failed":      {"failed", "is-failed"},
	"canceled":    {"canceled", "is-canceled"},
}

// lookOf is plain for a word that a newer server may have.
func lookOf(looks map[string]look, word string) look {
	if l, ok := looks[word]; ok {
		return l
	}
	return look{"info", "is-pending"}
}

// waitsSaid is what a store says about a wait or an end, as a page says it: the
// command that it advises is a button here, and the key of a task is no word.
func waitsSaid(text string) string {
	text, _, _ = strings.Cut(plain(text), ": weir ")
	if first, _, _ := strings.Cut(text, " "); strings.Contains(first, "/") {
		return text
	}
	return ui.Sentence(text)
}
