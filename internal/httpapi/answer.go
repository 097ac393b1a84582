package httpapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/requestinfo"
)

// zipFrom is the size in bytes from which on an answer is compressed.
const zipFrom = 1 << 10

// caller is the subject of a request; the log gets it from here after the door has
// identified it.
type caller struct {
	by string
	in bool
}

type callerKey struct{}

// answer buffers an answer until it is complete, so that a handler that fails halfway
// sends a problem and not a truncated body.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (w *answer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write keeps the bytes.
func (w *answer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Unwrap passes deadlines on to the connection.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// outer hides the details of a panic, writes the answer and logs the request.
func (a *API) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		who := &caller{}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		_, pattern := a.mux.mux.Handler(r)
		requestinfo.SetRoute(r.Context(), pattern)
		if route := a.mux.routes[pattern]; route != nil && route.how.stream {
			next.ServeHTTP(w, r)
			a.logged(r, who, pattern, began, 0)
			return
		}
		kept := &answer{ResponseWriter: w}
		failed := a.survive(kept, r, next)
		switch {
		case failed:
			kept.instead(a, r, problem.Failed)
		case !who.in && kept.status == http.StatusServiceUnavailable:
			kept.instead(a, r, problem.Unreachable) // the door's problem has too much detail
		case !who.in && kept.status >= http.StatusInternalServerError:
			kept.instead(a, r, problem.Failed)
		}
		kept.send(r)
		a.logged(r, who, pattern, began, kept.status)
	})
}

// instead replaces the answer with a problem that names only the kind.
func (w *answer) instead(a *API, r *http.Request, kind problem.Kind) {
	w.body.Reset()
	w.status = 0
	a.refuse(w, r, problem.New(kind, "", "the request was not served"))
}

// survive runs the handler and reports whether it panicked.
func (a *API) survive(w http.ResponseWriter, r *http.Request, next http.Handler) (failed bool) {
	defer func() {
		if cause := recover(); cause != nil {
			a.log.ErrorContext(r.Context(), "a handler panicked", "request", requestinfo.ID(r.Context()), "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			failed = true
		}
	}()
	next.ServeHTTP(w, r)
	return false
}

// send writes the buffered answer.
func (w *answer) send(r *http.Request) {
	header, body := w.Header(), w.body.Bytes()
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.status == http.StatusTooManyRequests || w.status == http.StatusServiceUnavailable {
		wait := cmp.Or(header.Get("Retry-After"), strconv.Itoa(retryAfter))
		header.Set("Retry-After", wait) // once, even if the handler has set it
	}
	if w.status == http.StatusUnauthorized && header.Get("WWW-Authenticate") == "" {
		header.Set("WWW-Authenticate", `Bearer realm="weir"`)
	}
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	header.Set("X-Content-Type-Options", "nosniff")
	if len(body) >= zipFrom {
		header.Add("Vary", "Accept-Encoding")
		if takesGzip(r) && header.Get("Content-Encoding") == "" {
			body = zipped(body)
			header.Set("Content-Encoding", "gzip")
		}
	}
	if w.status != http.StatusNoContent && w.status != http.StatusNotModified {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.ResponseWriter.WriteHeader(w.status)
	if len(body) > 0 && r.Method != http.MethodHead {
		_, _ = w.ResponseWriter.Write(body) // the client has gone; the log has the status
	}
}

// takesGzip reads the header in the forms that clients use: a name, maybe q=0.
func takesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.ReplaceAll(q, " ", "") != "q=0"
		}
	}
	return false
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level exists
	_, _ = z.Write(body)                            // a write to a buffer never fails
	_ = z.Close()
	return b.Bytes()
}

// logged writes the log line of a request: the route, never the values in the address,
// which may be names, filters or secrets.
func (a *API) logged(r *http.Request, who *caller, pattern string, began time.Time, status int) {
	level := slog.LevelDebug
	if status >= http.StatusInternalServerError {
		level = slog.LevelInfo
	}
	if pattern == "" {
		pattern = r.Method + " (no route)"
	}
	a.log.Log(r.Context(), level, "request", "route", pattern, "status", status, "took", time.Since(began).Round(time.Microsecond), "request", requestinfo.ID(r.Context()), "by", who.by)
}
