package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/proxy/activity"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Config names the parts of the proxy. Store, Providers, Address, Dashboard and Meter are
// required.
type Config struct {
	Store     *workspace.Store
	Providers []provider.Provider
	Address   workspace.Address
	// Dashboard is the URL of the dashboard, which admits people.
	Dashboard string
	Meter     *activity.Meter
	// Client returns the address that a request comes from. If nil, it is the other end
	// of the connection.
	Client func(*http.Request) string
	Log    *slog.Logger
	// Now is the clock, for tests.
	Now func() time.Time
}

// Proxy serves the hosts of workspaces. It is safe for concurrent use.
type Proxy struct {
	config    Config
	providers map[string]provider.Provider
	guests    *guests
	seats     *door.Seats
	forwards  *httputil.ReverseProxy
	transport *http.Transport
	own       *http.ServeMux
	// ctx ends when the proxy is closed.
	ctx context.Context
	end context.CancelFunc
}

const (
	streamsMost = 2000
	streamsEach = 50
)

// New makes a proxy. Close it when the server stops.
func New(config Config) (*Proxy, error) {
	switch u, err := url.Parse(config.Dashboard); {
	case config.Store == nil || config.Meter == nil:
		return nil, errors.New("proxy of workspaces: a store and a meter are needed")
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, fmt.Errorf("proxy of workspaces: %q is not the URL of a dashboard", config.Dashboard)
	case config.Address.Domain == "" || (config.Address.Scheme != "http" && config.Address.Scheme != "https"):
		return nil, errors.New("proxy of workspaces: a domain for their hosts is needed")
	}
	config.Dashboard = strings.TrimSuffix(config.Dashboard, "/")
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Client == nil {
		config.Client = func(r *http.Request) string { return door.ClientOf(r).Address }
	}
	p := &Proxy{config: config, providers: map[string]provider.Provider{}, seats: door.NewSeats(streamsMost, streamsEach)}
	for _, one := range config.Providers {
		p.providers[one.Name()] = one
	}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.guests = newGuests(config.Store, config.Now)
	p.transport = p.newTransport()
	p.forwards = p.newForwards()
	p.own = p.routes()
	return p, nil
}

// Close ends the streams and the connections to workspaces.
func (p *Proxy) Close() {
	p.end()
	p.guests.endAll()
	p.transport.CloseIdleConnections()
}

// Owns reports whether a host belongs to a workspace. All others are the dashboard's.
func (p *Proxy) Owns(host string) bool {
	_, ok := p.config.Address.Workspace(host)
	return ok
}

// ServeHTTP serves the host of a workspace.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := p.config.Address.Workspace(r.Host)
	r = spoken(r)
	ctx := r.Context()
	switch {
	case !ok:
		p.refuse(w, r, http.StatusMisdirectedRequest, say(ctx, "visit.nohost"), say(ctx, "visit.nohost.next"))
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace:
		p.refuse(w, r, http.StatusMethodNotAllowed, say(ctx, "visit.method"), "")
	case !p.welcome(r):
		p.refuse(w, r, http.StatusForbidden, say(ctx, "visit.foreign"), say(ctx, "visit.foreign.next"))
	case strings.HasPrefix(r.URL.Path, workspace.Reserved):
		p.own.ServeHTTP(w, r)
	default:
		p.serve(w, r, id)
	}
}

// serve admits a guest to a workspace.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, id weir.ID) {
	g, err := p.guest(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if g == nil {
		p.unknown(w, r, id)
		return
	}
	if upgrades(r) && !isWebSocket(r) {
		p.refuse(w, r, http.StatusBadRequest, say(r.Context(), "visit.upgrade"), "")
		return
	}
	state, err := p.guests.state(r.Context(), id)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	if state.passable() {
		p.forward(w, r, g, state)
		return
	}
	p.explain(w, r, g, state)
}

// Streams returns how many pages wait for a workspace.
func (p *Proxy) Streams() int { return p.seats.Taken() }
