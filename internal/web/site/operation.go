package site

import (
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// Operated is the action of an operation: a button, and a question before it if there is
// one. Its route is that of the API, and a form has the fields of its body.
func Operated[S, In, Out any](local op.Local, o *op.Op[S, In, Out], nav string, ask func(*Request) (ui.Question, error), done func(*Request, Out) Done) Action {
	return Action{Path: o.Path, Nav: nav, Verb: o.Right, Kind: o.Noun, Own: o.Own, Ask: ask, Do: func(r *Request) (Done, error) {
		if err := answered(r, ask); err != nil {
			return Done{}, err
		}
		in := new(In)
		if err := Read(r, in); err != nil {
			return Done{}, err
		}
		out, err := o.Call(r.Context(), local, in)
		if err != nil {
			return Done{}, err
		}
		return done(r, out), nil
	}}
}

// Addressed gives an action another address, where that of the API is a page.
func Addressed(path string, a Action) Action {
	a.Path = path
	return a
}

// answered refuses a form that leaves something out that the question asks for. A page may
// ask for more than the operation does: others will want to know why.
func answered(r *Request, ask func(*Request) (ui.Question, error)) error {
	if ask == nil {
		return nil
	}
	q, err := ask(r)
	if err != nil {
		return err
	}
	for _, f := range q.Fields {
		if !f.Optional && r.Field(f.Name) == "" {
			return problem.Refuse(f.Name, f.Hint, "it is missing")
		}
	}
	return nil
}

// Read fills an input from the path and the form of a request.
func Read(r *Request, in any) error {
	for _, f := range op.Fields(in) {
		text := r.PathValue(f.Name)
		if f.Place != op.Path {
			text = r.Field(f.Name)
		}
		switch {
		case text == "" && f.Required && f.Place != op.Path:
			return problem.Refuse(f.Name, f.Doc, "it is missing")
		case text == "" && !(f.Optional() && f.Emptied() && r.PostForm.Has(f.Name)):
			continue
		}
		if err := f.Parse(in, text); err != nil {
			return problem.Refuse(f.Name, f.Doc, "%s", err)
		}
	}
	return nil
}
