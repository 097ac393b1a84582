package coordinator

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mrand "math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/blame"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// Lock is the name of the lead of servers in weir.system_locks.
	Lock = "coordinator"
	// Channel is where a leader that resigns says so.
	Channel = "weir_lead"
	// defaultTTL is how long a leader may be silent.
	defaultTTL = 12 * time.Second
)

// Config says who leads and what it does. Pool and Loops are needed.
type Config struct {
	// Lock is the name of the lead. Empty: that of servers.
	Lock string
	// Pool must have a connection free for a renewal at any time: a pool of its
	// own is best.
	Pool *pgxpool.Pool
	// Loops makes the loops of a term. Their writes go through [Term.Tx].
	Loops func(*Term) []loop.Loop
	// TTL is how long a leader may be silent. Zero: 12 s, so that
	// another one acts within 15 whatever the moment.
	TTL time.Duration
	// Holder names this process; no two may share it. Empty: host, pid and a
	// random part.
	Holder string
	// Wake hears of a leader that resigned (see Channel). Nil: a candidate
	// looks at a third of the ttl, and when the term of the leader should end.
	Wake <-chan struct{}
	// Unled lets the loops run in a term without an epoch where the database user may
	// not lead. It is for what any number of processes may do at once.
	Unled bool
	// Quiet: a change of the lead concerns no operator.
	Quiet bool
	Log   *slog.Logger
}

func (c Config) lock() string { return cmp.Or(c.Lock, Lock) }

// Coordinator leads whenever it may.
type Coordinator struct {
	config Config
	loops  loop.Runner

	mu   sync.Mutex
	term *Term
}

// New prepares a coordinator; Run starts it.
func New(config Config) *Coordinator {
	if config.TTL == 0 {
		config.TTL = defaultTTL
	}
	if config.Holder == "" {
		host, _ := os.Hostname() // only for people; the random part is what counts
		config.Holder = fmt.Sprintf("%s/%d/%s", host, os.Getpid(), strings.ToLower(rand.Text()))
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Coordinator{config: config, loops: loop.Runner{Log: config.Log}}
}

// Status is what a health check wants to know.
type Status struct {
	Holder string
	// Epoch is that of the term; 0: this process does not lead.
	Epoch int64
	// Loops are those of all the terms of this process.
	Loops []loop.Stats
}

// Status tells how it is now.
func (c *Coordinator) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{Holder: c.config.Holder, Loops: c.loops.Stats()}
	if c.term != nil {
		s.Epoch = c.term.epoch
	}
	return s
}

// Run leads whenever it may, until ctx ends. Then it resigns and returns.
func (c *Coordinator) Run(ctx context.Context) {
	told, waited := "", false
	for ctx.Err() == nil {
		wait := c.config.TTL / 3
		start := time.Now()
		attempt, cancel := context.WithTimeout(ctx, wait)
		epoch, left, err := lead(attempt, c.config)
		cancel()
		switch {
		case c.config.Unled && blame.Denied(err):
			term := newTerm(ctx, c.config, 0, start)
			c.loops.Run(ctx, c.config.Loops(term)...)
			term.beside.Wait()
		case err != nil:
			wait = c.config.TTL / 15
			if ctx.Err() == nil && err.Error() != told {
				told = err.Error()
				c.config.Log.Warn("cannot ask for the lead; trying again", "error", err)
			}
		case epoch > 0:
			told = ""
			c.serve(ctx, epoch, start, waited)
			wait = 0 // a term that was lost may be had again
		default:
			told = ""
			wait = min(wait, left)
		}
		waited = true
		// The others see the same end of the term: do not all come at once.
		loop.Wait(ctx, wait+mrand.N(c.config.TTL/50), c.config.Wake) // #nosec G404 -- jitter is no secret
	}
}

// serve is one term, from the answer that began it to the end of its last loop.
// That the lead changes hands is logged as a warning, because an operator wants to
// see it; that it is taken at a start and given up at a stop is no news.
func (c *Coordinator) serve(ctx context.Context, epoch int64, start time.Time, waited bool) {
	term := newTerm(ctx, c.config, epoch, start)
	c.setTerm(term)
	c.config.Log.Log(ctx, c.level(waited), "leads", "holder", c.config.Holder, "epoch", epoch)
	var keeper sync.WaitGroup
	keeper.Go(term.renew)
	keeper.Go(term.watch)
	c.loops.Run(term.ctx, c.config.Loops(term)...)
	<-term.ctx.Done() // also when there are no loops
	term.beside.Wait()
	keeper.Wait()
	c.setTerm(nil)
	if !errors.Is(context.Cause(term.ctx), ErrTermOver) {
		term.resign()
	}
	c.config.Log.Log(ctx, c.level(ctx.Err() == nil), "leads no longer", "holder", c.config.Holder, "epoch", epoch, "cause", context.Cause(term.ctx))
}

func (c *Coordinator) level(news bool) slog.Level {
	switch {
	case c.config.Quiet:
		return slog.LevelDebug
	case news:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

func (c *Coordinator) setTerm(t *Term) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.term = t
}
