package proxy

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
)

//go:embed page
var files embed.FS

var pageOf = template.Must(template.ParseFS(files, "page/page.html"))

// view is the page that is shown in place of a workspace.
type view struct {
	status, retry int
	// code is the word that programs branch on.
	code  string
	limit *workspace.Limit
	// wakes means that the page retries to wake the workspace until it is accepted.
	wakes bool

	Name, Phase, Operation, Title, Says, Next string
	// Link is the address of the workspace on the dashboard.
	Link string
	// Live means that the page follows the progress, and loads the workspace in the end.
	Live bool
	// Again means that there is a link to try again.
	Again bool
	Runs  []runs
	// Words are the fixed texts of the page.
	Words words
}

// words are the texts of every page of the proxy.
type words struct{ Language, Again, Dashboard, Waiting string }

// say returns a text in the language of the reader.
func say(ctx context.Context, key string, values ...any) string {
	return locale.From(ctx).Say(key, values...)
}

// spoken sets the language of requests of people, waiting pages included. Programs get
// English.
func spoken(r *http.Request) *http.Request {
	if r.URL.Path != livePath && !readsPages(r) {
		return r
	}
	return r.WithContext(locale.With(r.Context(), locale.Pick("", r.Header.Get("Accept-Language"))))
}

// readsPages reports whether a person reads the answer.
func readsPages(r *http.Request) bool {
	return navigates(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

type runs struct{ Name, Phase, Link string }

// Stream returns the address of a live page's stream.
func (v view) Stream() string {
	if v.wakes {
		return livePath + "?wake=1"
	}
	return livePath
}

// Refresh returns the reload interval of a page without script.
func (v view) Refresh() int { return retrySoon }

// policy lets pages of the proxy load its own files and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// setHeaders sets the headers of all answers of the proxy itself on the host of a
// workspace.
func setHeaders(h http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		h.Set(name, value)
	}
}

// show answers people with a page, and programs with JSON or text.
func (p *Proxy) show(w http.ResponseWriter, r *http.Request, v view) {
	h := w.Header()
	setHeaders(h)
	if v.retry > 0 {
		h.Set("Retry-After", fmt.Sprint(v.retry))
	}
	switch {
	case readsPages(r):
		ctx := r.Context()
		v.Words = words{locale.From(ctx).Code, say(ctx, "visit.again"), say(ctx, "visit.dashboard"), say(ctx, "visit.waiting")}
		h.Set("Vary", "Accept-Language")
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(v.status)
		if err := pageOf.Execute(w, v); err != nil {
			p.config.Log.Debug("a page was not read to its end", "error", err)
		}
	case strings.Contains(r.Header.Get("Accept"), "json"):
		h.Set("Content-Type", "application/problem+json")
		w.WriteHeader(v.status)
		_ = json.NewEncoder(w).Encode(v.document()) // an error means that the client has gone
	default:
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(v.status)
		_, _ = fmt.Fprintln(w, v.text()) // #nosec G705 -- text/plain with nosniff; an error means that the client has gone
	}
}

func (v view) text() string {
	lines := []string{v.Title}
	for _, line := range []string{v.Says, v.Next} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, one := range v.Runs {
		lines = append(lines, fmt.Sprintf("- %s (%s)", one.Name, one.Phase))
	}
	return strings.Join(lines, "\n")
}

func (v view) document() map[string]any {
	document := map[string]any{"title": http.StatusText(v.status), "status": v.status, "code": v.code, "detail": v.Title}
	for name, value := range map[string]string{"next": strings.TrimSpace(v.Says + " " + v.Next), "phase": v.Phase, "operation": v.Operation} {
		if value != "" {
			document[name] = value
		}
	}
	if v.limit != nil {
		document["data"] = v.limit
	}
	return document
}

// refuse answers a request that is not allowed.
func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, status int, title, next string) {
	codes := map[int]string{http.StatusUnauthorized: "unauthenticated", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found"}
	code := codes[status]
	if code == "" {
		code = "failed"
	}
	p.show(w, r, view{status: status, code: code, Title: title, Next: next, Link: p.config.Dashboard + "/workspaces"})
}

// fail answers if something went wrong, with only what a client may know.
func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	public, hidden := problem.Public(err)
	if hidden {
		p.config.Log.Error("the request to a workspace was not served", "error", err)
	}
	v := view{status: public.Kind.Status(), code: public.Kind.Code(), Title: public.What, Next: public.Next, Link: p.config.Dashboard + "/workspaces"}
	if v.status >= http.StatusInternalServerError {
		v.retry = retrySoon
	}
	p.show(w, r, v)
}

// stranger refuses a program without a visit.
func (p *Proxy) stranger(w http.ResponseWriter, r *http.Request) {
	p.refuse(w, r, http.StatusUnauthorized, say(r.Context(), "visit.nobody"), say(r.Context(), "visit.nobody.next", "weir workspace open"))
}

// unknown sends people without a visit to the dashboard, which identifies them, and
// refuses programs.
func (p *Proxy) unknown(w http.ResponseWriter, r *http.Request, id weir.ID) {
	if !navigates(r) {
		p.stranger(w, r)
		return
	}
	setHeaders(w.Header())
	to := p.config.Dashboard + "/workspaces/" + id.String() + "/open?next=" + url.QueryEscape(r.URL.RequestURI())
	http.Redirect(w, r, to, http.StatusSeeOther) // #nosec G710 -- to our own dashboard
}
