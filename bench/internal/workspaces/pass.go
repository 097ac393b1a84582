package workspaces

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Watch is a controller that looks at a recording.
type Watch struct {
	pool, terms *pgxpool.Pool
	bucket      *listed
	controller  *workspace.Controller
	// keys are archives that are left out of the listing when something should change.
	keys []string
	stop func()
}

// Passed is the cost of passes.
type Passed struct {
	// Took are milliseconds of each pass, and Listed the share of the bucket. WAL is in
	// bytes.
	Took, Listed, WAL []float64
	// Statements and Written are of all passes together.
	Statements, Written int64
}

// OpenWatch records n workspaces and leads.
func OpenWatch(ctx context.Context, b *Base, folder string, n int) (w *Watch, err error) {
	w = &Watch{stop: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	dir := filepath.Join(folder, "archives")
	world, keys, err := b.record(ctx, n, dir)
	if err != nil {
		return w, err
	}
	w.keys = keys
	bucket, err := blob.Open(ctx, "folder://"+dir)
	if err != nil {
		return w, err
	}
	w.bucket = &listed{Bucket: bucket}
	// There is one connection, which knows everything that was written.
	if w.pool, err = pg.Open(ctx, b.URL, pg.Options{Name: "bench pass", MaxConns: 1}); err != nil {
		return w, err
	}
	if w.terms, err = pg.Open(ctx, b.URL, pg.Options{Name: "bench leader", MaxConns: 2}); err != nil {
		return w, err
	}
	term := w.lead(ctx)
	w.controller = workspace.NewController(workspace.Config{Pool: w.pool, Providers: []provider.Provider{&recorded{world: world}}, Bucket: w.bucket, LookMost: time.Minute}, term)
	return w, nil
}

// lead takes the lead, for longer than the benchmark lasts.
func (w *Watch) lead(ctx context.Context) *coordinator.Term {
	ctx, cancel := context.WithCancel(ctx)
	terms, ended := make(chan *coordinator.Term, 1), make(chan struct{})
	c := coordinator.New(coordinator.Config{Pool: w.terms, TTL: time.Hour, Loops: func(t *coordinator.Term) []loop.Loop {
		terms <- t
		return nil
	}})
	go func() {
		defer close(ended)
		c.Run(ctx)
	}()
	w.stop = func() {
		cancel()
		<-ended
	}
	return <-terms
}

// Close ends it.
func (w *Watch) Close() (err error) {
	w.stop()
	for _, pool := range []*pgxpool.Pool{w.pool, w.terms} {
		if pool != nil {
			pool.Close()
		}
	}
	if w.bucket != nil {
		err = blob.Close(w.bucket.Bucket)
	}
	return err
}

// Pass has the controller look n times. change is how many workspaces differ each time
// from the time before: their archives come and go.
func (w *Watch) Pass(ctx context.Context, n, change int) (p Passed, err error) {
	before, err := w.read(ctx)
	if err != nil {
		return p, err
	}
	hidden := map[string]bool{}
	for _, key := range w.keys[:min(change, len(w.keys))] {
		hidden[key], hidden[key+".meta"] = true, true
	}
	for i := range n {
		if w.bucket.hidden = hidden; i%2 == 1 {
			w.bucket.hidden = nil
		}
		w.bucket.took.Store(0)
		from, err := w.wal(ctx)
		if err != nil {
			return p, err
		}
		began := time.Now()
		more, err := w.controller.Tick(ctx)
		p.Took = append(p.Took, ms(time.Since(began)))
		p.Listed = append(p.Listed, ms(time.Duration(w.bucket.took.Load())))
		if err == nil && more {
			err = errors.New("it finds something to do: the recording is not what is wanted")
		}
		if err != nil {
			return p, fmt.Errorf("pass: %w", err)
		}
		to, err := w.wal(ctx)
		if err != nil {
			return p, err
		}
		p.WAL = append(p.WAL, float64(to-from))
	}
	after, err := w.read(ctx)
	p.Statements, p.Written = after.Statements-before.Statements, after.Written-before.Written
	return p, err
}

// wal returns the position in the WAL.
func (w *Watch) wal(ctx context.Context) (at int64, err error) {
	err = w.pool.QueryRow(ctx, `select /* bench:probe */ (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint`).Scan(&at)
	return at, err
}

// read reads the counters, on the connection of the controller. Another connection writes
// the lead, and its count may arrive at any time.
func (w *Watch) read(ctx context.Context) (p Passed, err error) {
	err = w.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if p.Written, err = meter.RowsWritten(ctx, c.Conn(), "system_locks"); err != nil {
			return err
		}
		counted, err := meter.CountStatements(ctx, c.Conn(), []string{"%pg_stat_%"})
		p.Statements = counted.Calls - counted.Excluded
		return err
	})
	return p, err
}
