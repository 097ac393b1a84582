package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// pageTime bounds the work for one page.
const pageTime = 30 * time.Second

// navOf is the entry of the navigation that is lit on a page.
func navOf(p site.Page) string {
	if p.Nav == "" {
		return p.Path
	}
	return p.Nav
}

// page serves a page.
func (w *Web) page(p site.Page) {
	w.known[p.Path] = p
	path := p.Path
	if path == "/" {
		path = "/{$}"
	}
	w.mux.HandleFunc("GET "+path, func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		ctx, cancel := context.WithTimeout(r.Context(), pageTime)
		defer cancel()
		r.Request = r.WithContext(ctx)
		if err := r.Allow(p.Verb, p.Kind, p.Own); err != nil {
			w.fail(rw, r, err)
			return
		}
		v, err := p.Load(r)
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		w.show(rw, r, navOf(p), v)
	})
}

// show writes a page, or only its live fragments when a stream asks.
func (w *Web) show(rw http.ResponseWriter, r *site.Request, nav string, v site.View) {
	frame := w.frame(r, nav, v)
	content := templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		if !v.Plain {
			if err := ui.PageHead(v.Head).Render(ctx, out); err != nil {
				return err
			}
		}
		return v.Body.Render(ctx, out)
	})
	if run := liveOf(r.Context()); run != nil {
		run.follow = v.Follow
	} else {
		frame.Flash = w.takeFlash(rw, r)
	}
	w.write(rw, r, v.Status, ui.Layout(frame), content)
}

// write renders all of a page before it sends any of it: an error on the way is
// an error page, not half a page.
func (w *Web) write(rw http.ResponseWriter, r *site.Request, status int, layout, content templ.Component) {
	ctx := ui.WithNow(r.Context(), r.Now)
	if run := liveOf(ctx); run != nil {
		ctx = ui.WithCapture(ctx, &run.Capture)
	}
	var b bytes.Buffer
	if err := layout.Render(templ.WithChildren(ctx, content), &b); err != nil {
		if liveOf(ctx) == nil {
			w.log.Error("a page could not be written", "path", r.URL.Path, "error", err)
		}
		http.Error(rw, ui.Say(ctx, "failure.unwritten"), http.StatusInternalServerError)
		return
	}
	if status == 0 {
		status = http.StatusOK
	}
	h := rw.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	rw.WriteHeader(status)
	_, _ = rw.Write(b.Bytes()) // the client is gone
}

// frame is everything around a page.
func (w *Web) frame(r *site.Request, nav string, v site.View) ui.Frame {
	f := ui.Frame{
		Title: v.Title, Version: w.config.Version, Env: w.config.Env, Now: r.Now, User: r.Subject.Name, Role: string(r.Subject.Role), Search: r.Query("q"),
		Back:   r.URL.RequestURI(),
		Assets: ui.Assets{CSS: w.assets.URL("weir.css"), Module: w.assets.URL("weir.js"), Theme: w.assets.URL("theme.js"), Icon: w.assets.URL("icon.svg"), Build: w.assets.Build()},
	}
	if r.Subject.Nobody() {
		return f
	}
	f.Nav = w.navigation(r, nav)
	if !v.Still && r.Method == http.MethodGet && v.Status == 0 {
		f.Follow = r.URL.RequestURI()
	}
	return f
}

// file serves a file as data that no browser runs.
func (w *Web) file(f site.File) {
	w.mux.HandleFunc("GET "+f.Path, func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		err := r.Allow(f.Verb, f.Kind, false)
		var kind string
		var data []byte
		if err == nil {
			kind, data, err = f.Load(r)
		}
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		h := rw.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		_, _ = rw.Write(data) // the client is gone
	})
}

// fail shows an error as a page. Who is not logged in is sent to do so.
func (w *Web) fail(rw http.ResponseWriter, r *site.Request, err error) {
	if run := liveOf(r.Context()); run != nil {
		run.failed = true
		return
	}
	var to site.Elsewhere
	if errors.As(err, &to) {
		http.Redirect(rw, r.Request, string(to), http.StatusSeeOther)
		return
	}
	if p, _ := problem.Public(err); p.Kind == problem.Unauthenticated && r.Subject.Nobody() {
		http.Redirect(rw, r.Request, loginFor(r), http.StatusSeeOther) // #nosec G710 -- it begins with our own path
		return
	}
	w.showProblem(rw, r, err)
}

// showProblem shows an error as a page, whoever asks.
func (w *Web) showProblem(rw http.ResponseWriter, r *site.Request, err error) {
	p, hidden := problem.Public(err)
	if hidden {
		w.log.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "error", err)
	}
	status := p.Kind.Status()
	title, next := explainStatus(r.Context(), status)
	if p.Kind == problem.TooMany {
		title = ui.Say(r.Context(), "failure.full")
	}
	if seconds, ok := auth.RetryAfter(err); ok {
		rw.Header().Set("Retry-After", fmt.Sprint(seconds))
	} else if seconds := p.Kind.RetryAfter(); seconds > 0 {
		rw.Header().Set("Retry-After", fmt.Sprint(seconds))
	}
	if p = ui.Spoken(r.Context(), p); p.Next == "" {
		advised := *p
		advised.Next = next
		p = &advised
	}
	v := site.View{Head: ui.Head{Title: title}, Body: failure(status, title, p, !r.Subject.Nobody()), Still: true, Status: status}
	if r.Subject.Nobody() {
		w.write(rw, r, status, ui.Bare(w.frame(r, "", v), true), v.Body)
		return
	}
	w.show(rw, r, "", v)
}

// explainStatus is the title of an error page, and what to do about it.
func explainStatus(ctx context.Context, status int) (title, next string) {
	key := "failure.refused"
	switch status {
	case http.StatusForbidden:
		key = "failure.forbidden"
	case http.StatusNotFound:
		key = "failure.notfound"
	case http.StatusTooManyRequests:
		key = "failure.toomany"
	case http.StatusServiceUnavailable:
		key = "failure.unavailable"
	case http.StatusInternalServerError:
		key = "failure.internal"
	case http.StatusConflict:
		key = "failure.conflict"
	case http.StatusMethodNotAllowed:
		key = "failure.method"
	}
	return ui.Say(ctx, key), ui.Say(ctx, key+".next")
}

// loginFor is the login page that leads back.
func loginFor(r *site.Request) string {
	next := r.URL.RequestURI()
	if r.Method != http.MethodGet || next == "/" {
		return "/login"
	}
	return "/login?next=" + url.QueryEscape(next)
}
