package web

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// modeFields ask why, and for how long.
func modeFields() []ui.Field {
	return append(reasonField("Whoever looks at the node sees it. It goes to the timeline.", true),
		ui.Field{Name: "for", Label: "For", Optional: true, Example: "2h", Hint: "Such as 30m, 2h or 1d; then it ends by itself. Empty: until somebody resumes the node.", Auto: "off"})
}

// askNode is a question about the node of the path.
func (w *Web) askNode(r *Request, ask func(view.Node) ui.Question) (ui.Question, error) {
	n, err := w.config.Store.Node(r.Context(), r.PathValue("node"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ask(n)
	q.Back = nodePath(n.Name)
	return q, nil
}

// setMode changes what the workers of the node may do.
func (w *Web) setMode(mode weir.Mode, say string) func(*Request) (Done, error) {
	return func(r *Request) (Done, error) {
		in := work.SettingMode{Body: work.ModeBody{Mode: string(mode), Reason: r.Field("reason")}}
		in.Node = r.PathValue("node")
		if text := r.Field("for"); text != "" {
			d, err := op.ParseWait(text)
			if err != nil || d <= 0 {
				return Done{}, problem.Refuse("for", "write it so: 30m, 2h, 1d", "%q is no time", text)
			}
			in.Body.Until = r.Now.Add(d)
		}
		if _, err := work.SetMode.Call(r.Context(), w.config.Operations, &in); err != nil {
			return Done{}, err
		}
		return Done{To: nodePath(in.Node), Say: in.Node + " " + say}, nil
	}
}

func (w *Web) askDrain(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Drain " + ui.Cut(n.Name, 80) + "?", Button: "Drain the node", Fields: modeFields(),
			Text: "It takes nothing new. " + ui.Plural(n.Running, "task runs", "tasks run") + " there now and may finish.",
		}
	})
}

func (w *Web) askPauseNode(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Pause " + ui.Cut(n.Name, 80) + "?", Button: "Pause the node", Fields: modeFields(),
			Text: "It takes nothing new until it is resumed. What runs there goes on.",
		}
	})
}

func (w *Web) askResume(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Resume " + ui.Cut(n.Name, 80) + "?", Button: "Resume the node", Text: "Its workers take tasks again, at once.",
			Fields: reasonField("It stays as the note of the node. Empty: no note.", true),
		}
	})
}

func (w *Web) askRevokeNode(r *Request) (ui.Question, error) {
	name := r.PathValue("node")
	joined, err := w.joinedAt(r.Context(), name)
	if err != nil {
		return ui.Question{}, err
	}
	if joined.IsZero() {
		return ui.Question{}, problem.New(problem.NotFound, "see those that have: open the credentials of nodes", "the node %q has no credential", name)
	}
	return ui.Question{
		Title: "Revoke the credential of " + ui.Cut(name, 80) + "?", Button: "Revoke the credential", Danger: true, Back: "/joins",
		Text: "The node is refused from now on, until it joins again with a new join token. This cannot be undone.",
	}, nil
}

func (w *Web) revokeNode(r *Request) (Done, error) {
	name := r.PathValue("node")
	if err := w.config.Auth.RevokeNode(r.Context(), r.Subject, name); err != nil {
		return Done{}, err
	}
	return Done{To: "/joins", Say: "The credential of " + name + " is revoked."}, nil
}

func (w *Web) askDropNode(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Remove " + ui.Cut(plain(n.Name), 80) + "?", Button: "Remove the node", Danger: true,
			Text: "For a machine that is gone for good: its credential goes, too, and how it is woken. What it ran stays in the timeline.",
		}
	})
}

func nodeGone(r *Request, _ op.Nothing) Done {
	return Done{To: "/nodes", Say: r.PathValue("node") + " is removed."}
}
