package web

import (
	"errors"
	"mime/multipart"
	"net/http"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// action serves an action. The door has refused requests from other sites.
func (w *Web) action(a site.Action) {
	w.mux.HandleFunc("GET "+a.Path, func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		err := r.Allow(a.Verb, a.Kind, a.Own)
		if err == nil && a.Form != nil {
			var v site.View
			if v, err = a.Form(r); err == nil {
				w.show(rw, r, a.Nav, v)
				return
			}
		}
		if err == nil && a.Ask == nil {
			err = &problem.Problem{Kind: problem.NotFound, What: "this address does something and shows nothing", Next: "go back and use the button on the page"}
		}
		var q ui.Question
		if err == nil {
			q, err = a.Ask(r)
		}
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		w.ask(rw, r, a, q, 0)
	})
	w.mux.HandleFunc("POST "+a.Path, func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		err := r.Allow(a.Verb, a.Kind, a.Own)
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		var done site.Done
		if err = r.Parse(maxPlan); err != nil {
			w.showProblem(rw, r, badForm(err))
			return
		}
		done, err = a.Do(r)
		switch {
		case err != nil:
			w.askAgain(rw, r, a, err)
		case done.Show != nil:
			done.Show.Still = true
			w.show(rw, r, a.Nav, *done.Show)
		default:
			w.say(rw, r, ui.Flash{Text: done.Say})
			http.Redirect(rw, hr, site.Local(done.To), http.StatusSeeOther)
		}
	})
}

// badForm is a form that cannot be read: what a browser sends by itself never is.
func badForm(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return problem.New(problem.TooLarge, "send less, or use the API", "the form is over %d bytes", large.Limit)
	}
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return problem.New(problem.TooLarge, "send fewer files, or use the API", "the form has too many parts")
	}
	return problem.New(problem.Invalid, "go back and fill it in again", "the form cannot be read")
}

func (w *Web) ask(rw http.ResponseWriter, r *site.Request, a site.Action, q ui.Question, status int) {
	if q.Back == "" {
		q.Back = a.Nav
	}
	w.show(rw, r, a.Nav, site.View{Head: ui.Head{Title: q.Title}, Body: question(q, r.URL.RequestURI()), Plain: true, Still: true, Status: status})
}

// askAgain shows the question with what was wrong, and with what was filled in.
func (w *Web) askAgain(rw http.ResponseWriter, r *site.Request, a site.Action, err error) {
	p, _ := problem.Public(err)
	if a.Ask == nil || p.Kind == problem.Forbidden || p.Kind == problem.NotFound || p.Kind.Status() >= http.StatusInternalServerError {
		w.fail(rw, r, err)
		return
	}
	q, err := a.Ask(r)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	filled(r, q.Fields)
	q.Problem = ui.Fault(q.Fields, ui.Spoken(r.Context(), p))
	w.ask(rw, r, a, q, p.Kind.Status())
}

// filled puts what was posted back into the fields.
func filled(r *site.Request, fields []ui.Field) {
	for i := range fields {
		f := &fields[i]
		f.Value, f.Values = r.PostForm.Get(f.Name), r.PostForm[f.Name]
	}
}
