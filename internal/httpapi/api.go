package httpapi

import (
	"context"
	"encoding/json"
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
	"github.com/weirhq/weir/internal/fleet/forward"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/requestinfo"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/workflow"
)

// timeout is how long a request may take.
const timeout = 30 * time.Second

// Door is the HTTP side of auth: package door.
type Door interface {
	// Wrap finds the subject and stores it in the context.
	Wrap(next http.Handler) http.Handler
	// Subject finds the subject of a request anew, for one that lasts.
	Subject(r *http.Request) (auth.Subject, error)
	Login(w http.ResponseWriter, r *http.Request, name, password string) error
	Logout(w http.ResponseWriter, r *http.Request) error
}

// Config names the parts that the API calls.
type Config struct {
	// Store reads data for streams, Auth identifies people. Both are required.
	Store *view.Store
	Auth  *auth.Store
	// Door finds the subject, and logs people in and out. Required.
	Door Door
	// Stream serves the live events. If nil, the route answers 404.
	Stream http.Handler
	// Desks returns the desk of a node, for its agent. If nil, the routes of agents
	// answer 404.
	Desks func(node string) Desk
	// Forwards carries forwards to devices. If nil, their routes answer that there are
	// none.
	Forwards *forward.Broker
	// Operations carries out the operations that domains describe.
	Operations op.Caller
	// Follow tells the task of a signed link that its event came. If nil, there are no
	// links.
	Follow func(ctx context.Context, link string, payload json.RawMessage) (tasks int, err error)
	// Deliver starts the run of a signed delivery to a webhook. If nil, there are none.
	Deliver func(ctx context.Context, d workflow.Delivery) (workflow.Delivered, error)
	// Bucket has artifacts and logs. If nil, their routes answer 404.
	Bucket blob.Bucket
	// Hub signals that a log may have grown. If nil, followers of a log poll.
	Hub *timeline.Hub
	// Version is the version of the program.
	Version string
	// Log gets one line per request at debug, and every 500. Nil means slog.Default.
	Log *slog.Logger
	// Timeout limits a request. Zero means 30 s.
	Timeout time.Duration
}

// API serves the table of routes.
type API struct {
	config Config
	log    *slog.Logger
	mux    *router
	huma   huma.API
	pages  func() pages
	// life ends waiting requests when the server stops.
	life context.Context
	end  context.CancelFunc
	// polls limits the claims that wait, carries the objects in transit.
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

// Close ends waiting requests. Call it before the server waits for its requests to end.
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
