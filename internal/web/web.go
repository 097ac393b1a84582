package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/requestinfo"
	"github.com/weirhq/weir/internal/web/asset"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/site"
)

// Web is the dashboard.
type Web struct {
	config site.Config
	log    *slog.Logger
	assets *asset.Set
	// served are the routes of all domains.
	served []site.Routes
	// mux holds the pages; Handler wraps it.
	mux *http.ServeMux
	// known are the paths of the pages, for the navigation.
	known  map[string]site.Page
	counts counts
	seats  *door.Seats
	// carries bounds the downloads.
	carries *door.Seats
	// closed ends the live streams.
	closed context.Context
	close  context.CancelFunc
	once   sync.Once
}

// New makes the dashboard.
func New(config site.Config) (*Web, error) {
	assets, err := asset.Load(picture.CSS)
	if err != nil {
		return nil, fmt.Errorf("load the assets: %w", err)
	}
	w := &Web{config: config, log: config.Log, assets: assets, mux: http.NewServeMux(), known: map[string]site.Page{}, seats: door.NewSeats(liveMost, liveEach), carries: door.NewSeats(carriesMost, carriesEach)}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.closed, w.close = context.WithCancel(context.Background()) // #nosec G118 -- Close calls it
	w.config.Log, w.served = w.log, w.domains()
	w.routes()
	return w, nil
}

// request is a request of somebody.
func (w *Web) request(hr *http.Request) *site.Request {
	return &site.Request{Request: hr, Subject: auth.From(hr.Context()), Now: time.Now(), Live: liveOf(hr.Context()) != nil}
}

// Handler serves the dashboard. It wraps itself in the door.
func (w *Web) Handler() http.Handler {
	inner := http.NewServeMux()
	inner.Handle("GET "+asset.Prefix, w.config.Door.Guard(w.assets))
	inner.Handle("/", w.config.Door.Wrap(w.guard(requestinfo.Routed(w.mux))))
	return inner
}

// Close ends the live streams, so that a server that stops need not wait for
// them. Browsers come back by themselves.
func (w *Web) Close() { w.once.Do(w.close) }

// guard chooses the language, turns a panic into a page and bounds what a request may send.
func (w *Web) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, hr *http.Request) {
		hr = hr.WithContext(locale.With(hr.Context(), language(hr)))
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				w.fail(rw, w.request(hr), fmt.Errorf("panic: %v", p))
			}
		}()
		requestinfo.SetSubject(hr.Context(), auth.From(hr.Context()).Kind)
		most := int64(maxForm)
		switch {
		case strings.HasPrefix(hr.URL.Path, "/workflows"):
			most = maxDefinition
		case hr.URL.Path == "/new-rollout", strings.HasPrefix(hr.URL.Path, "/rollouts/"):
			most = maxPlan
		}
		if hr.ContentLength > most {
			w.fail(rw, w.request(hr), badForm(&http.MaxBytesError{Limit: most}))
			return
		}
		hr.Body = http.MaxBytesReader(rw, hr.Body, most)
		next.ServeHTTP(rw, hr)
	})
}

// maxForm bounds a form: the largest holds the parameters of a task. The
// definition of a workflow may be one MiB and grows when it is encoded. A plan has
// its files with it, as many bytes as the API takes.
const maxForm, maxDefinition, maxPlan = 1 << 20, 4 << 20, 16 << 20
