package door

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/requestinfo"
)

// errMisdirected is the cause of the refusal of an unknown host.
var errMisdirected = errors.New("unknown host")

// Status returns the HTTP status of a problem; a wrong host has one of its own.
func Status(p *problem.Problem) int {
	if errors.Is(p, errMisdirected) {
		return http.StatusMisdirectedRequest
	}
	return p.Kind.Status()
}

// LoginPath is the page that people who must log in are sent to.
const LoginPath = "/login"

// refuse answers programs with problem+json and people with the login page.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	status := Status(p)
	if status >= http.StatusInternalServerError {
		d.config.Log.Error("request refused", "path", r.URL.Path, "error", p, "cause", p.Err)
		// The client is not known, so the answer must not name hosts and tables.
		p = problem.New(p.Kind, "try again in a moment; the server's log says more", "the request was not served")
	}
	if seconds, ok := auth.RetryAfter(p); ok {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
	} else if seconds := p.Kind.RetryAfter(); seconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
	}
	person := !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html")
	switch {
	case person && status == http.StatusUnauthorized && r.Method == http.MethodGet && !errors.Is(p, errTwo):
		to := LoginPath + "?next=" + url.QueryEscape(r.URL.RequestURI())
		if r.URL.Path == LoginPath {
			to = r.URL.RequestURI() // again, without the cookie
		}
		http.Redirect(w, r, to, http.StatusSeeOther) // #nosec G710 -- both begin with our own path
	case person:
		http.Error(w, p.What+"\n"+p.Advice(), status)
	default:
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="weir"`)
		}
		WriteProblem(w, r, p, status)
	}
}

// WriteProblem answers as the API does, for handlers that are not part of it.
func WriteProblem(w http.ResponseWriter, r *http.Request, p *problem.Problem, status int) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	document := map[string]any{
		"type": "/api/v1/docs#code-" + p.Kind.Code(), "title": http.StatusText(status), "status": status, "code": p.Kind.Code(), "detail": p.What,
	}
	for name, value := range map[string]string{"next": p.Advice(), "field": p.Field, "instance": requestinfo.ID(r.Context())} {
		if value != "" {
			document[name] = value
		}
	}
	_ = json.NewEncoder(w).Encode(document) // the client has gone if this fails
}
