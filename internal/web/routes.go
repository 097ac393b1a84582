package web

import (
	"net/http"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/accountpages"
	"github.com/weirhq/weir/internal/web/capacitypages"
	"github.com/weirhq/weir/internal/web/fleetpages"
	"github.com/weirhq/weir/internal/web/flowpages"
	"github.com/weirhq/weir/internal/web/rolloutpages"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/systempages"
	"github.com/weirhq/weir/internal/web/workpages"
	"github.com/weirhq/weir/internal/web/workspacepages"
)

// domains are the pages of each domain. The search finds things of all of them.
func (w *Web) domains() []site.Routes {
	return []site.Routes{
		{Pages: []site.Page{{Path: "/search", Nav: "-", Verb: auth.Read, Kind: "task", Load: w.search}}},
		workpages.Routes(&w.config),
		flowpages.Routes(&w.config),
		fleetpages.Routes(&w.config),
		workspacepages.Routes(&w.config),
		rolloutpages.Routes(&w.config),
		capacitypages.Routes(&w.config),
		accountpages.Routes(&w.config),
		systempages.Routes(&w.config),
	}
}

func (w *Web) routes() {
	for _, domain := range w.served {
		for _, p := range domain.Pages {
			w.page(p)
		}
		for _, a := range domain.Actions {
			w.action(a)
		}
		for _, f := range domain.Files {
			w.file(f)
		}
		for _, d := range domain.Downloads {
			w.download(d)
		}
	}
	w.mux.HandleFunc("GET /login", w.loginPage)
	w.mux.HandleFunc("POST /login", w.login)
	w.mux.HandleFunc("GET /login/oidc", w.loginOIDC)
	w.mux.HandleFunc("GET /login/oidc/return", w.returnOIDC)
	w.mux.HandleFunc("POST /logout", w.logout)
	w.mux.HandleFunc("POST /language", w.setLanguage)
	w.mux.HandleFunc("GET /setup", w.setupPage)
	w.mux.HandleFunc("POST /setup", w.setup)
	w.mux.HandleFunc("GET /live", w.live)
	w.mux.HandleFunc("/", func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		if r.Subject.Nobody() {
			w.fail(rw, r, problem.New(problem.Unauthenticated, "log in", "nobody is logged in"))
			return
		}
		w.fail(rw, r, problem.New(problem.NotFound, "", "no page is called %s", hr.URL.Path))
	})
}

// Route is a way into the dashboard and the right that it takes.
type Route struct {
	Method, Path string
	Verb         auth.Verb
	Kind         string
	// Own says that everybody may who has the thing.
	Own bool
}

// Routes are all that takes a right, for tests and for the reference.
func (w *Web) Routes() []Route {
	var out []Route
	for _, domain := range w.served {
		for _, p := range domain.Pages {
			out = append(out, Route{http.MethodGet, p.Path, p.Verb, p.Kind, p.Own})
		}
		for _, f := range domain.Files {
			out = append(out, Route{http.MethodGet, f.Path, f.Verb, f.Kind, false})
		}
		for _, d := range domain.Downloads {
			out = append(out, Route{http.MethodGet, d.Path, d.Verb, d.Kind, false})
		}
		for _, a := range domain.Actions {
			out = append(out, Route{http.MethodGet, a.Path, a.Verb, a.Kind, a.Own}, Route{http.MethodPost, a.Path, a.Verb, a.Kind, a.Own})
		}
	}
	return out
}
