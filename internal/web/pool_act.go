package web

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// poolFields are the limits of a pool as a form.
func poolFields(p view.Pool) []ui.Field {
	size, rate, per := "", "", ""
	if p.Size != nil {
		size = strconv.Itoa(*p.Size)
	}
	if p.Rate != nil {
		rate, per = strconv.Itoa(*p.Rate), spanText(poolPer(p))
	}
	return []ui.Field{
		{Name: "size", Label: "Size", Type: "number", Value: size, Optional: true, Hint: "How many tasks at once. Empty: any number. 0 stops the pool.", Auto: "off"},
		{Name: "rate", Label: "Rate", Type: "number", Value: rate, Optional: true, Hint: "How many may start within the interval below. Empty: no such limit.", Auto: "off"},
		{Name: "per", Label: "Interval of the rate", Value: per, Optional: true, Example: "1m", Hint: "Such as 10s, 1m or 1h.", Auto: "off"},
		{Name: "note", Label: "Note", Value: p.Note, Optional: true, Hint: "What the limit is for. Left empty, a note stays as it is.", Auto: "off"},
	}
}

// putPool writes what poolFields asked.
func (w *Web) putPool(r *Request, name string, m op.Matched, say string) (Done, error) {
	in := work.PuttingPool{NamedPool: work.NamedPool{Pool: name}, Matched: m}
	if err := read(r, &in); err != nil {
		return Done{}, err
	}
	switch b := &in.Body; {
	case b.Rate == nil && b.Per != 0:
		return Done{}, problem.Refuse("rate", "fill in both, or neither", "a rate is a number of tasks and an interval")
	case b.Rate != nil && b.Per == 0:
		return Done{}, problem.Refuse("per", "fill in both, or neither", "a rate is a number of tasks and an interval")
	case b.Size == nil && b.Rate == nil:
		return Done{}, problem.Refuse("size", "fill in the size, the rate or both", "a pool without a limit does nothing")
	}
	if _, err := work.PutPool.Call(r.Context(), w.config.Operations, &in); err != nil {
		return Done{}, err
	}
	return Done{To: poolPath(name), Say: say}, nil
}

// spanText is a duration as people write it: without the zeros of 1h0m0s.
func spanText(d time.Duration) string { return op.Period(d).String() }

func askNewPool(*Request) (ui.Question, error) {
	name := ui.Field{Name: "name", Label: "Name", Example: "encoders", Hint: "Tasks name it to count against it.", Focus: true, Auto: "off"}
	return ui.Question{
		Title: "New pool", Button: "Create the pool", Text: "Tasks that name the pool wait when it has no room.",
		Fields: append([]ui.Field{name}, poolFields(view.Pool{})...),
	}, nil
}

func (w *Web) createPool(r *Request) (Done, error) {
	name := r.Field("name")
	done, err := w.putPool(r, name, op.Matched{IfNoneMatch: "*"}, "Pool "+name+" is there.")
	if err != nil && problem.Explain(err).Kind == problem.Conflict {
		err = problem.Refuse("name", "choose another name, or change that one", "there is a pool %q already", name)
	}
	return done, err
}

func (w *Web) askLimits(r *Request) (ui.Question, error) {
	p, err := w.config.Store.Pool(r.Context(), r.PathValue("pool"))
	if err != nil {
		return ui.Question{}, err
	}
	fields := poolFields(p)
	fields[0].Focus = true
	return ui.Question{
		Title: "Limits of " + ui.Cut(p.Name, 80), Button: "Set the limits", Back: poolPath(p.Name), Fields: fields,
		Text: "A larger pool lets waiting tasks in at once. A smaller one lets what runs run, and lets nothing in until there is room.",
	}, nil
}

func (w *Web) setLimits(r *Request) (Done, error) {
	// A pool that somebody deleted meanwhile must not come back by this.
	name := r.PathValue("pool")
	return w.putPool(r, name, op.Matched{IfMatch: "*"}, "The limits of "+name+" are set.")
}

func (w *Web) askDropPool(r *Request) (ui.Question, error) {
	p, err := w.config.Store.Pool(r.Context(), r.PathValue("pool"))
	if err != nil {
		return ui.Question{}, err
	}
	q := ui.Question{
		Title: "Delete the pool " + ui.Cut(p.Name, 80) + "?", Button: "Delete the pool", Danger: true, Back: poolPath(p.Name),
		Text: "Nothing uses it now. Tasks that name it from now on are refused.",
	}
	if p.Waiting+used(p) > 0 {
		q.Text = fmt.Sprintf("%s for it and %s it. Without the pool nothing bounds them: those that wait may all start at once.",
			ui.Plural(p.Waiting, "task waits", "tasks wait"), ui.Plural(used(p), "holds", "hold"))
		q.Fields = []ui.Field{{Name: "force", Label: "It is in use", Type: "checks", Optional: true, Options: []ui.Option{{Value: "true", Label: "Delete it all the same"}}}}
	}
	return q, nil
}

func poolGone(r *Request, _ op.Nothing) Done {
	return Done{To: "/pools", Say: "Pool " + r.PathValue("pool") + " is deleted."}
}
