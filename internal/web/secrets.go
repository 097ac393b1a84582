package web

import (
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// secretsView is a list of secrets. A value is never part of a page.
type secretsView struct {
	rows   []vault.Secret
	manage bool
}

func (w *Web) secrets(r *Request) (View, error) {
	if w.config.Secrets == nil {
		return View{
			Head: ui.Head{Title: "Secrets"}, Still: true,
			Body: ui.Empty("lock", "This server keeps no secrets", "It has no key to seal them with. Set secret_key_file to a file that only Weir can read; it is made if it is not there.", "weir up --secret-key-file /etc/weir/secret.key"),
		}, nil
	}
	rows, err := w.config.Secrets.List(r.Context())
	if err != nil {
		return View{}, err
	}
	v := secretsView{rows, r.Can(auth.Manage, "secret")}
	head := ui.Head{Title: "Secrets"}
	if v.manage {
		head.Actions = ui.Ask("New secret", "plus", "/new-secret", false)
	}
	return View{Head: head, Body: secretsPage(v), Follow: &timeline.Filter{Kinds: []string{"secret"}}}, nil
}

// secretNamed is the secret with a name, or the zero value.
func (w *Web) secretNamed(r *Request, name string) (vault.Secret, error) {
	if w.config.Secrets == nil {
		return vault.Secret{}, problem.New(problem.NotFound, "start the server with secret_key_file", "this server keeps no secrets")
	}
	rows, err := w.config.Secrets.List(r.Context())
	for _, s := range rows {
		if s.Name == name {
			return s, err
		}
	}
	return vault.Secret{}, err
}

func (w *Web) askNewSecret(r *Request) (ui.Question, error) {
	was, err := w.secretNamed(r, r.Query("name"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{
		Title: "New secret", Button: "Set the secret", Back: "/secrets",
		Text: "A step names it, and its work is given the value. Nobody can read it here again.",
		Fields: []ui.Field{
			{Name: "name", Label: "Name", Value: r.Query("name"), Example: "deploy_token", Hint: "Letters, digits and _.", Focus: true, Auto: "off"},
			{Name: "value", Label: "Value", Type: "secret", Rows: 3, Hint: "It may have several lines.", Auto: "off"},
			{Name: "note", Label: "Note", Value: was.Note, Optional: true, Hint: "What it is for. Everybody who may see the list sees it.", Auto: "off"},
		},
	}
	if was.Name != "" {
		q.Title = "Set " + ui.Cut(plain(was.Name), 80) + " anew"
		q.Text = "Attempts that begin from now on are given the new value. Nobody can read it here again."
		q.Fields[0].Focus, q.Fields[1].Focus = false, true
	}
	return q, nil
}

func (w *Web) setSecret(r *Request) (Done, error) {
	name, value := r.Field("name"), strings.ReplaceAll(r.PostForm.Get("value"), "\r\n", "\n")
	switch {
	case name == "":
		return Done{}, problem.Refuse("name", "", "give it a name")
	case value == "":
		return Done{}, problem.Refuse("value", "", "give it a value")
	}
	in := &work.PuttingSecret{NamedSecret: work.NamedSecret{Secret: name}, Body: work.SecretBody{Value: value, Note: r.Field("note")}}
	if _, err := work.PutSecret.Call(r.Context(), w.config.Operations, in); err != nil {
		return Done{}, err
	}
	return Done{To: "/secrets", Say: "The secret " + name + " is set."}, nil
}

func (w *Web) askDropSecret(r *Request) (ui.Question, error) {
	name := r.PathValue("secret")
	was, err := w.secretNamed(r, name)
	if err != nil {
		return ui.Question{}, err
	}
	if was.Name == "" {
		return ui.Question{}, problem.New(problem.NotFound, "see those that there are: open the page of secrets", "there is no secret %q", name)
	}
	return ui.Question{
		Title: "Delete the secret " + ui.Cut(plain(name), 80) + "?", Button: "Delete the secret", Danger: true, Back: "/secrets",
		Text: "Steps that name it fail from now on. Work that has been given it keeps it. This cannot be undone.",
	}, nil
}
