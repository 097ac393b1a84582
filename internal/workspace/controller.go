package workspace

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Config says what the controller works with. Pool, Providers and Bucket are needed.
type Config struct {
	Pool      *pgxpool.Pool
	Providers []provider.Provider
	Bucket    blob.Bucket
	Log       *slog.Logger
	// Wake hears that somebody wants something (Channel). Nil: it is seen by and by.
	Wake <-chan struct{}
	// Flush writes what is known of the use of workspaces to the database, before any of
	// them is stopped for want of it. Nil: the database knows. An error: nothing is
	// stopped for that this time.
	Flush func(ctx context.Context, now time.Time) error
	// Alive are those in use right now. Nil: the database knows. An error is as of Flush.
	Alive func(ctx context.Context) ([]weir.ID, error)
	// LookMost is how long one listing may take. Zero: 5 s.
	LookMost time.Duration
	// AtOnce is how many operations act at once, of each provider. Zero: 20.
	AtOnce int
	// Limits bound a home.
	Limits home.Limits
	// Tell is how often the progress of an operation is noted. Zero: every 5 s.
	Tell time.Duration
	// Patience is how long an operation may go without progress, by its name.
	Patience map[ladder.Operation]time.Duration
	// Now is what a test says that the time is. Nil: the database knows.
	Now func() time.Time
}

// Channel is where the database says that somebody wants something of a workspace.
const Channel = "weir_workspace"

func (c Config) filled() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.LookMost <= 0 {
		c.LookMost = 5 * time.Second
	}
	if c.Tell <= 0 {
		c.Tell = 5 * time.Second
	}
	if c.AtOnce <= 0 {
		c.AtOnce = 20
	}
	return c
}

func (c Config) patience(op ladder.Operation) time.Duration {
	if d := c.Patience[op]; d > 0 {
		return d
	}
	switch op {
	case ladder.Restoring, ladder.Archiving:
		return 30 * time.Minute
	}
	return 5 * time.Minute
}

// Controller brings about what is wanted, during one term.
type Controller struct {
	config    Config
	store     *Store
	leads     leads
	providers map[string]provider.Provider
	// wake is told when an act is over, so that the next look comes soon.
	wake chan struct{}
	// woken: somebody wants something since the last look began.
	woken atomic.Bool
	// places are how many acts of a provider may be under way.
	places map[string]chan struct{}
	group  sync.WaitGroup

	mu sync.Mutex
	// acts are under way in this process, by workspace.
	acts map[weir.ID]*act
	// queued are operations that wait for a place: their time does not run.
	queued map[weir.ID]bool
	// leftovers is when to try again to take away what somebody left behind. Only Tick uses it.
	leftovers map[weir.ID]time.Time
	// kept are archives that were noted since the last look began, which may not have
	// seen them.
	kept    map[string]bool
	resumed bool
}

// NewController makes one for a term.
func NewController(config Config, term Term) *Controller {
	config = config.filled()
	c := &Controller{
		config: config, store: New(config.Pool), leads: leads{config.Pool, term, config.Now}, providers: map[string]provider.Provider{}, wake: make(chan struct{}, 1),
		places: map[string]chan struct{}{}, acts: map[weir.ID]*act{}, queued: map[weir.ID]bool{}, leftovers: map[weir.ID]time.Time{}, kept: map[string]bool{},
	}
	for _, p := range config.Providers {
		c.providers[p.Name()] = p
		c.places[p.Name()] = make(chan struct{}, config.AtOnce)
	}
	return c
}

