package proxy

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace"
)

const (
	// visitFor and stateFor are how long an answer of the database is cached.
	visitFor, stateFor = 2 * time.Second, time.Second
	// lookEvery is the interval of the checks of open visits.
	lookEvery = 3 * time.Second
)

// guest is a visitor of a workspace.
type guest struct {
	workspace.Visit
	ticket
}

// ticket is the credential that a browser sent.
type ticket struct{ secret, host string }

// guests caches for a moment which visits are valid, and tracks what they have open.
type guests struct {
	store *workspace.Store
	now   func() time.Time

	mu     sync.Mutex
	visits map[ticket]visit
	states map[weir.ID]known
	open   map[ticket]map[*context.CancelFunc]weir.ID
	// closed means that the proxy is closed: a new request ends at once.
	closed bool
}

type visit struct {
	workspace.Visit
	until time.Time
}

// known is the recent state of a workspace. Only running ones are cached.
type known struct {
	workspace.Workspace
	until time.Time
}

func newGuests(store *workspace.Store, now func() time.Time) *guests {
	return &guests{store: store, now: now, visits: map[ticket]visit{}, states: map[weir.ID]known{}, open: map[ticket]map[*context.CancelFunc]weir.ID{}}
}

// guest returns the visitor that sends a request, or nil if there is no valid visit.
func (p *Proxy) guest(r *http.Request) (*guest, error) {
	id, _ := p.config.Address.Workspace(r.Host)
	used := navigates(r) || (r.Method != http.MethodGet && r.Method != http.MethodHead)
	for _, secret := range p.secrets(r) {
		t := ticket{secret, p.config.Address.Host(id)}
		v, err := p.guests.visit(r.Context(), t, used)
		if err != nil {
			return nil, err
		}
		if v != nil && v.Workspace == id {
			return &guest{*v, t}, nil
		}
	}
	return nil, nil
}

func (g *guests) visit(ctx context.Context, t ticket, used bool) (*workspace.Visit, error) {
	g.mu.Lock()
	v, ok := g.visits[t]
	g.mu.Unlock()
	if ok && g.now().Before(v.until) {
		return &v.Visit, nil
	}
	return g.look(ctx, t, used)
}

// look asks the database.
func (g *guests) look(ctx context.Context, t ticket, used bool) (*workspace.Visit, error) {
	asked := g.now()
	inside, err := g.store.Inside(ctx, t.secret, t.host, used)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if inside == nil {
		delete(g.visits, t)
		return nil, nil
	}
	g.visits[t] = visit{*inside, asked.Add(visitFor)}
	return inside, nil
}

// state returns the state of a workspace, at most a moment old.
func (g *guests) state(ctx context.Context, id weir.ID) (*state, error) {
	g.mu.Lock()
	k, ok := g.states[id]
	g.mu.Unlock()
	if ok && g.now().Before(k.until) {
		return &state{k.Workspace}, nil
	}
	return g.fresh(ctx, id)
}

// fresh returns its current state.
func (g *guests) fresh(ctx context.Context, id weir.ID) (*state, error) {
	asked := g.now()
	w, err := g.store.Workspace(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &state{w}
	g.mu.Lock()
	defer g.mu.Unlock()
	if delete(g.states, id); s.passable() {
		g.states[id] = known{w, asked.Add(stateFor)}
	}
	return s, nil
}

// hold records that a guest has a connection open. The returned context ends when the
// visit ends.
func (g *guests) hold(ctx context.Context, who *guest) (held context.Context, release func()) {
	held, cancel := context.WithCancel(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		cancel()
	}
	if g.open[who.ticket] == nil {
		g.open[who.ticket] = map[*context.CancelFunc]weir.ID{}
	}
	g.open[who.ticket][&cancel] = who.Workspace
	return held, func() {
		cancel()
		g.mu.Lock()
		defer g.mu.Unlock()
		if delete(g.open[who.ticket], &cancel); len(g.open[who.ticket]) == 0 {
			delete(g.open, who.ticket)
		}
	}
}

// turnOut ends all connections of a guest.
func (g *guests) turnOut(t ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for cancel := range g.open[t] {
		(*cancel)()
	}
}

func (g *guests) endAll() {
	g.mu.Lock()
	g.closed = true
	inside := slices.Collect(maps.Keys(g.open))
	g.mu.Unlock()
	for _, t := range inside {
		g.turnOut(t)
	}
}

// Loops returns the loops that every server with a proxy runs.
func (p *Proxy) Loops() []loop.Loop {
	return []loop.Loop{{Name: "workspace guests", Every: lookEvery, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
		return false, p.Look(ctx)
	}}}
}

// Look ends visits that are no longer allowed. A guest who typed recently keeps their
// session alive by it; a tab that is left open does not.
func (p *Proxy) Look(ctx context.Context) error {
	g, now := p.guests, p.config.Now()
	inside := map[ticket]weir.ID{}
	g.mu.Lock()
	for t, v := range g.visits {
		if now.After(v.until) {
			delete(g.visits, t)
		}
	}
	for id, k := range g.states {
		if now.After(k.until) {
			delete(g.states, id)
		}
	}
	for t, held := range g.open {
		for _, id := range held {
			inside[t] = id
		}
	}
	g.mu.Unlock()
	for t, id := range inside {
		last, _ := p.config.Meter.Last(id)
		v, err := g.look(ctx, t, now.Sub(last) < time.Minute)
		if err != nil {
			return err
		}
		if v == nil {
			g.turnOut(t)
		}
	}
	return nil
}
