package web

import (
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// modeFields ask why, and for how long.
func modeFields() []ui.Field {
	return append(reasonField("Whoever looks at the node sees it. It goes to the timeline.", true),
		ui.Field{Name: "for", Label: "For", Optional: true, Example: "2h", Hint: "Such as 30m, 2h or 1d; then it ends by itself. Empty: until somebody resumes the node.", Auto: "off"})
}

// askNode is a question about the node of the path.
func (w *Web) askNode(r *Request, ask func(view.Node) ui.Question) (ui.Question, error) {
	n, err := w.config.Store.Node(r.Context(), r.PathValue("name"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ask(n)
	q.Back = nodePath(n.Name)
	return q, nil
}

// setMode changes what the workers of the node may do.
func (w *Web) setMode(r *Request, mode weir.Mode, say string) (Done, error) {
	name := r.PathValue("name")
	var until time.Time
	if text := r.Field("for"); text != "" {
		d, err := parseSpan(text)
		if err != nil || d <= 0 {
			return Done{}, problem.Refuse("for", "write it so: 30m, 2h, 1d", "%q is no time", text)
		}
		until = r.Now.Add(d)
	}
	if err := w.config.Commands.SetNodeMode(r.Context(), name, mode, until, r.decision()); err != nil {
		return Done{}, err
	}
	return Done{To: nodePath(name), Say: name + " " + say}, nil
}

func (w *Web) askDrain(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Drain " + ui.Cut(n.Name, 80) + "?", Button: "Drain the node", Fields: modeFields(),
			Text: "It takes nothing new. " + ui.Plural(n.Running, "task runs", "tasks run") + " there now and may finish.",
		}
	})
}

func (w *Web) drainNode(r *Request) (Done, error) {
	return w.setMode(r, weir.Draining, "drains: it takes nothing new.")
}

func (w *Web) askPauseNode(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Pause " + ui.Cut(n.Name, 80) + "?", Button: "Pause the node", Fields: modeFields(),
			Text: "It takes nothing new until it is resumed. What runs there goes on.",
		}
	})
}

func (w *Web) pauseNode(r *Request) (Done, error) {
	return w.setMode(r, weir.Paused, "is paused: it takes nothing new.")
}

func (w *Web) askResume(r *Request) (ui.Question, error) {
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: "Resume " + ui.Cut(n.Name, 80) + "?", Button: "Resume the node", Text: "Its workers take tasks again, at once.",
			Fields: reasonField("It stays as the note of the node. Empty: no note.", true),
		}
	})
}

func (w *Web) resumeNode(r *Request) (Done, error) {
	return w.setMode(r, weir.Active, "is back at work.")
}

func (w *Web) askRevokeNode(r *Request) (ui.Question, error) {
	name := r.PathValue("name")
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
	name := r.PathValue("name")
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

func (w *Web) dropNode(r *Request) (Done, error) {
	name := r.PathValue("name")
	if err := w.config.Commands.DropNode(r.Context(), name, r.By()); err != nil {
		return Done{}, err
	}
	return Done{To: "/nodes", Say: name + " is removed."}, nil
}
