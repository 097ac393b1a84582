package accountpages

import (
	"context"
	"strings"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *pages) account(r *site.Request) (site.View, error) {
	ctx := r.Context()
	u, err := w.Auth.User(r.Context(), r.Subject.Name)
	if err != nil {
		return site.View{}, err
	}
	sessions, err := w.Auth.Sessions(r.Context(), u.ID)
	if err != nil {
		return site.View{}, err
	}
	tokens, err := w.Auth.Tokens(r.Context(), r.Subject, false)
	if err != nil {
		return site.View{}, err
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.account"), Mark: ui.Label(ui.Code(ctx, "role.", string(u.Role))), Actions: ui.Ask(ui.Say(ctx, "password."+passwordVerb(u)), "lock", "/account/password", false)},
		Body: accountPage(u, sessions, r.Subject.Session, tokens), Follow: people(),
	}, nil
}

func passwordVerb(u auth.User) string {
	if u.Password {
		return "change"
	}
	return "set"
}

func (w *pages) askPassword(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	u, err := w.Auth.User(r.Context(), r.Subject.Name)
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{Title: ui.Say(ctx, "password.title."+passwordVerb(u)), Text: ui.Say(ctx, "password.text"), Button: ui.Say(ctx, "password.button."+passwordVerb(u)), Back: "/account"}
	if u.Password {
		q.Fields = append(q.Fields, ui.Field{Name: "old", Label: ui.Say(ctx, "word.oldpassword"), Type: "password", Auto: "current-password", Focus: true})
	}
	q.Fields = append(q.Fields,
		ui.Field{
			Name: "new", Label: ui.Say(ctx, "word.newpassword"), Type: "password", Auto: "new-password",
			Focus: !u.Password,
		},
		ui.Field{Name: "again", Label: ui.Say(ctx, "word.newpasswordagain"), Type: "password", Auto: "new-password"})
	return q, nil
}

func (w *pages) setPassword(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	password := r.PostFormValue("new")
	if r.PostFormValue("again") != password {
		return site.Done{}, problem.Refuse("again", "type the same twice", "the two passwords differ")
	}
	in := &account.SettingOwn{Body: account.PasswordBody{Old: r.PostFormValue("old"), New: password}}
	if _, err := account.SetOwnPassword.Call(r.Context(), w.Operations, in); err != nil {
		return site.Done{}, err
	}
	return site.Done{To: "/account", Say: ui.Say(ctx, "said.password")}, nil
}

func askRevokeSession(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	q := ui.Question{Title: ui.Say(ctx, "word.endthissession"), Text: ui.Say(ctx, "session.end.text"), Button: ui.Say(ctx, "session.end"), Danger: true, Back: "/account"}
	if r.PathValue("session") == r.Subject.Session {
		q.Text = ui.Say(ctx, "session.own")
	}
	return q, nil
}

func sessionRevoked(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/account", Say: ui.Say(r.Context(), "said.session")}
}

// browser is the name in what a browser calls itself; all of it is on hover.
func browser(ctx context.Context, agent string) string {
	for _, b := range []struct{ sign, name string }{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(agent, b.sign) {
			return b.name + system(ctx, agent)
		}
	}
	if agent == "" {
		return ui.Say(ctx, "browser.unknown")
	}
	return ui.Cut(agent, 40)
}

func system(ctx context.Context, agent string) string {
	for _, s := range []struct{ sign, name string }{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, s.sign) {
			return ui.Say(ctx, "browser.on", s.name)
		}
	}
	return ""
}
