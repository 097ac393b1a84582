//go:build unix

package chaos

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/vault"
)

// The stages of a task of the flow, in the order in which a reader sees them.
const (
	flowUnseen byte = iota
	flowSubmitted
	flowClaimed
	flowDone
)

// flow sends many tasks through an engine in ordinary operation: clients that submit
// inside their own transactions, which stay open for a while, beside a steady plain flow;
// servers that come and go; and a reader with a cursor.
type flow struct {
	*site
	wide *pgxpool.Pool
	want int
	rng  *rand.Rand

	mu sync.Mutex
	// promised are the tasks whose submission was acknowledged by a commit.
	promised map[[16]byte]bool
	ended    atomic.Int64
	restarts int
	// raised is set when a floor has risen. Long transactions of other tests on the same
	// server delay that, so the flow goes on until then.
	raised atomic.Bool
}

// newSiteOf gives a run what it takes to start the product's own servers.
func newSiteOf(t *testing.T, limit time.Duration) *site {
	t.Helper()
	s := &site{run: newRun(t)}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	s.ctx = ctx
	keys := filepath.Join(t.TempDir(), "secret.key")
	if _, err := vault.LoadKeys(keys, true); err != nil {
		t.Fatal(err)
	}
	s.environment = append(os.Environ(), "WEIR_DATABASE_URL="+s.url, "WEIR_SECRET_KEY_FILE="+keys,
		"WEIR_DATA="+t.TempDir(), "WEIR_COORDINATOR_TTL=3s", "WEIR_COORDINATOR_ACTIVE_INTERVAL=100ms")
	return s
}

func newFlow(t *testing.T, tasks int, seed uint64, limit time.Duration) *flow {
	t.Helper()
	f := &flow{site: newSiteOf(t, limit), want: tasks, rng: rand.New(rand.NewPCG(seed, 0)), promised: map[[16]byte]bool{}}
	config, err := pgxpool.ParseConfig(f.url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 60
	if f.wide, err = pgxpool.NewWithConfig(f.ctx, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.wide.Close)
	return f
}

// promise records tasks whose submission has committed and returns whether there are
// enough.
func (f *flow) promise(ids [][16]byte) (enough bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.promised[id] = true
	}
	return len(f.promised) >= f.want
}

// enough reports whether all that was wanted is submitted, and a floor rose meanwhile.
func (f *flow) enough() bool { return f.promise(nil) && f.raised.Load() }

const flowSubmit = `select task from weir.submit_many((select jsonb_agg(jsonb_build_object('service', 'flow', 'priority', i % 2)) from generate_series(1, $1) i), false)`

// slowClient submits in transactions of 0.1 to 2 s, some of which are rolled back.
func (f *flow) slowClient(rng *rand.Rand, most int) {
	for !f.enough() && f.ctx.Err() == nil {
		err := pgx.BeginFunc(f.ctx, f.wide, func(tx pgx.Tx) error {
			rows, err := tx.Query(f.ctx, flowSubmit, 1+rng.IntN(most))
			if err != nil {
				return err
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[[16]byte])
			if err != nil {
				return err
			}
			pause(f.ctx, 100*time.Millisecond+rand.N(1900*time.Millisecond))
			if rng.IntN(10) == 0 {
				return tx.Rollback(f.ctx)
			}
			if err := tx.Commit(f.ctx); err != nil {
				return err
			}
			f.promise(ids)
			return nil
		})
		if err != nil && !errors.Is(err, pgx.ErrTxClosed) && f.ctx.Err() == nil {
			f.Errorf("a client that submits: %v", err)
			return
		}
	}
}

