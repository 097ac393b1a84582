package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/timeline"
)

// FuzzNext: where a login leads is always a path of ours, as a browser reads it.
func FuzzNext(f *testing.F) {
	for _, next := range append(outside, "/", "/jobs?state=failed", "/a/../b#c", "") {
		f.Add(next)
	}
	f.Fuzz(func(t *testing.T, next string) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/login?next="+url.QueryEscape(next), nil)
		w := httptest.NewRecorder()
		http.Redirect(w, r, door.Next(r), http.StatusSeeOther)
		if to := w.Header().Get("Location"); leadsAway(to, "127.0.0.1:8470") || strings.ContainsAny(to, "\r\n") {
			t.Fatalf("%q leads to %q", next, to)
		}
	})
}

// FuzzCookie: whatever stands in the Cookie header, only the secret of a session
// makes somebody of nobody, and nothing is our fault.
func FuzzCookie(f *testing.F) {
	db := testdb.New(f)
	people := auth.New(db.Pool, auth.Options{})
	if _, err := people.CreateUser(f.Context(), system, auth.NewUser{Name: "ada", Role: auth.Admin, Password: goodPassword}); err != nil {
		f.Fatal(err)
	}
	entrance, err := door.New(people, door.Config{})
	if err != nil {
		f.Fatal(err)
	}
	site := entrance.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !auth.From(r.Context()).Nobody() {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	for _, text := range []string{
		"", "weir_session=", "weir_session=x", "weir_session=d2Vpcl9zZXNfMDAw", "weir_session=a; weir_session=b", "weir_session", "=", ";;;", `weir_session="a"`, "weir_session=%00", "__Host-weir_session=x", "WEIR_SESSION=x",
		"weir_session=" + strings.Repeat("A", 70), "weir_session=d2Vpcl9zZXNf" + strings.Repeat("MDAw", 16), "weir_oidc=x; weir_session=\x80", "weir_flash=a.b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range []string{"/", "/api/v1/me"} {
			r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
			r.Host = "localhost"
			r.Header["Cookie"] = []string{text}
			w := httptest.NewRecorder()
			site.ServeHTTP(w, r)
			if w.Code == http.StatusTeapot || w.Code >= 500 {
				t.Fatalf("%q: status %d", text, w.Code)
			}
		}
	})
}

// firstBytes is a writer that ends its request with the first bytes of a stream.
type firstBytes struct {
	*httptest.ResponseRecorder
	end context.CancelFunc
}

func (o firstBytes) Write(b []byte) (int, error) {
	defer o.end()
	return o.ResponseRecorder.Write(b)
}

// FuzzLastEventID: a place in the timeline is one of ours, or is refused as the
// client's fault.
func FuzzLastEventID(f *testing.F) {
	db := testdb.New(f)
	hub := timeline.NewHub(db.Pool, nil, timeline.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		hub.Run(ctx)
	}()
	streams := stream.New(stream.Config{Hub: hub})
	f.Cleanup(func() {
		streams.Close()
		cancel()
		<-ended
	})
	reader := auth.Subject{Kind: auth.KindUser, ID: "u", UserID: "u", Role: auth.Viewer}
	for _, text := range []string{"", "0.0", "1.1", "1.1+1", "x", "-1.-1", "1.9223372036854775807", "99999999999999999999.1", "1.1+99999999999", "1.1 ", "'", "١.١", "0x1.1", "\x00", strings.Repeat("9", 300)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, end := context.WithCancel(auth.WithSubject(t.Context(), reader))
		defer end()
		r := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/events", nil)
		r.Header["Last-Event-Id"] = []string{text}
		w := firstBytes{httptest.NewRecorder(), end}
		streams.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code == http.StatusOK && !strings.HasPrefix(w.Body.String(), "retry: ") {
			t.Fatalf("%q: status %d: %s", text, w.Code, w.Body)
		}
	})
}
