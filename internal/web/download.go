package web

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
)

// carriesMost and carriesEach bound the downloads of a server and of one person.
const carriesMost, carriesEach = 200, 20

// download serves data that no browser runs.
func (w *Web) download(d site.Download) {
	w.mux.HandleFunc("GET "+d.Path, func(rw http.ResponseWriter, hr *http.Request) {
		r := w.request(hr)
		err := r.Allow(d.Verb, d.Kind, false)
		if err == nil && r.Live {
			err = problem.New(problem.NotFound, "", "this is no page")
		}
		if err == nil {
			var leave func()
			if leave, err = w.carries.Take(r.Subject); err == nil {
				defer leave()
			}
		}
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(w.closed, cancel)()
		r.Request = r.WithContext(ctx)
		h := rw.Header()
		policy := h.Get("Content-Security-Policy")
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if err := d.Serve(rw, r); err != nil {
			h.Set("Content-Security-Policy", policy) // the error is a page of ours
			w.fail(rw, r, err)
		}
	})
}