// plainFlow submits a thousand a second.
func (f *flow) plainFlow() {
	const batch = 100
	for !f.enough() && f.ctx.Err() == nil {
		rows, err := f.wide.Query(f.ctx, flowSubmit, batch)
		if err == nil {
			var ids [][16]byte
			if ids, err = pgx.CollectRows(rows, pgx.RowTo[[16]byte]); err == nil {
				f.promise(ids)
			}
		}
		if err != nil && f.ctx.Err() == nil {
			f.Errorf("the plain flow: %v", err)
			return
		}
		pause(f.ctx, time.Second*batch/1000)
	}
}

// worker claims and finishes until ctx ends.
func (f *flow) worker(ctx context.Context, name string) {
	for ctx.Err() == nil {
		var n int64
		err := f.wide.QueryRow(ctx, `with c as materialized (select task, attempt, token from weir.claim($1, '{flow}', 500)), a as (
			select array_agg(task) as tasks, array_agg(attempt) as attempts, array_agg(token) as tokens, count(*) as n from c)
			select a.n - (select count(*) from weir.finish_many(a.tasks, a.attempts, a.tokens, hint => false)) from a`, name).Scan(&n)
		if err != nil && ctx.Err() == nil {
			f.Errorf("%s: %v", name, err)
			return
		}
		if f.ended.Add(n); n == 0 {
			pause(ctx, 20*time.Millisecond)
		}
	}
}

// tender tends the engine beside the servers, so that floors rise often.
func (f *flow) tender(ctx context.Context) {
	for pause(ctx, time.Second) {
		if _, err := f.wide.Exec(ctx, `select weir.tend(true)`); err != nil && ctx.Err() == nil {
			f.Errorf("tend: %v", err)
		}
		var raised bool
		if err := f.wide.QueryRow(ctx, `select exists (select from weir.classes where floor > 0)`).Scan(&raised); err == nil && raised {
			f.raised.Store(true)
		}
	}
}

// turnover stops one server after the other, in an orderly way or with -9, and starts the
// next one first.
func (f *flow) turnover(ctx context.Context, every time.Duration) {
	old := f.server()
	for pause(ctx, every) {
		next := f.server()
		how := syscall.SIGTERM
		if f.rng.IntN(2) == 0 {
			how = syscall.SIGKILL
		}
		_ = old.Signal(how) // it may have ended
		old = next
		f.restarts++
	}
}

// reader follows the timeline by its cursor and records the stage of each task.
type reader struct {
	stage  map[[16]byte]byte
	cursor string
	events int
	found  []Finding
}

// flowTypes are the events of a task of the flow, with the stage it comes to.
var flowTypes = map[string]byte{"submitted": flowSubmitted, "claimed": flowClaimed, "done": flowDone}

func (r *reader) read(ctx context.Context, pool *pgxpool.Pool) (n int, err error) {
	rows, err := pool.Query(ctx, `select cursor, type, task from weir.events_after($1, 2000)`, r.cursor)
	if err != nil {
		return 0, err
	}
	var cursor, typ string
	var task *[16]byte
	last := r.cursor
	_, err = pgx.ForEachRow(rows, []any{&cursor, &typ, &task}, func() error {
		n++
		last = cursor
		stage, known := flowTypes[typ]
		if task == nil || !known {
			return nil
		}
		r.events++
		if was := r.stage[*task]; was != stage-1 && len(r.found) < 10 {
			r.found = append(r.found, Finding{ruleCursor, hex.EncodeToString(task[:]), fmt.Sprintf("event %s came at stage %d: it was seen twice, or out of order, or one was missed", typ, was)})
		}
		r.stage[*task] = stage
		return nil
	})
	if err == nil {
		r.cursor = last // a page is complete or is read again
	}
	return n, err
}

