package web

import (
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *Web) account(r *Request) (View, error) {
	u, err := w.config.Auth.User(r.Context(), r.Subject.Name)
	if err != nil {
		return View{}, err
	}
	sessions, err := w.config.Auth.Sessions(r.Context(), u.ID)
	if err != nil {
		return View{}, err
	}
	tokens, err := w.config.Auth.Tokens(r.Context(), r.Subject, false)
	if err != nil {
		return View{}, err
	}
	return View{
		Head: ui.Head{Title: "Account", Mark: ui.Label(string(u.Role)), Actions: ui.Ask(passwordVerb(u)+" password", "lock", "/account/password", false)},
		Body: accountPage(u, sessions, r.Subject.Session, tokens), Follow: people(),
	}, nil
}

func passwordVerb(u auth.User) string {
	if u.Password {
		return "Change"
	}
	return "Set"
}

func (w *Web) askPassword(r *Request) (ui.Question, error) {
	u, err := w.config.Auth.User(r.Context(), r.Subject.Name)
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{Title: passwordVerb(u) + " your password", Text: "Your other sessions end.", Button: passwordVerb(u) + " the password", Back: "/account"}
	if u.Password {
		q.Fields = append(q.Fields, ui.Field{Name: "old", Label: "Old password", Type: "password", Auto: "current-password", Focus: true})
	}
	q.Fields = append(q.Fields,
		ui.Field{Name: "password", Label: "New password", Type: "password", Auto: "new-password", Focus: !u.Password},
		ui.Field{Name: "again", Label: "New password again", Type: "password", Auto: "new-password"})
	return q, nil
}

func (w *Web) setPassword(r *Request) (Done, error) {
	password := r.PostFormValue("password")
	if r.PostFormValue("again") != password {
		return Done{}, problem.Refuse("again", "type the same twice", "the two passwords differ")
	}
	if err := w.config.Auth.SetPassword(r.Context(), r.Subject, r.Subject.Name, r.PostFormValue("old"), password); err != nil {
		return Done{}, err
	}
	return Done{To: "/account", Say: "Your password is set."}, nil
}

func askRevokeSession(r *Request) (ui.Question, error) {
	q := ui.Question{Title: "End this session?", Text: "That browser has to log in again.", Button: "End the session", Danger: true, Back: "/account"}
	if r.PathValue("id") == r.Subject.Session {
		q.Text = "This is the session you are using: you have to log in again."
	}
	return q, nil
}

func (w *Web) revokeSession(r *Request) (Done, error) {
	if err := w.config.Auth.RevokeSession(r.Context(), r.Subject, r.PathValue("id")); err != nil {
		return Done{}, err
	}
	return Done{To: "/account", Say: "The session has ended."}, nil
}

// browser is the name in what a browser calls itself; all of it is on hover.
func browser(agent string) string {
	for _, b := range []struct{ sign, name string }{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(agent, b.sign) {
			return b.name + system(agent)
		}
	}
	if agent == "" {
		return "unknown"
	}
	return ui.Cut(agent, 40)
}

func system(agent string) string {
	for _, s := range []struct{ sign, name string }{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, s.sign) {
			return " on " + s.name
		}
	}
	return ""
}
