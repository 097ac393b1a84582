package site

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/problem"
)

// Request is a request with who asks.
type Request struct {
	*http.Request
	Subject auth.Subject
	// Now is the time that ages on the page count from.
	Now time.Time
	// Live says that a stream asks for what has changed on the page.
	Live bool
}

// Origin is how the browser reached us; the door has checked the host.
func (r *Request) Origin() string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Can says whether the reader may do it: it decides which buttons are there. The
// action itself asks again.
func (r *Request) Can(verb auth.Verb, kind string) bool {
	return auth.Can(r.Subject, verb, auth.Object{Kind: kind})
}

// Allow is an error if the reader may not do it.
func (r *Request) Allow(verb auth.Verb, kind string, own bool) error {
	o := auth.Object{Kind: kind}
	if own {
		o = r.Subject.Own(kind)
	}
	return auth.Allow(r.Subject, verb, o)
}

// By is who commands, as the timeline will say.
func (r *Request) By() string { return r.Subject.By() }

// Query is a parameter of the address, without space around it.
func (r *Request) Query(name string) string {
	return strings.TrimSpace(r.URL.Query().Get(name))
}

// OneOf is a parameter of the address that is empty or one of the words.
func (r *Request) OneOf(name string, words []string) (string, error) {
	value := r.Query(name)
	if value == "" || slices.Contains(words, value) {
		return value, nil
	}
	return "", problem.Refuse(name, "choose one of "+strings.Join(words, ", "), "%q is no %s", value, name)
}

// OneOf is [Request.OneOf] for words of a type.
func OneOf[T ~string](r *Request, name string, list []T) (T, error) {
	word, err := r.OneOf(name, view.Words(list))
	return T(word), err
}

// Since is a parameter of the address that is a time, or how long ago it was.
func (r *Request) Since(name string) (time.Time, error) {
	text := r.Query(name)
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	d, err := period.Parse(text)
	if err != nil {
		return time.Time{}, problem.Refuse(name, "write it so: 90m, 2h, 1d, or 2026-01-31T08:00:00Z", "%q is no time", text)
	}
	return r.Now.Add(-d), nil
}

// Page is which part of a list is asked for.
func (r *Request) Page() view.Page {
	return view.Page{Limit: PerPage, After: r.Query("after")}
}

// ID is a part of the path that is an id.
func (r *Request) ID(name string) (weir.ID, error) {
	id, err := weir.ParseID(r.PathValue(name))
	if err != nil {
		return weir.ID{}, problem.New(problem.NotFound, "check the address", "%q is no id", r.PathValue(name))
	}
	return id, nil
}

// Parse reads a form that was posted. One with files is read into memory as a whole:
// the guard has bounded it by most.
func (r *Request) Parse(most int64) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "multipart/form-data" {
		return nil
	}
	return r.ParseMultipartForm(most) // #nosec G120 -- the guard has bounded the body
}

// Field is a field of the form that was posted, without space around it.
func (r *Request) Field(name string) string {
	return strings.TrimSpace(r.PostFormValue(name))
}
