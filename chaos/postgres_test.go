//go:build unix

package chaos

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/pg"
)

// newServerRun returns a run on its own server.
func newServerRun(t *testing.T) (*run, *Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s, err := NewServer(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	pool, err := pg.Open(ctx, s.URL(), pg.Options{Name: "driver"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return newRunOn(t, pool, s.URL()), s
}

// TestR1_PostgresKilled kills every process of PostgreSQL with -9, several times, while
// agents work and a driver submits. Every acknowledged submission and report is there
// afterwards.
func TestR1_PostgresKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Fatal("this test finds the server's processes in /proc: run it on Linux")
	}
	t.Parallel()
	r, s := newServerRun(t)
	r.workers(2, plain(), nil)
	r.agent(with(plain(), func(o *Orders) { o.Name, o.Kind = "sdk", "sdk" }), nil)
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	var submitter sync.WaitGroup
	submitter.Go(func() {
		c := &Client{Name: "submitter", Pool: r.pool, Log: r.rec.Client("submitter")}
		for pause(ctx, 5*time.Millisecond) {
			_, _, _ = c.Submit(ctx, Spec{"service": "work"}) // the checker finds out whether it was lost
		}
	})
	for range 4 {
		r.submit(60, func(i int) Spec { return workFor(time.Duration(i%3) * 20 * time.Millisecond) })
		before := len(r.rec.Ops())
		r.eventually("reports are under way", func() bool { return len(r.rec.Ops()) > before+40 })
		began := time.Now()
		if err := s.Kill(r.ctx); err != nil {
			r.Fatal(err)
		}
		r.Logf("killed PostgreSQL; it answers again after %s", time.Since(began).Round(time.Millisecond))
	}
	stop()
	submitter.Wait()
	if s.URL() != r.url {
		r.Fatal("the server came back at another address")
	}
	r.heal()
	r.submit(20, short50)
	r.clean()
	acknowledged := 0
	for _, o := range r.rec.Ops() {
		if (o.Op == "submit" || o.Op == "finish") && o.Out == OK {
			acknowledged++
		}
	}
	if !r.Failed() { // else the findings above say which
		r.Logf("measured: Postgres kill -9 ×4 → 0 of %d acknowledged writes lost", acknowledged)
	}
}

// TestR12_BackendsTerminated terminates random connections while work continues.
func TestR12_BackendsTerminated(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.workers(2, plain(), nil)
	r.agent(with(plain(), func(o *Orders) { o.Name, o.Kind = "sdk", "sdk" }), nil)
	r.submit(150, func(i int) Spec { return workFor(time.Duration(i%4) * 20 * time.Millisecond) })
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until) && pause(r.ctx, 50*time.Millisecond); {
		r.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'chaos %' order by random() limit 1`)
	}
	r.heal()
	r.submit(20, short50)
	r.clean()
}

// TestR13_ListenCut terminates every LISTEN connection as soon as it appears. All work
// continues at the speed of polling.
func TestR13_ListenCut(t *testing.T) { both(t, listenCut) }

func listenCut(r *run, o Orders) {
	// The SDK's worker polls every second when it receives no hints.
	o.Poll = 200 * time.Millisecond
	r.workers(2, o, nil)
	cut := func() {
		r.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = $1`, listenName)
	}
	for range 5 {
		cut()
		task := r.submit(1, func(int) Spec { return workFor(0) })[0]
		began := time.Now()
		r.eventually("a task runs without a hint", func() bool {
			cut()
			_, ran := r.rec.Find(func(o Op) bool { return o.Op == "run" && o.Task == task })
			return ran
		})
		// A worker that trusts its hints polls every 30 s.
		if took := time.Since(began); took > busy {
			r.Errorf("without LISTEN a task waited %s, agents poll every second or more often", took)
		}
	}
	r.heal()
	r.clean()
}

// TestR13_ListenNeverWorks runs agents that never receive a hint, as behind a pooler in
// transaction mode.
func TestR13_ListenNeverWorks(t *testing.T) {
	both(t, func(r *run, o Orders) {
		o.Listen = false
		r.workers(2, o, nil)
		r.submit(60, short50)
		r.pass(time.Second)
		r.submit(20, short50)
		r.heal()
		r.clean()
	})
}

// TestR12_HotRowsLocked locks rows of the hot tables for a while. Claims skip them,
// nothing breaks, and all work continues when they are free.
func TestR12_HotRowsLocked(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.submit(60, func(int) Spec { return workFor(30 * time.Millisecond) })
	r.workers(2, plain(), nil)
	for range 3 {
		tx, err := r.pool.Begin(r.ctx)
		if err != nil {
			r.Fatal(err)
		}
		for _, lock := range []string{`select from weir.available for update skip locked`, `select from weir.running for update skip locked`} {
			if _, err := tx.Exec(r.ctx, lock); err != nil {
				r.Fatal(err)
			}
		}
		r.pass(600 * time.Millisecond)
		if err := tx.Rollback(r.ctx); err != nil {
			r.Fatal(err)
		}
		r.submit(10, short50)
	}
	r.heal()
	r.clean()
}

func (r *run) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.pool.Exec(r.ctx, sql, args...); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}
