package web

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// loginView is what the login page shows.
type loginView struct {
	fields  []ui.Field
	next    string
	problem *problem.Problem
	// said is a friendly line, such as after logging out.
	said string
	// oidc says that there is an identity provider; setup that there is no
	// user yet, and how to make the first.
	oidc, setup bool
}

func (w *Web) loginPage(rw http.ResponseWriter, hr *http.Request) {
	r := w.request(hr)
	if !r.Subject.Nobody() {
		http.Redirect(rw, hr, door.Next(hr), http.StatusSeeOther) // #nosec G710 -- Next gives only paths of ours
		return
	}
	v := loginView{fields: loginFields(r.Context(), ""), next: door.Next(hr)}
	if r.URL.Query().Has("out") {
		v.said = ui.Say(r.Context(), "login.out")
	}
	w.showLogin(rw, r, v, 0)
}

func loginFields(ctx context.Context, name string) []ui.Field {
	return []ui.Field{
		{Name: "name", Label: ui.Say(ctx, "word.name"), Value: name, Auto: "username", Focus: name == ""},
		{Name: "password", Label: ui.Say(ctx, "word.password"), Type: "password", Auto: "current-password", Focus: name != ""},
	}
}

func (w *Web) showLogin(rw http.ResponseWriter, r *site.Request, v loginView, status int) {
	var err error
	if v.setup, err = w.config.Auth.NeedsSetup(r.Context()); err != nil {
		w.fail(rw, r, err)
		return
	}
	v.oidc = w.config.Door.OIDC() != nil
	w.showBare(rw, r, ui.Say(r.Context(), "login.title"), loginForm(v), status)
}

// showBare shows a page of nobody.
func (w *Web) showBare(rw http.ResponseWriter, r *site.Request, title string, body templ.Component, status int) {
	frame := w.frame(r, "", site.View{Head: ui.Head{Title: title}, Still: true})
	w.write(rw, r, status, ui.Bare(frame, false), body)
}

func (w *Web) login(rw http.ResponseWriter, hr *http.Request) {
	r := w.request(hr)
	name := r.Field("name")
	// The password is taken as it was typed: space may be part of it.
	err := w.config.Door.Login(rw, hr, name, hr.PostFormValue("password"))
	if err == nil {
		http.Redirect(rw, hr, door.Next(hr), http.StatusSeeOther) // #nosec G710 -- Next gives only paths of ours
		return
	}
	p, _ := problem.Public(err)
	if p.Kind.Status() >= http.StatusInternalServerError {
		w.fail(rw, r, err)
		return
	}
	v := loginView{fields: loginFields(r.Context(), name), next: door.Next(hr)}
	v.problem = ui.Fault(v.fields, ui.Spoken(r.Context(), p))
	w.showLogin(rw, r, v, p.Kind.Status())
}

func (w *Web) loginOIDC(rw http.ResponseWriter, hr *http.Request) {
	if err := w.config.Door.StartOIDC(rw, hr); err != nil {
		w.fail(rw, w.request(hr), err)
	}
}

func (w *Web) returnOIDC(rw http.ResponseWriter, hr *http.Request) {
	err := w.config.Door.FinishOIDC(rw, hr)
	if err == nil {
		return
	}
	r := w.request(hr)
	p, _ := problem.Public(err)
	if p.Kind.Status() >= http.StatusInternalServerError {
		w.fail(rw, r, err)
		return
	}
	w.showLogin(rw, r, loginView{fields: loginFields(r.Context(), ""), next: "/", problem: ui.Spoken(r.Context(), p)}, p.Kind.Status())
}

func (w *Web) logout(rw http.ResponseWriter, hr *http.Request) {
	if err := w.config.Door.Logout(rw, hr); err != nil {
		w.fail(rw, w.request(hr), err)
		return
	}
	http.Redirect(rw, hr, door.LoginPath+"?out", http.StatusSeeOther)
}

// setupView is what the page of a one-time link shows.
type setupView struct {
	code string
	link auth.LinkInfo
	// next is where to go then.
	next    string
	fields  []ui.Field
	problem *problem.Problem
	// reader is who is logged in already, if somebody is.
	reader string
}

// setupPage looks at a link and does not use it: programs that preview links
// open them too.
func (w *Web) setupPage(rw http.ResponseWriter, hr *http.Request) {
	r := w.request(hr)
	v := setupView{code: r.Query("code"), next: door.Next(hr), reader: r.Subject.Name, fields: setupFields(r.Context(),
		"admin")}
	var err error
	if v.link, err = w.config.Auth.Link(r.Context(), v.code); err != nil {
		w.showProblem(rw, r, err)
		return
	}
	w.showBare(rw, r, setupTitle(r.Context(), v.link), setupForm(v), 0)
}

func setupTitle(ctx context.Context, l auth.LinkInfo) string {
	if l.Setup {
		return ui.Say(ctx, "setup.title")
	}
	return ui.Say(ctx, "login.title")
}

func setupFields(ctx context.Context, name string) []ui.Field {
	return []ui.Field{
		{Name: "name", Label: ui.Say(ctx, "word.name"), Value: name, Auto: "username", Hint: ui.Say(ctx, "setup.name.hint")},
		{Name: "password", Label: ui.Say(ctx, "word.password"), Type: "password", Auto: "new-password", Focus: true, Optional: true, Hint: ui.Say(ctx, "setup.password.hint")},
	}
}

func (w *Web) setup(rw http.ResponseWriter, hr *http.Request) {
	r := w.request(hr)
	code := r.Field("code")
	link, err := w.config.Auth.Link(r.Context(), code)
	if err != nil {
		w.showProblem(rw, r, err)
		return
	}
	var user auth.NewUser
	if link.Setup {
		user = auth.NewUser{Name: r.Field("name"), Password: hr.PostFormValue("password"), Role: auth.Admin}
	}
	err = w.config.Door.LoginLink(rw, hr, code, user)
	if err == nil {
		http.Redirect(rw, hr, door.Next(hr), http.StatusSeeOther) // #nosec G710 -- Next gives only paths of ours
		return
	}
	p, _ := problem.Public(err)
	if p.Kind != problem.Invalid {
		w.showProblem(rw, r, err)
		return
	}
	v := setupView{code: code, link: link, next: door.Next(hr), reader: r.Subject.Name, fields: setupFields(r.Context(),
		user.Name)}
	v.problem = ui.Fault(v.fields, ui.Spoken(r.Context(), p))
	w.showBare(rw, r, setupTitle(r.Context(), link), setupForm(v), p.Kind.Status())
}
