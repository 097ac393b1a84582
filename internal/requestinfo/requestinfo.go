package requestinfo

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Header carries the id, in both directions.
const Header = "X-Request-Id"

// plain is an id of a client that is fit for a log line.
var plain = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// facts are what is known of one request. Handlers may run beside the part that
// reads them, so they have a lock.
type facts struct {
	id string

	mu             sync.Mutex
	route, subject string
}

type key struct{}

func of(ctx context.Context) *facts {
	f, _ := ctx.Value(key{}).(*facts)
	return f
}

// Wrap gives every request an id, which the answer repeats, and a place for what
// becomes known of it. A client may choose the id.
func Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := &facts{id: r.Header.Get(Header)}
		if !plain.MatchString(f.id) {
			f.id = strings.ToLower(rand.Text())
		}
		w.Header().Set(Header, f.id)
		next.ServeHTTP(Record(w), r.WithContext(context.WithValue(r.Context(), key{}, f)))
	})
}

// ID is the request's id; empty outside of one.
func ID(ctx context.Context) string {
	if f := of(ctx); f != nil {
		return f.id
	}
	return ""
}

// SetRoute notes the pattern by which the request was routed, with or without
// its method. The first one counts: the innermost router knows best, and is the
// first to be done.
func SetRoute(ctx context.Context, pattern string) {
	if _, path, found := strings.Cut(pattern, " "); found {
		pattern = path
	}
	if f := of(ctx); f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.route == "" {
			f.route = pattern
		}
	}
}

// Route is the pattern; empty if nothing was found at the path. There are as
// many as there are routes, so it is fit for a label where a path is not.
func Route(ctx context.Context) string {
	f := of(ctx)
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.route
}

// Routed notes the pattern that a ServeMux chose. Wrap the mux itself with it:
// outside of a middleware that copies the request the pattern cannot be seen.
func Routed(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { SetRoute(r.Context(), r.Pattern) }()
		mux.ServeHTTP(w, r)
	})
}

// SetSubject notes what kind of subject asks: user, token, node.
func SetSubject(ctx context.Context, kind string) {
	if f := of(ctx); f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subject = kind
	}
}

// Subject is the kind of who asks; empty: nobody.
func Subject(ctx context.Context) string {
	f := of(ctx)
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subject
}

// Method is the request's, or "other": clients may send any word, and a label
// may not take any.
func Method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}
