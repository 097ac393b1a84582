package capacitypages

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// modeFields ask why, and for how long.
func modeFields(ctx context.Context) []ui.Field {
	return append(site.ReasonField(ctx, ui.Say(ctx, "node.reason"), true),
		ui.Field{Name: "for", Label: ui.Say(ctx, "word.howlong"), Optional: true, Example: "2h", Hint: ui.Say(ctx, "node.for.hint"), Auto: "off"})
}

// askNode is a question about the node of the path.
func (w *pages) askNode(r *site.Request, ask func(view.Node) ui.Question) (ui.Question, error) {
	n, err := w.Store.Node(r.Context(), r.PathValue("node"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ask(n)
	q.Back = site.NodePath(n.Name)
	return q, nil
}

// setMode changes what the workers of the node may do.
func (w *pages) setMode(mode weir.Mode, key string) func(*site.Request) (site.Done, error) {
	return func(r *site.Request) (site.Done, error) {
		in := work.SettingMode{Body: work.ModeBody{Mode: string(mode), Reason: r.Field("reason")}}
		in.Node = r.PathValue("node")
		if text := r.Field("for"); text != "" {
			d, err := period.Parse(text)
			if err != nil || d <= 0 {
				return site.Done{}, problem.Refuse("for", "write it so: 30m, 2h, 1d", "%q is no time", text)
			}
			in.Body.Until = r.Now.Add(d)
		}
		if _, err := work.SetMode.Call(r.Context(), w.Operations, &in); err != nil {
			return site.Done{}, err
		}
		return site.Done{To: site.NodePath(in.Node), Say: ui.Say(r.Context(), key, in.Node)}, nil
	}
}

func (w *pages) askDrain(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.node.drain", ui.Cut(n.Name, 80)), Button: ui.Say(ctx, "node.drain"), Fields: modeFields(ctx),
			Text: ui.Count(ctx, "node.drain.text", n.Running),
		}
	})
}

func (w *pages) askPauseNode(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.node.pause", ui.Cut(n.Name, 80)), Button: ui.Say(ctx, "node.pause"), Fields: modeFields(ctx),
			Text: ui.Say(ctx, "node.pause.text"),
		}
	})
}

func (w *pages) askResume(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.node.resume", ui.Cut(n.Name, 80)), Button: ui.Say(ctx, "node.resume"), Text: ui.Say(ctx, "node.resume.text"),
			Fields: site.ReasonField(ctx, ui.Say(ctx, "node.resume.why"), true),
		}
	})
}

func (w *pages) askRevokeNode(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	name := r.PathValue("node")
	joined, err := w.joinedAt(r.Context(), name)
	if err != nil {
		return ui.Question{}, err
	}
	if joined.IsZero() {
		return ui.Question{}, problem.New(problem.NotFound, "see those that have: open the credentials of nodes", "the node %q has no credential", name)
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.node.revoke", ui.Cut(name, 80)), Button: ui.Say(ctx, "node.revoke"), Danger: true, Back: "/joins",
		Text: ui.Say(ctx, "node.revoke.text"),
	}, nil
}

func nodeRevoked(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/joins", Say: ui.Say(r.Context(), "said.node.revoked", r.PathValue("node"))}
}

func (w *pages) askDropNode(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.node.drop", ui.Cut(ui.Line(n.Name), 80)), Button: ui.Say(ctx, "node.drop"), Danger: true,
			Text: ui.Say(ctx, "node.drop.text"),
		}
	})
}

func nodeGone(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/nodes", Say: ui.Say(r.Context(), "said.node.gone", r.PathValue("node"))}
}
