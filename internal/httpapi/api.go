package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/requestinfo"
	"github.com/weirhq/weir/internal/timeline"
)

// timeout is how long a request may take.
const timeout = 30 * time.Second

// Door is the HTTP side of auth: package door.
type Door interface {
	// Wrap finds out who asks and says so in the context.
	Wrap(next http.Handler) http.Handler
	Login(w http.ResponseWriter, r *http.Request, name, password string) error
	Logout(w http.ResponseWriter, r *http.Request) error
}

// Config says what the API asks.
type Config struct {
	// Store reads what streams, Auth knows people. Both are needed.
	Store *view.Store
	Auth  *auth.Store
	// Door finds out who asks, and logs people in and out. Needed.
	Door Door
	// Stream serves the live events. Nil: they are not there (404).
	Stream http.Handler
	// Desks gives the desk of a node, for its agent. Nil: no agents (404).
	Desks func(node string) Desk
	// Operations carries out what is described by its domain.
	Operations op.Caller
	// Bucket has artifacts and logs. Nil: there are none to read (404).
	Bucket blob.Bucket
	// Hub says that a log may have grown. Nil: those who follow one look now and
	// then.
	Hub *timeline.Hub
	// Version is that of the program.
	Version string
	// Log gets one line per request at debug, and every 500. Nil: slog.Default.
	Log *slog.Logger
	// Timeout bounds a request. Zero: 30 s.
	Timeout time.Duration
}

// API serves the table of routes.
type API struct {
	config Config
	log    *slog.Logger
	mux    *router
	huma   huma.API
	pages  func() pages
	// life ends what waits, when the server stops.
	life context.Context
	end  context.CancelFunc
	// polls bounds the claims that wait, carries the objects on their way.
	polls, carries *door.Seats
}

// New makes the API.
func New(config Config) *API {
	a := &API{
		config: config, log: config.Log,
		polls: door.NewSeats(pollsMost, pollsEach), carries: door.NewSeats(carriesMost, carriesEach),
	}
	a.life, a.end = context.WithCancel(context.Background())
	if a.log == nil {
		a.log = slog.Default()
	}
	if a.config.Timeout == 0 {
		a.config.Timeout = timeout
	}
	a.mux = &router{mux: http.NewServeMux(), api: a, routes: map[string]*Route{}}
	a.huma = humago.New(a.mux, openAPIConfig(config.Version))
	for i := range table {
		table[i].how.mount(a, &table[i])
	}
	for i := range table {
		if a.mux.routes[table[i].pattern()] == nil {
			panic(fmt.Sprintf("httpapi: %s is in the table, but its mount registered something else", table[i].pattern()))
		}
	}
	a.pages = sync.OnceValue(a.render)
	return a
}

// Close ends what waits for something to happen. Call it before the server waits
// for its requests to end.
func (a *API) Close() { a.end() }

// Handler serves everything under /api/v1.
func (a *API) Handler() http.Handler {
	h := a.outer(a.config.Door.Wrap(http.HandlerFunc(a.route)))
	alone := requestinfo.Wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requestinfo.ID(r.Context()) == "" {
			alone.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
