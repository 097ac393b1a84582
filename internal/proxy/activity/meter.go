package activity

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace"
)

const (
	// throttle is the least time between two updates of one workspace in memory.
	throttle = time.Second
	// shelfEvery and storeEvery are the intervals of writes to Redis and to the database.
	shelfEvery, storeEvery = 30 * time.Second, time.Minute
	// answerWithin is how long servers have to answer a request for their uses.
	answerWithin = 2 * time.Second
	// keep is how long an entry stays in memory after it was written.
	keep = 15 * time.Minute
)

// Config names the parts of a meter. Store is required.
type Config struct {
	Store *workspace.Store
	// RedisURL is the address of a Redis that servers share. Empty means none.
	RedisURL string
	// RedisPrefix begins the names of the keys. Empty means weir:workspaces:.
	RedisPrefix string
	Log         *slog.Logger
	// Now is the clock, for tests.
	Now func() time.Time
}

// Meter records the use of workspaces in memory until it is written. It is safe for
// concurrent use.
type Meter struct {
	config Config
	shelf  *shelf

	mu    sync.Mutex
	known map[weir.ID]*known
	asked map[weir.ID]asked
}

// known is the recorded use of one workspace.
type known struct {
	last   time.Time
	source string
	// shelved and stored are the times that Redis and the database have.
	shelved, stored time.Time
}

// New makes a meter. It fails only if the URL of Redis is invalid.
func New(config Config) (*Meter, error) {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	m := &Meter{config: config, known: map[weir.ID]*known{}, asked: map[weir.ID]asked{}}
	if config.RedisURL != "" {
		var err error
		if m.shelf, err = newShelf(config.RedisURL, config.RedisPrefix, config.Log); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Close ends the connections to Redis.
func (m *Meter) Close() error {
	if m.shelf == nil {
		return nil
	}
	return m.shelf.client.Close()
}

// Use records that a workspace is used now.
func (m *Meter) Use(id weir.ID, source string) {
	now := m.config.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[id]
	if k == nil {
		k = &known{}
		m.known[id] = k
	}
	if now.Sub(k.last) >= throttle {
		k.last, k.source = now, source
	}
}

// Last returns when a workspace was last used, as far as this server knows.
func (m *Meter) Last(id weir.ID) (at time.Time, source string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.known[id]; k != nil {
		return k.last, k.source
	}
	return at, ""
}

// Loops returns the loops that every server runs. wake receives a value for each
// notification on workspace.UseChannel: another server asks for the uses.
func (m *Meter) Loops(wake <-chan struct{}) []loop.Loop {
	loops := []loop.Loop{{Name: "workspace use", Every: storeEvery, Wake: wake, Gap: answerWithin / 20, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
		return false, m.Store(ctx)
	}}}
	if m.shelf != nil {
		loops = append(loops, loop.Loop{Name: "workspace use in Redis", Every: shelfEvery, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
			m.Shelve(ctx)
			return false, nil
		}})
	}
	return loops
}

// pending returns the uses that a place does not have yet, with their times.
func (m *Meter) pending(noted func(*known) time.Time) (uses []workspace.Use, at map[weir.ID]time.Time) {
	now := m.config.Now()
	at = map[weir.ID]time.Time{}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, k := range m.known {
		if !k.last.After(noted(k)) {
			continue
		}
		uses = append(uses, workspace.Use{ID: id, Ago: now.Sub(k.last), Source: k.source})
		at[id] = k.last
	}
	return uses, at
}

// note records what a place has now, and drops entries that are old and written.
func (m *Meter) note(at map[weir.ID]time.Time, place func(*known) *time.Time) {
	now := m.config.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, t := range at {
		if k := m.known[id]; k != nil {
			*place(k) = t
		}
	}
	for id, k := range m.known {
		if !k.last.After(k.stored) && now.Sub(k.last) > keep {
			delete(m.known, id)
		}
	}
	for id, list := range m.asked {
		if list.forget(now); len(list) == 0 {
			delete(m.asked, id)
		}
	}
}

// Shelve writes new uses to Redis. It is no failure if Redis is away: the uses then go
// straight to the database.
func (m *Meter) Shelve(ctx context.Context) {
	if m.shelf == nil {
		return
	}
	uses, at := m.pending(func(k *known) time.Time { return later(k.shelved, k.stored) })
	if len(uses) == 0 {
		return
	}
	err := m.shelf.put(ctx, uses)
	m.shelf.tell(ctx, err)
	if err == nil {
		m.note(at, func(k *known) *time.Time { return &k.shelved })
	}
}

// Store writes all uses that this server and Redis know to the database, in one write:
// those in Redis from servers that are gone, and those that Redis does not have, because
// it is away or has lost its data.
func (m *Meter) Store(ctx context.Context) error {
	uses, at := m.pending(func(k *known) time.Time { return k.stored })
	var shelved []put
	if m.shelf != nil {
		var err error
		shelved, err = m.shelf.list(ctx)
		m.shelf.tell(ctx, err)
	}
	for _, p := range shelved {
		uses = append(uses, p.Use)
	}
	if len(uses) == 0 {
		return nil
	}
	if err := m.config.Store.Used(ctx, uses); err != nil {
		return err
	}
	m.note(at, func(k *known) *time.Time { return &k.stored })
	if len(shelved) > 0 {
		m.shelf.tell(ctx, m.shelf.take(ctx, shelved))
	}
	return nil
}

// Ask makes all servers write the uses they know, if a workspace is due to be stopped for
// lack of use. After it the database is up to date. The part that stops workspaces calls
// it.
func (m *Meter) Ask(ctx context.Context, _ time.Time) error {
	idle, err := m.config.Store.Idle(ctx)
	if err != nil || !idle {
		return err
	}
	if err := errors.Join(m.Store(ctx), m.config.Store.AskUse(ctx)); err != nil {
		return err
	}
	loop.Wait(ctx, answerWithin, nil)
	return ctx.Err()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
