package pages

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
)

// Site is the dashboard and the API on a loopback address, with a user who is logged in.
type Site struct {
	server *httptest.Server
	client *weir.Client
	web    *web.Web
	cookie *http.Cookie
	// took receives the time of each request. A client may have the whole answer before
	// the handler has returned, so it waits for this too.
	took chan time.Duration
}

// admin is the user who requests the pages.
const admin, password = "bench", "correct horse battery staple"

// Open starts the site. Nothing follows the timeline, because pages are requested, not
// watched.
func Open(ctx context.Context, pool *pgxpool.Pool) (*Site, error) {
	people := auth.New(pool, auth.Options{})
	if _, err := people.CreateUser(ctx, auth.System("bench"), auth.NewUser{Name: admin, Role: auth.Admin, Password: password}); err != nil {
		return nil, err
	}
	entrance, err := door.New(people, door.Config{})
	if err != nil {
		return nil, err
	}
	log, store := slog.New(slog.DiscardHandler), view.New(pool)
	s := &Site{took: make(chan time.Duration, 1)}
	if s.client, err = weir.New(pool, &weir.Config{Logger: log}); err != nil {
		return nil, err
	}
	operations := op.Local{Stores: []any{work.New(pool, s.client), people}}
	s.web, err = web.New(site.Config{
		Operations: operations,
		Store:      store, Auth: people, Door: entrance, Hub: timeline.NewHub(pool, nil, timeline.Options{}), Version: "bench", Log: log,
		Health: func(context.Context) site.Health { return site.Health{} }, Settings: func() []site.Setting { return nil },
	})
	if err != nil {
		s.client.Close()
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", httpapi.New(httpapi.Config{Store: store, Operations: operations, Auth: people, Door: entrance, Version: "bench", Log: log}).Handler())
	mux.Handle("/", s.web.Handler())
	s.server = httptest.NewServer(s.timed(entrance.Guard(mux)))
	if err := s.logIn(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("log in: %w", err)
	}
	return s, nil
}

// Close ends it.
func (s *Site) Close() {
	s.web.Close()
	s.server.Close()
	s.client.Close()
}

// timed measures the time of the handler, from the request to the last byte that it
// writes.
func (s *Site) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		s.took <- time.Since(start)
	})
}

// Get requests a page and returns how long the server took and how many bytes it sent. A
// page that is refused or broken is an error.
func (s *Site) Get(ctx context.Context, path string) (took time.Duration, size int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+path, nil)
	if err != nil {
		return 0, 0, err
	}
	r.AddCookie(s.cookie)
	r.Header.Set("Accept", "text/html")
	answer, err := s.once(r)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	took = <-s.took
	if err != nil {
		return 0, 0, err
	}
	// A search with a single result redirects to it.
	led := answer.StatusCode == http.StatusSeeOther && !strings.HasPrefix(answer.Header.Get("Location"), "/login")
	if answer.StatusCode != http.StatusOK && !led {
		return 0, 0, fmt.Errorf("%s: %s: %.300s", path, answer.Status, body)
	}
	return took, len(body), nil
}

// once sends a request without following redirects.
func (s *Site) once(r *http.Request) (*http.Response, error) {
	c := *s.server.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c.Do(r)
}

func (s *Site) logIn(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.URL+"/login", strings.NewReader("name="+admin+"&password="+strings.ReplaceAll(password, " ", "+")))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := s.once(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	<-s.took
	for _, c := range answer.Cookies() {
		if strings.Contains(c.Name, "session") {
			s.cookie = c
			return nil
		}
	}
	return fmt.Errorf("no cookie came: %s", answer.Status)
}