// pass40 runs the flow and returns what is wrong afterwards.
func (f *flow) pass40(clients, most int, every time.Duration) []Finding {
	f.Helper()
	seen := &reader{stage: map[[16]byte]byte{}, cursor: "0.0"}
	reading, stopReading := context.WithCancel(f.ctx)
	working, stopWorking := context.WithCancel(f.ctx)
	defer stopWorking()
	defer stopReading()
	var submitters, workers, follower sync.WaitGroup
	follower.Go(func() {
		for reading.Err() == nil {
			n, err := seen.read(reading, f.wide)
			if err != nil && reading.Err() == nil {
				f.Errorf("the reader: %v", err)
				return
			}
			if n == 0 {
				pause(reading, 50*time.Millisecond)
			}
		}
	})
	for i := range 4 {
		workers.Go(func() { f.worker(working, fmt.Sprintf("flow-%d", i)) })
	}
	workers.Go(func() { f.tender(working) })
	for i := range clients {
		rng := rand.New(rand.NewPCG(f.rng.Uint64(), uint64(i)))
		submitters.Go(func() { f.slowClient(rng, most) })
	}
	submitters.Go(f.plainFlow)
	serving, stopServing := context.WithCancel(f.ctx)
	turned := make(chan struct{})
	go func() { submitters.Wait(); stopServing(); close(turned) }()
	f.turnover(serving, every)
	<-turned

	// Every promised task must end; a task that no worker can see would not.
	left := func() (n int) {
		if err := f.wide.QueryRow(f.ctx, `select (select count(*) from weir.pending) + (select count(*) from weir.available) + (select count(*) from weir.running)`).Scan(&n); err != nil {
			f.Fatal(err)
		}
		return n
	}
	for last, since := -1, time.Now(); ; {
		n := left()
		if n == 0 || time.Since(since) > 30*time.Second || f.ctx.Err() != nil {
			break
		}
		if n != last {
			last, since = n, time.Now()
		}
		pause(f.ctx, 100*time.Millisecond)
	}
	stopWorking()
	workers.Wait()
	stopReading()
	follower.Wait()
	// A reader stays behind the oldest transaction of the whole server, and other tests have long ones.
	f.eventually("all events can be read", func() (settled bool) {
		err := f.wide.QueryRow(f.ctx, `select coalesce(max(xid), 0) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint from weir.events`).Scan(&settled)
		return err == nil && settled
	})
	for {
		n, err := seen.read(f.ctx, f.wide)
		if err != nil {
			f.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	return append(seen.found, f.compare(seen)...)
}

// compare compares what was promised with what the reader saw.
func (f *flow) compare(seen *reader) (found []Finding) {
	lost := 0
	for id := range f.promised {
		if seen.stage[id] != flowDone {
			if lost++; lost <= 5 {
				found = append(found, Finding{ruleLost, hex.EncodeToString(id[:]), fmt.Sprintf("its submission was acknowledged, and it came to stage %d of %d", seen.stage[id], flowDone)})
			}
		}
	}
	ghosts := 0
	for id := range seen.stage {
		if !f.promised[id] {
			ghosts++
		}
	}
	if ghosts > 0 {
		found = append(found, Finding{ruleLost, "", fmt.Sprintf("%d tasks ran that nobody was promised", ghosts)})
	}
	if !f.raised.Load() {
		found = append(found, Finding{"nothing was tested", "", "no floor rose"})
	}
	f.Logf("measured: %d tasks, %d lost; a reader with a cursor saw %d events, each once and in order: %v; %d servers were replaced meanwhile",
		len(f.promised), lost, seen.events, len(seen.found) == 0, f.restarts)
	return found
}

// TestR2R8_OpenSubmitters is a small flow: no acknowledged task is lost, although
// transactions that submit are open while floors rise and servers change, and a reader
// sees every event once and in order.
func TestR2R8_OpenSubmitters(t *testing.T) {
	t.Parallel()
	const seed = 1
	t.Logf("seed %d", seed)
	f := newFlow(t, 6000, seed, 5*time.Minute)
	if found := f.pass40(20, 20, 2*time.Second); len(found) > 0 {
		t.Error(Report(found))
	}
	if found := f.doctor(); len(found) > 0 {
		t.Error(strings.TrimSpace(Report(found)))
	}
}