// Tick looks, judges, plans and begins what is to be done. More: something is under way.
//
// It looks before it reads what is recorded. So a record may know more than the look, such
// as an archive that was noted meanwhile, but never less: a volume that is not seen any
// more has its archive in the record.
func (c *Controller) Tick(ctx context.Context) (more bool, err error) {
	if err := c.resume(ctx); err != nil {
		return false, err
	}
	c.forget()
	seen, troubles := c.look(ctx)
	if err := c.troubled(ctx, seen, troubles); err != nil {
		return false, err
	}
	if err := c.tellUnknown(ctx, troubles); err != nil {
		return false, err
	}
	if troubles[bucketName] != "" {
		return true, nil
	}
	all, now, err := c.store.live(ctx, seen.ids())
	if err != nil {
		return false, err
	}
	if c.config.Now != nil {
		now = c.config.Now()
	}
	var sights []sight
	steps := make([]ladder.Step, len(all))
	for i := range all {
		w := &all[i]
		if c.providers[w.Provider] == nil || troubles[w.Provider] != "" { // it may have come since the troubles were told
			continue
		}
		conditions, phase, step := ladder.Decide(w.record(), c.of(w, seen))
		if s := (sight{w.ID, conditions, phase, seen.mounted(w), w.Generation}); s.news(w) {
			sights = append(sights, s)
		}
		steps[i] = step
	}
	if len(sights) > 0 {
		if _, err := c.leads.see(ctx, sights); err != nil {
			return false, err
		}
	}
	for i, step := range steps {
		active, err := c.follow(ctx, &all[i], step, seen, now)
		if err != nil {
			return false, err
		}
		more = more || active
	}
	return more, nil
}

// resume lets time begin to run for what an earlier term has left under way.
func (c *Controller) resume(ctx context.Context) error {
	if c.resumed {
		return nil
	}
	n, err := c.leads.resume(ctx)
	if err != nil {
		return err
	}
	c.resumed = true
	if n > 0 {
		c.config.Log.Info("goes on with what is under way", "operations", n)
	}
	return nil
}

func (c *Controller) tellUnknown(ctx context.Context, troubles map[string]string) error {
	names := slices.Sorted(maps.Keys(troubles))
	if names == nil {
		names = []string{}
	}
	changed, err := c.leads.unknown(ctx, names, strings.Join(slices.Sorted(maps.Values(troubles)), "; "))
	if changed {
		c.config.Log.Warn("what can be seen of workspaces has changed", "unknown", troubles)
	}
	return err
}

// news reports whether a sight is another one than what is recorded.
func (s *sight) news(w *Workspace) bool {
	return s.Phase != w.Phase || s.Conditions != w.Seen() || s.Generation != w.Observed || s.Mounted != nil && *s.Mounted > w.Mounted
}

// follow does what a step says. It reports whether something is under way.
func (c *Controller) follow(ctx context.Context, w *Workspace, step ladder.Step, seen world, now time.Time) (bool, error) {
	switch step.Act {
	case ladder.Begin:
		return true, c.begin(ctx, w, step.Operation, seen)
	case ladder.Continue:
		if w.OpRetry != nil && now.Before(*w.OpRetry) {
			return true, nil
		}
		if !c.act(ctx, w, seen) || w.OpProgress == nil || now.Sub(*w.OpProgress) <= c.config.patience(w.Operation) {
			return true, nil
		}
		_, err := c.leads.fail(ctx, w, ladder.Timeout, fmt.Sprintf("%s has not got on for %s", w.Operation, c.config.patience(w.Operation)))
		c.stop(w.ID)
		return true, err
	case ladder.Complete:
		_, err := c.leads.complete(ctx, w)
		return true, err
	case ladder.Fail:
		_, err := c.leads.fail(ctx, w, step.Reason, step.Why)
		c.stop(w.ID)
		return true, err
	case ladder.Tidy:
		c.removeLeftover(w, seen, now)
	}
	return false, nil
}

// begin notes an operation and acts. It waits until there is a place to act in: what has
// begun has its time.
func (c *Controller) begin(ctx context.Context, w *Workspace, op ladder.Operation, seen world) error {
	if !c.free(w) {
		return nil
	}
	id, err := c.leads.begin(ctx, w, op)
	if err != nil || id == nil {
		return err
	}
	w.Operation, w.Op = op, id
	if op == ladder.Starting || op == ladder.Archiving {
		w.Mounts++
	}
	c.act(ctx, w, seen)
	return nil
}

// Wait returns when nothing is under way in this process any more.
func (c *Controller) Wait() { c.group.Wait() }
