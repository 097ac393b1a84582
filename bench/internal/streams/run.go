package streams

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/timeline"
)

// Config is the size of a run.
type Config struct {
	// DatabaseURL and Pool lead to a database with the schema.
	DatabaseURL string
	Pool        *pgxpool.Pool
	Streams     int
	// Changes is how many events happen per second, for Length.
	Changes int
	Length  time.Duration
	// Cuts is the share of streams that are cut off per second.
	Cuts float64
}

// Result is the measurement.
type Result struct {
	Streams int     `json:"streams"`
	Seconds float64 `json:"seconds"`
	// Events is how many happened, and Delivered how many arrived at all watchers
	// together.
	Events    int64   `json:"events"`
	Delivered int64   `json:"delivered"`
	Rate      float64 `json:"changes_per_s"`
	// These are milliseconds from the event's time to its reader, over all samples.
	P50     float64 `json:"p50_ms"`
	P95     float64 `json:"p95_ms"`
	P99     float64 `json:"p99_ms"`
	Max     float64 `json:"max_ms"`
	Samples int64   `json:"samples"`
	// Reconnects were forced. Lost and Duplicated are counted against the database, over
	// all watchers.
	Reconnects int   `json:"reconnects"`
	Lost       int64 `json:"lost"`
	Duplicated int64 `json:"duplicated"`
	// These are bytes of the server process per stream, while all are open and idle.
	HeapPerStream     float64 `json:"runtime_bytes_per_stream"`
	ResidentPerStream float64 `json:"rss_bytes_per_stream"`
	// ServerCores is how many cores the server process kept busy under load.
	ServerCores float64 `json:"server_cores"`
}

// settleWithin is how long the last events may take to reach all watchers.
const settleWithin = time.Minute

// Run makes one measurement.
func Run(ctx context.Context, c Config) (r Result, err error) {
	if err := allowFiles(c.Streams); err != nil {
		return r, err
	}
	token, err := makeToken(ctx, c.Pool)
	if err != nil {
		return r, err
	}
	begin, err := timeline.Tail(ctx, c.Pool)
	if err != nil {
		return r, err
	}
	server, err := startChild(ctx, c.DatabaseURL)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	empty, err := server.memory(ctx)
	if err != nil {
		return r, err
	}
	f := &fleet{times: new(histogram)}
	for range c.Streams {
		f.watchers = append(f.watchers, &watcher{address: server.address, token: token, begin: string(begin), times: f.times})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := f.start(ctx); err != nil {
		return r, err
	}
	idle, err := server.memory(ctx)
	if err != nil {
		return r, err
	}
	r.Streams = c.Streams
	r.HeapPerStream = float64(idle.Heap+idle.Stack-empty.Heap-empty.Stack) / float64(c.Streams)
	r.ResidentPerStream = float64(idle.Resident-empty.Resident) / float64(c.Streams)

	start := time.Now()
	if r.Reconnects, err = f.during(ctx, c.Cuts, func(ctx context.Context) error { return work(ctx, c.Pool, c.Changes, c.Length) }); err != nil {
		return r, err
	}
	r.Seconds = time.Since(start).Seconds()
	busy, err := server.memory(ctx)
	if err != nil {
		return r, err
	}
	r.ServerCores = (busy.CPU - idle.CPU).Seconds() / r.Seconds
	return r, f.finish(ctx, c.Pool, string(begin), &r)
}

// fleet is the set of all watchers.
type fleet struct {
	watchers []*watcher
	times    *histogram
	running  sync.WaitGroup
	failed   chan error
	// end is where all watchers may stop, once it is known.
	end atomic.Pointer[place]
}

// start opens all streams, some at a time.
func (f *fleet) start(ctx context.Context) error {
	f.failed = make(chan error, len(f.watchers))
	opened := make(chan struct{}, len(f.watchers))
	doors := make(chan struct{}, 64)
	for _, w := range f.watchers {
		doors <- struct{}{}
		f.running.Go(func() {
			leave := sync.OnceFunc(func() { <-doors })
			defer leave()
			if err := w.run(ctx, f.ended, func() { opened <- struct{}{}; leave() }); err != nil {
				f.failed <- err
			}
		})
	}
	for range f.watchers {
		select {
		case <-opened:
		case err := <-f.failed:
			return fmt.Errorf("open a stream: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (f *fleet) ended() (place, bool) {
	if end := f.end.Load(); end != nil {
		return *end, true
	}
	return place{}, false
}

// during cuts off random streams while do works.
func (f *fleet) during(ctx context.Context, share float64, do func(context.Context) error) (cuts int, err error) {
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	every := time.Duration(float64(time.Second) / max(share*float64(len(f.watchers)), 1))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return cuts, err
		case err := <-f.failed:
			return cuts, fmt.Errorf("a stream: %w", err)
		case <-tick.C:
			f.watchers[rand.IntN(len(f.watchers))].cut()
			cuts++
		}
	}
}

// finish waits until all watchers have seen the last event, and counts.
func (f *fleet) finish(ctx context.Context, pool *pgxpool.Pool, begin string, r *Result) error {
	from := parsePlace([]byte(begin))
	var sum int64
	err := pool.QueryRow(ctx, `select sum(coalesce(cardinality(tasks), 1)), sum(seq * coalesce(cardinality(tasks), 1))::bigint from weir.events
		where (xid, seq) > ($1, $2)`, from.xid, from.seq).Scan(&r.Events, &sum)
	if err != nil {
		return fmt.Errorf("count the events: %w", err)
	}
	var end place
	if err := pool.QueryRow(ctx, `select xid, seq from weir.events order by xid desc, seq desc limit 1`).Scan(&end.xid, &end.seq); err != nil {
		return fmt.Errorf("find the last event: %w", err)
	}
	end.line = wholeRow
	f.end.Store(&end)
	ended := make(chan struct{})
	go func() { f.running.Wait(); close(ended) }()
	late := time.After(settleWithin)
	// A waiting watcher checks the end only when something arrives, so its connection is
	// cut.
	for waiting := true; waiting; {
		select {
		case <-ended:
			waiting = false
		case <-late:
			for _, w := range f.watchers {
				w.cut()
			}
			return fmt.Errorf("after %s some streams still have not seen the last event", settleWithin)
		case <-time.After(time.Second):
			for _, w := range f.watchers {
				w.cut()
			}
		}
	}
	wrong := 0
	for _, w := range f.watchers {
		r.Delivered += w.events
		r.Duplicated += w.duplicated
		r.Lost += max(r.Events-w.events, 0)
		if w.events == r.Events && w.sum != sum {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d streams saw other events than the database holds", wrong)
	}
	r.Rate = float64(r.Events) / r.Seconds
	r.P50, r.P95, r.P99, r.Max, r.Samples = f.times.percentile(50), f.times.percentile(95), f.times.percentile(99), f.times.percentile(100), f.times.all.Load()
	return nil
}

// makeToken makes a user that may read, and a token for it.
func makeToken(ctx context.Context, pool *pgxpool.Pool) (string, error) {
	store := auth.New(pool, auth.Options{})
	name := fmt.Sprintf("watcher%d", time.Now().UnixNano())
	user, err := store.CreateUser(ctx, auth.System("bench"), auth.NewUser{Name: name, Role: auth.Viewer})
	if err != nil {
		return "", err
	}
	by := auth.Subject{Kind: auth.KindUser, ID: user.ID, UserID: user.ID, Name: user.Name, Role: user.Role}
	_, secret, err := store.CreateToken(ctx, by, auth.NewToken{Name: "bench", Scopes: []string{"*:read"}})
	return secret, err
}
