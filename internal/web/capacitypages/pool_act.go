package capacitypages

import (
	"context"
	"strconv"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// poolFields are the limits of a pool as a form.
func poolFields(ctx context.Context, p view.Pool) []ui.Field {
	size, rate, per := "", "", ""
	if p.Size != nil {
		size = strconv.Itoa(*p.Size)
	}
	if p.Rate != nil {
		rate, per = strconv.Itoa(*p.Rate), site.SpanText(poolPer(p))
	}
	return []ui.Field{
		{Name: "size", Label: ui.Say(ctx, "word.size"), Type: "number", Value: size, Optional: true, Hint: ui.Say(ctx, "pool.size.hint"), Auto: "off"},
		{Name: "rate", Label: ui.Say(ctx, "word.rate"), Type: "number", Value: rate, Optional: true, Hint: ui.Say(ctx, "pool.rate.hint"), Auto: "off"},
		{Name: "per", Label: ui.Say(ctx, "word.intervaloftherate"), Value: per, Optional: true, Example: "1m", Hint: ui.Say(ctx, "pool.per.hint"), Auto: "off"},
		{Name: "note", Label: ui.Say(ctx, "word.note"), Value: p.Note, Optional: true, Hint: ui.Say(ctx, "pool.note.hint"), Auto: "off"},
	}
}

// putPool writes what poolFields asked.
func (w *pages) putPool(r *site.Request, name string, m op.Matched, said string) (site.Done, error) {
	in := work.PuttingPool{NamedPool: work.NamedPool{Pool: name}, Matched: m}
	if err := site.Read(r, &in); err != nil {
		return site.Done{}, err
	}
	switch b := &in.Body; {
	case b.Rate == nil && b.Per != 0:
		return site.Done{}, problem.Refuse("rate", "fill in both, or neither", "a rate is a number of tasks and an interval")
	case b.Rate != nil && b.Per == 0:
		return site.Done{}, problem.Refuse("per", "fill in both, or neither", "a rate is a number of tasks and an interval")
	case b.Size == nil && b.Rate == nil:
		return site.Done{}, problem.Refuse("size", "fill in the size, the rate or both", "a pool without a limit does nothing")
	}
	if _, err := work.PutPool.Call(r.Context(), w.Operations, &in); err != nil {
		return site.Done{}, err
	}
	return site.Done{To: poolPath(name), Say: said}, nil
}

func askNewPool(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	name := ui.Field{Name: "name", Label: ui.Say(ctx, "word.name"), Example: "encoders", Hint: ui.Say(ctx, "pool.name.hint"), Focus: true, Auto: "off"}
	return ui.Question{
		Title: ui.Say(ctx, "word.newpool"), Button: ui.Say(ctx, "pool.create"), Text: ui.Say(ctx, "pool.create.text"),
		Fields: append([]ui.Field{name}, poolFields(ctx, view.Pool{})...),
	}, nil
}

func (w *pages) createPool(r *site.Request) (site.Done, error) {
	name := r.Field("name")
	done, err := w.putPool(r, name, op.Matched{IfNoneMatch: "*"}, ui.Say(r.Context(), "said.pool.created", name))
	if err != nil && problem.Explain(err).Kind == problem.Conflict {
		err = problem.Refuse("name", "choose another name, or change that one", "there is a pool %q already", name)
	}
	return done, err
}

func (w *pages) askLimits(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	p, err := w.Store.Pool(r.Context(), r.PathValue("pool"))
	if err != nil {
		return ui.Question{}, err
	}
	fields := poolFields(ctx, p)
	fields[0].Focus = true
	return ui.Question{
		Title: ui.Say(ctx, "ask.pool.limits", ui.Cut(p.Name, 80)), Button: ui.Say(ctx, "pool.set"), Back: poolPath(p.Name), Fields: fields,
		Text: ui.Say(ctx, "pool.set.text"),
	}, nil
}

func (w *pages) setLimits(r *site.Request) (site.Done, error) {
	// A pool that somebody deleted meanwhile must not come back by this.
	name := r.PathValue("pool")
	return w.putPool(r, name, op.Matched{IfMatch: "*"}, ui.Say(r.Context(), "said.pool.limits", name))
}

func (w *pages) askNotePool(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	p, err := w.Store.Pool(ctx, r.PathValue("pool"))
	return ui.Question{
		Title: ui.Say(ctx, "ask.pool.note", ui.Cut(p.Name, 80)), Button: ui.Say(ctx, "pool.note.set"), Back: poolPath(p.Name),
		Fields: []ui.Field{{Name: "note", Label: ui.Say(ctx, "word.note"), Value: p.Note, Optional: true, Auto: "off", Focus: true}},
	}, err
}

func poolNoted(r *site.Request, _ op.Nothing) site.Done {
	name := r.PathValue("pool")
	return site.Done{To: poolPath(name), Say: ui.Say(r.Context(), "said.pool.noted", name)}
}

func (w *pages) askDropPool(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	p, err := w.Store.Pool(r.Context(), r.PathValue("pool"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{
		Title: ui.Say(ctx, "ask.pool.drop", ui.Cut(p.Name, 80)), Button: ui.Say(ctx, "pool.drop"), Danger: true,
		Back: poolPath(p.Name),
		Text: ui.Say(ctx, "pool.drop.text"),
	}
	if p.Waiting+used(p) > 0 {
		q.Text = ui.Say(ctx, "pool.drop.used", ui.Count(ctx, "pool.drop.waiting", p.Waiting), ui.Count(ctx, "pool.drop.holding", used(p)))
		q.Fields = []ui.Field{{Name: "force", Label: ui.Say(ctx, "word.itisinuse"), Type: "checks", Optional: true, Options: []ui.Option{{Value: "true", Label: ui.Say(ctx, "word.deleteitallthesame")}}}}
	}
	return q, nil
}

func poolGone(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/pools", Say: ui.Say(r.Context(), "said.pool.gone", r.PathValue("pool"))}
}
