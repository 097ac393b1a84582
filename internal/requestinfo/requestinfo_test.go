package requestinfo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/requestinfo"
)

// ask sends one request through Wrap and a spy to the handler.
func ask(t *testing.T, method, path, id string, handler http.Handler) (route, subject, seenID string, response *requestinfo.Response, header http.Header) {
	t.Helper()
	spy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		route, subject, seenID, response = requestinfo.Route(r.Context()), requestinfo.Subject(r.Context()), requestinfo.ID(r.Context()), requestinfo.Record(w)
	})
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, nil)
	if id != "" {
		r.Header.Set(requestinfo.Header, id)
	}
	requestinfo.Wrap(spy).ServeHTTP(w, r)
	return route, subject, seenID, response, w.Header()
}

func TestTheInnermostRouteIsNoted(t *testing.T) {
	api := http.NewServeMux()
	api.HandleFunc("GET /api/v1/tasks/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	outer := http.NewServeMux()
	// A middleware between the two routers copies the request, as doors do.
	outer.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), http.ServerContextKey, "door")
		requestinfo.SetSubject(ctx, "token")
		requestinfo.Routed(api).ServeHTTP(w, r.WithContext(ctx))
	})
	for path, want := range map[string]string{"/api/v1/tasks/17": "/api/v1/tasks/{id}", "/api/v1/nothing": "/api/", "/else": ""} {
		route, _, _, response, _ := ask(t, "GET", path, "", requestinfo.Routed(outer))
		if route != want {
			t.Errorf("%s: route %q, want %q", path, route, want)
		}
		if path == "/api/v1/tasks/17" && (response.Status() != 200 || response.Bytes() != 5) || path == "/else" && response.Status() != 404 {
			t.Errorf("%s: %d, %d bytes", path, response.Status(), response.Bytes())
		}
	}
	if _, subject, _, _, _ := ask(t, "GET", "/api/v1/tasks/17", "", requestinfo.Routed(outer)); subject != "token" {
		t.Errorf("subject %q", subject)
	}
}

func TestAnIDIsTakenIfItIsPlainAndMadeIfNot(t *testing.T) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for given, taken := range map[string]bool{"abc-1.2:3_": true, "": false, "a b": false, "a\"b": false, strings.Repeat("a", 65): false, "é": false} {
		_, _, id, response, header := ask(t, "GET", "/", given, nothing)
		if id == "" || (id == given) != taken || header.Get(requestinfo.Header) != id {
			t.Errorf("%q became %q, answered %q", given, id, header.Get(requestinfo.Header))
		}
		if response.Status() != 200 {
			t.Errorf("a handler that says nothing answered %d", response.Status())
		}
	}
}

func TestOutsideOfARequestNothingIsKnown(t *testing.T) {
	requestinfo.SetRoute(t.Context(), "GET /x")
	requestinfo.SetSubject(t.Context(), "user")
	if requestinfo.ID(t.Context()) != "" || requestinfo.Route(t.Context()) != "" || requestinfo.Subject(t.Context()) != "" {
		t.Error("facts without a request")
	}
}

// A stream behind Wrap still flushes and sets its deadlines.
func TestAStreamReachesTheWriterBehind(t *testing.T) {
	flushed := make(chan error, 2)
	server := httptest.NewServer(requestinfo.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		flushed <- control.SetWriteDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		flushed <- control.Flush()
	})))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for range 2 {
		if err := <-flushed; err != nil {
			t.Error(err)
		}
	}
}
