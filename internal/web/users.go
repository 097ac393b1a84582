package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/ui"
)

// linkFor is how long a link that an admin hands over works.
const linkFor = 24 * time.Hour

// people are the events about users, sessions and tokens.
func people() *timeline.Filter { return &timeline.Filter{Kinds: []string{"auth"}} }

func (w *Web) users(r *Request) (View, error) {
	page := auth.Page{Limit: perPage + 1, After: r.Query("after")}
	users, err := w.config.Auth.Users(r.Context(), page)
	if err != nil {
		return View{}, err
	}
	older := ""
	if len(users) > perPage {
		users = users[:perPage]
		older = ui.With(r.URL, "after", users[perPage-1].Name)
	}
	newest := ""
	if page.After != "" {
		newest = "/users"
	}
	return View{
		Head: ui.Head{Title: "Users", Actions: ui.ButtonLink("New user", "plus", "/new-user", true)},
		Body: usersPage(users, newest, older), Follow: people(),
	}, nil
}

func (w *Web) user(r *Request) (View, error) {
	u, err := w.config.Auth.User(r.Context(), r.PathValue("name"))
	if err != nil {
		return View{}, err
	}
	sessions, err := w.config.Auth.Sessions(r.Context(), u.ID)
	if err != nil {
		return View{}, err
	}
	return View{
		Head: ui.Head{
			Title: u.Name, Crumbs: []ui.Crumb{{Label: "Users", Href: "/users"}},
			Mark: userMark(u), Actions: userActions(u, u.Name == r.Subject.Name),
		},
		Body: userPage(u, sessions, r.Subject.Session), Follow: people(),
	}, nil
}

func roleOptions() []ui.Option {
	about := map[auth.Role]string{
		auth.Viewer: "sees everything but the audit", auth.Operator: "also submits, cancels, retries and holds",
		auth.Maintainer: "also skips tasks and manages pools, schedules and nodes", auth.Admin: "also manages users and sees the audit",
	}
	var out []ui.Option
	for _, role := range auth.Roles() {
		out = append(out, ui.Option{Value: string(role), Label: string(role) + ": " + about[role]})
	}
	return out
}

func askNewUser(*Request) (ui.Question, error) {
	return ui.Question{
		Title: "New user", Button: "Create the user",
		Fields: []ui.Field{
			{Name: "name", Label: "Name", Focus: true, Auto: "off"},
			{Name: "email", Label: "E-mail", Type: "email", Optional: true, Auto: "off"},
			{Name: "role", Label: "Role", Type: "select", Options: roleOptions(), Value: string(auth.Viewer)},
			{Name: "password", Label: "Password", Type: "password", Optional: true, Auto: "new-password", Hint: "Without one you get a link for them to log in with."},
		},
	}, nil
}

func (w *Web) createUser(r *Request) (Done, error) {
	u, err := w.config.Auth.CreateUser(r.Context(), r.Subject, auth.NewUser{
		Name: r.Field("name"), Email: r.Field("email"), Role: auth.Role(r.Field("role")), Password: r.PostFormValue("password"),
	})
	if err != nil {
		return Done{}, err
	}
	if !u.Password {
		return w.showLink(r, u.Name)
	}
	return Done{To: userPath(u.Name), Say: fmt.Sprintf("%s can log in now, as %s.", u.Name, u.Role)}, nil
}

func userPath(name string) string { return ui.Path("users", name) }

// named is a question about the user of the path.
func (w *Web) named(r *Request, q func(auth.User) ui.Question) (ui.Question, error) {
	u, err := w.config.Auth.User(r.Context(), r.PathValue("name"))
	if err != nil {
		return ui.Question{}, err
	}
	asked := q(u)
	asked.Back = userPath(u.Name)
	return asked, nil
}

func (w *Web) askRole(r *Request) (ui.Question, error) {
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: "Change the role of " + u.Name, Text: "It holds from their next request on, for their tokens too.", Button: "Change the role",
			Fields: []ui.Field{{Name: "role", Label: "Role", Type: "select", Options: roleOptions(), Value: string(u.Role)}},
		}
	})
}

func (w *Web) setRole(r *Request) (Done, error) {
	name, role := r.PathValue("name"), auth.Role(r.Field("role"))
	if err := w.config.Auth.SetRole(r.Context(), r.Subject, name, role); err != nil {
		return Done{}, err
	}
	return Done{To: userPath(name), Say: fmt.Sprintf("%s is %s now.", name, role)}, nil
}

func (w *Web) askLink(r *Request) (ui.Question, error) {
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: "Make a login link for " + u.Name, Button: "Make the link",
			Text: "Whoever opens the link logs in as " + u.Name + ", once, within a day. You see it only now: hand it over yourself.",
		}
	})
}

func (w *Web) createLink(r *Request) (Done, error) { return w.showLink(r, r.PathValue("name")) }

func (w *Web) showLink(r *Request, name string) (Done, error) {
	secret, err := w.config.Auth.NewLink(r.Context(), r.Subject, name, linkFor)
	if err != nil {
		return Done{}, err
	}
	link := origin(r.Request) + "/setup?code=" + secret
	return Done{Show: &View{
		Head: ui.Head{Title: "A login link for " + name, Crumbs: []ui.Crumb{{Label: "Users", Href: "/users"}, {Label: name, Href: userPath(name)}}},
		Body: secretPage("Hand this to "+name+". It works once, within a day, and is not shown again.", link, userPath(name)),
	}}, nil
}

// origin is how the browser reached us; the door has checked the host.
func origin(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (w *Web) askDisable(r *Request) (ui.Question, error) {
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: "Disable " + u.Name + "?", Button: "Disable " + u.Name, Danger: true,
			Text: "Their sessions end now, and their tokens do not work until you enable them again.",
		}
	})
}

func (w *Web) disableUser(r *Request) (Done, error) {
	name := r.PathValue("name")
	if err := w.config.Auth.Disable(r.Context(), r.Subject, name); err != nil {
		return Done{}, err
	}
	return Done{To: userPath(name), Say: name + " is disabled."}, nil
}

func (w *Web) enableUser(r *Request) (Done, error) {
	name := r.PathValue("name")
	if err := w.config.Auth.Enable(r.Context(), r.Subject, name); err != nil {
		return Done{}, err
	}
	return Done{To: userPath(name), Say: name + " can log in again."}, nil
}

func (w *Web) askDelete(r *Request) (ui.Question, error) {
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: "Delete " + u.Name + "?", Button: "Delete " + u.Name, Danger: true,
			Text: "Their sessions, tokens and links go with them. What they did stays in the timeline. This cannot be undone.",
		}
	})
}

func (w *Web) deleteUser(r *Request) (Done, error) {
	name := r.PathValue("name")
	if err := w.config.Auth.DeleteUser(r.Context(), r.Subject, name); err != nil {
		return Done{}, err
	}
	return Done{To: "/users", Say: name + " is deleted."}, nil
}

// at is a time that may be missing.
func at(t *time.Time) templ.Component {
	if t == nil {
		return ui.Time(time.Time{})
	}
	return ui.Time(*t)
}
