package accountpages

import (
	"context"
	"time"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// linkFor is how long a link that an admin hands over works.
const linkFor = 24 * time.Hour

// people are the events about users, sessions and tokens.
func people() *timeline.Filter { return &timeline.Filter{Kinds: []string{"auth"}} }

func (w *pages) users(r *site.Request) (site.View, error) {
	ctx := r.Context()
	page := auth.Page{Limit: site.PerPage + 1, After: r.Query("after")}
	users, err := w.Auth.Users(r.Context(), page)
	if err != nil {
		return site.View{}, err
	}
	older := ""
	if len(users) > site.PerPage {
		users = users[:site.PerPage]
		older = ui.With(r.URL, "after", users[site.PerPage-1].Name)
	}
	newest := ""
	if page.After != "" {
		newest = "/users"
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.users"), Actions: ui.ButtonLink(ui.Say(ctx, "word.newuser"), "plus", "/new-user",
			true)},
		Body: usersPage(users, newest, older), Follow: people(),
	}, nil
}

func (w *pages) user(r *site.Request) (site.View, error) {
	ctx := r.Context()
	u, err := w.Auth.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return site.View{}, err
	}
	sessions, err := w.Auth.Sessions(r.Context(), u.ID)
	if err != nil {
		return site.View{}, err
	}
	return site.View{
		Head: ui.Head{
			Title: u.Name, Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.users"), Href: "/users"}},
			Mark: userMark(u), Actions: userActions(u, u.Name == r.Subject.Name),
		},
		Body: userPage(u, sessions, r.Subject.Session), Follow: people(),
	}, nil
}

func roleOptions(ctx context.Context) []ui.Option {
	return ui.Codes(ctx, "role.about.", auth.Roles()...)
}

func askNewUser(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "word.newuser"), Button: ui.Say(ctx, "user.create"),
		Fields: []ui.Field{
			{Name: "name", Label: ui.Say(ctx, "word.name"), Focus: true, Auto: "off"},
			{Name: "email", Label: ui.Say(ctx, "word.email"), Type: "email", Optional: true, Auto: "off"},
			{Name: "role", Label: ui.Say(ctx, "word.role"), Type: "select", Options: roleOptions(ctx), Value: string(auth.Viewer)},
			{Name: "password", Label: ui.Say(ctx, "word.password"), Type: "password", Optional: true, Auto: "new-password", Hint: ui.Say(ctx, "user.password.hint")},
		},
	}, nil
}

func (w *pages) createUser(r *site.Request) (site.Done, error) {
	u, err := account.CreateUser.Call(r.Context(), w.Operations, &account.CreatingUser{Body: auth.NewUser{
		Name: r.Field("name"), Email: r.Field("email"), Role: auth.Role(r.Field("role")), Password: r.PostFormValue("password"),
	}})
	if err != nil {
		return site.Done{}, err
	}
	if !u.Password {
		return w.showLink(r, u.Name)
	}
	return site.Done{To: userPath(u.Name), Say: ui.Say(r.Context(), "said.user.created", u.Name, ui.Code(r.Context(), "role.",
		string(u.Role)))}, nil
}

func userPath(name string) string { return ui.Path("users", name) }

// named is a question about the user of the path.
func (w *pages) named(r *site.Request, q func(auth.User) ui.Question) (ui.Question, error) {
	u, err := w.Auth.User(r.Context(), r.PathValue("user"))
	if err != nil {
		return ui.Question{}, err
	}
	asked := q(u)
	asked.Back = userPath(u.Name)
	return asked, nil
}

func (w *pages) askRole(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.user.role", u.Name), Text: ui.Say(ctx, "user.role.text"), Button: ui.Say(ctx, "user.role"),
			Fields: []ui.Field{{Name: "role", Label: ui.Say(ctx, "word.role"), Type: "select", Options: roleOptions(ctx), Value: string(u.Role)}},
		}
	})
}

func roleSet(r *site.Request, _ op.Nothing) site.Done {
	name, ctx := r.PathValue("user"), r.Context()
	return site.Done{To: userPath(name), Say: ui.Say(ctx, "said.user.role", name, ui.Code(ctx, "role.", r.Field("role")))}
}

func (w *pages) askLink(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.user.link", u.Name), Button: ui.Say(ctx, "user.link"),
			Text: ui.Say(ctx, "user.link.text", u.Name),
		}
	})
}

func (w *pages) createLink(r *site.Request) (site.Done, error) {
	return w.showLink(r, r.PathValue("user"))
}

func (w *pages) showLink(r *site.Request, name string) (site.Done, error) {
	ctx := r.Context()
	in := &account.Linking{NamedUser: account.NamedUser{User: name}, Body: &account.LinkBody{TTL: op.Period(linkFor)}}
	made, err := account.NewLink.Call(r.Context(), w.Operations, in)
	if err != nil {
		return site.Done{}, err
	}
	link := r.Origin() + "/setup?code=" + made.Secret
	return site.Done{Show: &site.View{
		Head: ui.Head{Title: ui.Say(ctx, "user.link.title", name), Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.users"), Href: "/users"}, {Label: name, Href: userPath(name)}}},
		Body: secretPage(ui.Say(ctx, "user.link.shown", name), link, userPath(name)),
	}}, nil
}

func (w *pages) askDisable(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.user.disable", u.Name), Button: ui.Say(ctx, "user.disable", u.Name), Danger: true,
			Text: ui.Say(ctx, "user.disable.text"),
		}
	})
}

func disabledUser(r *site.Request, _ op.Nothing) site.Done {
	name := r.PathValue("user")
	return site.Done{To: userPath(name), Say: ui.Say(r.Context(), "said.user.disabled", name)}
}

func enabledUser(r *site.Request, _ op.Nothing) site.Done {
	name := r.PathValue("user")
	return site.Done{To: userPath(name), Say: ui.Say(r.Context(), "said.user.enabled", name)}
}

func (w *pages) askDelete(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.named(r, func(u auth.User) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.user.drop", u.Name), Button: ui.Say(ctx, "user.drop", u.Name), Danger: true,
			Text: ui.Say(ctx, "user.drop.text"),
		}
	})
}

func deletedUser(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/users", Say: ui.Say(r.Context(), "said.user.gone", r.PathValue("user"))}
}

// at is a time that may be missing.
func at(t *time.Time) templ.Component {
	if t == nil {
		return ui.Time(time.Time{})
	}
	return ui.Time(*t)
}
