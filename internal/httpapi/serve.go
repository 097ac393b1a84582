package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/requestinfo"
)

// router is the mux of the API. It accepts no pattern that is not in the table, and puts
// the checks of the table before every handler.
type router struct {
	mux    *http.ServeMux
	api    *API
	routes map[string]*Route
}

// HandleFunc registers the handler of a route.
func (m *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	for i := range table {
		if table[i].pattern() == pattern {
			m.routes[pattern] = &table[i]
			m.mux.HandleFunc(pattern, m.api.checked(&table[i], handler))
			return
		}
	}
	panic("httpapi: " + pattern + " is not in the table of routes")
}

// ServeHTTP implements [http.Handler].
func (m *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

// exchange gives a handler access to the request itself, to set a cookie.
type exchange struct {
	w http.ResponseWriter
	r *http.Request
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) exchange {
	x, _ := ctx.Value(exchangeKey{}).(exchange)
	return x
}

// checked checks the right, limits the time, and reads the body, before the handler sees
// anything of the request.
func (a *API) checked(route *Route, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := route.allow(auth.From(r.Context())); err != nil {
			a.refuse(w, r, err)
			return
		}
		if route.how.stream {
			handler(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.config.Timeout)
		defer cancel()
		body, err := readBody(w, r, route.bodyLimit(), time.Now().Add(a.config.Timeout))
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		ctx = context.WithValue(ctx, exchangeKey{}, exchange{w, r})
		r = r.WithContext(ctx)
		r.Body = readCloser{bytes.NewReader(body)}
		handler(w, r)
	}
}

// route finds the handler. The plain-text errors of the mux become problems.
func (a *API) route(w http.ResponseWriter, r *http.Request) {
	subject := auth.From(r.Context())
	requestinfo.SetSubject(r.Context(), subject.Kind)
	if who, ok := r.Context().Value(callerKey{}).(*caller); ok {
		who.by, who.in = subject.By(), true
	}
	handler, pattern := a.mux.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	said := &headerOnly{header: http.Header{}}
	handler.ServeHTTP(said, r)
	allow := said.header.Get("Allow")
	switch {
	case said.status == http.StatusMethodNotAllowed && r.Method == http.MethodOptions:
		w.Header().Set("Allow", allow+", OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	case said.status == http.StatusMethodNotAllowed:
		w.Header().Set("Allow", allow)
		p := problem.New(problem.Invalid, "use one of: "+allow, "%s does not take %s", r.URL.Path, r.Method)
		a.refuse(w, r, withStatus(http.StatusMethodNotAllowed, p))
	default:
		a.refuse(w, r, problem.New(problem.NotFound, "see what there is: "+prefix+"/docs", "there is nothing at this address"))
	}
}

// headerOnly keeps the status and the headers of an answer.
type headerOnly struct {
	header http.Header
	status int
}

func (h *headerOnly) Header() http.Header { return h.header }

func (h *headerOnly) WriteHeader(status int) { h.status = status }

func (h *headerOnly) Write(b []byte) (int, error) { return len(b), nil }

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }
