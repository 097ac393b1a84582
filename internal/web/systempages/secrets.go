package systempages

import (
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// secretsView is a list of secrets. A value is never part of a page.
type secretsView struct {
	rows   []vault.Secret
	manage bool
}

func (w *pages) secrets(r *site.Request) (site.View, error) {
	ctx := r.Context()
	if w.Secrets == nil {
		return site.View{
			Head: ui.Head{Title: ui.Say(ctx, "word.secrets")}, Still: true,
			Body: ui.Empty("lock", ui.Say(ctx, "secrets.off"), ui.Say(ctx, "secrets.off.text"), "weir up --secret-key-file /etc/weir/secret.key"),
		}, nil
	}
	rows, err := w.Secrets.List(r.Context())
	if err != nil {
		return site.View{}, err
	}
	v := secretsView{rows, r.Can(auth.Manage, "secret")}
	head := ui.Head{Title: ui.Say(ctx, "word.secrets")}
	if v.manage {
		head.Actions = ui.Ask(ui.Say(ctx, "word.newsecret"), "plus", "/new-secret", false)
	}
	return site.View{Head: head, Body: secretsPage(v), Follow: &timeline.Filter{Kinds: []string{"secret"}}}, nil
}

// secretNamed is the secret with a name, or the zero value.
func (w *pages) secretNamed(r *site.Request, name string) (vault.Secret, error) {
	if w.Secrets == nil {
		return vault.Secret{}, problem.New(problem.NotFound, "start the server with secret_key_file", "this server keeps no secrets")
	}
	rows, err := w.Secrets.List(r.Context())
	for _, s := range rows {
		if s.Name == name {
			return s, err
		}
	}
	return vault.Secret{}, err
}

func (w *pages) askNewSecret(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	was, err := w.secretNamed(r, r.Query("name"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{
		Title: ui.Say(ctx, "word.newsecret"), Button: ui.Say(ctx, "secret.set"), Back: "/secrets",
		Text: ui.Say(ctx, "secret.text"),
		Fields: []ui.Field{
			{Name: "name", Label: ui.Say(ctx, "word.name"), Value: r.Query("name"), Example: "deploy_token", Hint: ui.Say(ctx,
				"secret.name.hint"), Focus: true, Auto: "off"},
			{
				Name: "value", Label: ui.Say(ctx, "word.value"), Type: "secret", Rows: 3, Hint: ui.Say(ctx, "secret.value.hint"),
				Auto: "off",
			},
			{
				Name: "note", Label: ui.Say(ctx, "word.note"), Value: was.Note, Optional: true, Hint: ui.Say(ctx, "secret.note.hint"),
				Auto: "off",
			},
		},
	}
	if was.Name != "" {
		q.Title = ui.Say(ctx, "ask.secret.anew", ui.Cut(ui.Line(was.Name), 80))
		q.Text = ui.Say(ctx, "secret.anew.text")
		q.Fields[0].Focus, q.Fields[1].Focus = false, true
	}
	return q, nil
}

func (w *pages) setSecret(r *site.Request) (site.Done, error) {
	name, value := r.Field("name"), strings.ReplaceAll(r.PostForm.Get("value"), "\r\n", "\n")
	switch {
	case name == "":
		return site.Done{}, problem.Refuse("name", "", "give it a name")
	case value == "":
		return site.Done{}, problem.Refuse("value", "", "give it a value")
	}
	in := &work.PuttingSecret{NamedSecret: work.NamedSecret{Secret: name}, Body: work.SecretBody{Value: value, Note: r.Field("note")}}
	if _, err := work.PutSecret.Call(r.Context(), w.Operations, in); err != nil {
		return site.Done{}, err
	}
	return site.Done{To: "/secrets", Say: ui.Say(r.Context(), "said.secret.set", name)}, nil
}

func (w *pages) askDropSecret(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	name := r.PathValue("secret")
	was, err := w.secretNamed(r, name)
	if err != nil {
		return ui.Question{}, err
	}
	if was.Name == "" {
		return ui.Question{}, problem.New(problem.NotFound, "see those that there are: open the page of secrets", "there is no secret %q", name)
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.secret.drop", ui.Cut(ui.Line(name), 80)), Button: ui.Say(ctx, "secret.drop"), Danger: true, Back: "/secrets",
		Text: ui.Say(ctx, "secret.drop.text"),
	}, nil
}
