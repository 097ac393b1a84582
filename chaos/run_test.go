//go:build unix

package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// shortLease is the lease of most runs: short, so that tests can wait for its end.
const shortLease = 2 * time.Second

// busy is how much longer than promised something may take on a busy machine.
const busy = 20 * time.Second

// run is one test: a database, its agents, a driver that submits, and the history of all
// of them.
type run struct {
	*testing.T
	ctx    context.Context
	pool   *pgxpool.Pool
	url    string
	rec    *Recorder
	driver *Client
	lease  time.Duration
	silent map[string]bool
	// healed is when the last fault ended.
	healed time.Time
}

// newRun gives the test a database of its own in the shared cluster.
func newRun(t *testing.T) *run {
	db := testdb.New(t)
	db.SkipDoctor("the run calls doctor(deep) itself")
	return newRunOn(t, db.Pool, db.URL)
}

func newRunOn(t *testing.T, pool *pgxpool.Pool, url string) *run {
	ctx, cancel := context.WithTimeout(context.Background(), 3*testwait.Limit)
	t.Cleanup(cancel)
	r := &run{T: t, ctx: ctx, pool: pool, url: url, rec: NewRecorder(), lease: shortLease, silent: map[string]bool{}, healed: time.Now()}
	r.driver = &Client{Name: "driver", Pool: pool, Log: r.rec.Client("driver"), Lease: r.lease}
	t.Cleanup(func() {
		if t.Failed() {
			path := filepath.Join(t.ArtifactDir(), "history.jsonl")
			t.Logf("history in %s (keep it with -artifacts): %v", path, r.rec.Save(path))
		}
	})
	return r
}

// agent starts an agent, with defaults for what the orders leave open.
func (r *run) agent(o Orders, hook Hook) *Agent {
	r.Helper()
	if o.URL == "" {
		o.URL = r.url
	}
	if o.Services == nil {
		o.Services = []string{"work"}
	}
	if o.Slots == 0 {
		o.Slots = 4
	}
	if o.Lease == 0 {
		o.Lease = r.lease
	}
	if o.Patience == 0 {
		o.Patience = time.Second
	}
	if o.Kind == "sdk" {
		r.silent[o.Name] = true
	}
	a, err := StartAgent(r.rec, o, hook)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(a.Stop)
	return a
}

// sleep is a pause of one agent at one call.
type sleep struct {
	agent *Agent
	call  Call
	wake  chan struct{}
	fell  chan struct{}
}

// sleepAt returns a hook that stops the agent with SIGSTOP at the first matching call,
// before the call is made, until resume.
func (r *run) sleepAt(fits func(Call) bool) (*sleep, Hook) {
	s := &sleep{wake: make(chan struct{}), fell: make(chan struct{})}
	return s, func(a *Agent, c Call) {
		if s.agent != nil || !fits(c) {
			return
		}
		s.agent, s.call = a, c
		if err := a.Pause(); err != nil {
			r.Errorf("pause %s: %v", a.Name, err)
		}
		close(s.fell)
		// The call gets its permission only now, because a process needs a moment to
		// stop.
		select {
		case <-s.wake:
		case <-r.Context().Done():
		}
	}
}

// asleep waits until the agent is paused.
func (r *run) asleep(s *sleep) {
	r.Helper()
	select {
	case <-s.fell:
	case <-time.After(testwait.Limit):
		r.Fatal("the agent never came to the call at which it is to be paused")
	}
}

// resume lets the agent continue with the very call at which it was stopped.
func (r *run) resume(s *sleep) {
	r.Helper()
	close(s.wake)
	if err := s.agent.Resume(); err != nil {
		r.Fatal(err)
	}
}

// pass lets time go by.
func (r *run) pass(d time.Duration) { pause(r.ctx, d) }

// workers starts n plain agents.
func (r *run) workers(n int, o Orders, hook Hook) []*Agent {
	r.Helper()
	agents := make([]*Agent, n)
	for i := range agents {
		o.Name = fmt.Sprintf("agent-%d", i+1)
		agents[i] = r.agent(o, hook)
	}
	return agents
}

// plain returns the orders of a correct agent.
func plain() Orders { return Orders{Poll: 50 * time.Millisecond, Listen: true, Tend: true} }

// submit submits n tasks, in batches, and retries until each batch is acknowledged.
func (r *run) submit(n int, spec func(i int) Spec) []string {
	r.Helper()
	const batch = 20
	var ids []string
	for i := 0; i < n; i += batch {
		var specs []Spec
		for k := i; k < min(n, i+batch); k++ {
			s := spec(k)
			s["service"] = "work"
			specs = append(specs, s)
		}
		var items []Item
		r.eventually("a submission is acknowledged", func() bool {
			got, _, err := r.driver.Submit(r.ctx, specs...)
			items = got
			return err == nil
		})
		for _, item := range items {
			ids = append(ids, item.Task)
		}
	}
	return ids
}

// workFor returns a task that takes the given time.
func workFor(d time.Duration) Spec {
	return Spec{"params": Params{WorkMS: int(d.Milliseconds())}, "backoff": "50 ms", "max_attempts": 10}
}

func short50(int) Spec { return workFor(50 * time.Millisecond) }

// eventually waits for a condition.
func (r *run) eventually(what string, cond func() bool) {
	r.Helper()
	if !r.within(testwait.Limit, cond) {
		r.Fatalf("not within %s: %s", testwait.Limit, what)
	}
}

func (r *run) within(limit time.Duration, cond func() bool) bool {
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	for !cond() {
		if !pause(ctx, 20*time.Millisecond) {
			return false
		}
	}
	return true
}

// seen waits for a matching op and returns it.
func (r *run) seen(what string, fits func(Op) bool) Op {
	r.Helper()
	var op Op
	r.eventually(what, func() (ok bool) {
		op, ok = r.rec.Find(fits)
		return ok
	})
	return op
}

// heal records that faults end here: the clock of R12 starts now.
func (r *run) heal() { r.healed = time.Now() }

// drain waits until all work has ended and returns how long that took after the faults
// ended. Work that a fault delayed must continue within the limit; the machine decides
// how long the rest takes, so the limit starts anew whenever less is left.
func (r *run) drain(limit time.Duration) (time.Duration, error) {
	for left, least := -1, -1; ; least = left {
		less := r.within(limit, func() bool {
			err := r.pool.QueryRow(r.ctx, `select (select count(*) from weir.pending) + (select count(*) from weir.available) + (select count(*) from weir.running)`).Scan(&left)
			return err == nil && (left == 0 || least < 0 || left < least)
		})
		took := time.Since(r.healed)
		switch {
		case !less:
			return took, fmt.Errorf("%d tasks are left %s after the faults ended, and none ended for %s", left, took.Round(time.Millisecond), limit)
		case left == 0:
			return took, nil
		}
	}
}

// findings judges the run: the drain, the doctor, both layers of the checker. Work that a
// fault delayed continues within two leases (R12); the rest of the limit is for a busy
// machine.
func (r *run) findings() []Finding {
	r.Helper()
	var found []Finding
	took, err := r.drain(2*r.lease + busy)
	if err != nil {
		found = append(found, Finding{ruleDrain, "", err.Error()})
	}
	r.Logf("drained %s after the faults ended", took.Round(time.Millisecond))
	found = append(found, r.doctor()...)
	e, err := Collect(r.ctx, r.pool, r.rec.Ops())
	if err != nil {
		r.Fatal(err)
	}
	e.Drained, e.Silent = true, r.silent
	found = append(found, e.Judge()...)
	found = append(found, e.Linearize()...)
	r.Logf("checked %d tasks, %d events, %d calls", len(e.Tasks), len(e.Events), len(e.History))
	return found
}

func (r *run) doctor() []Finding {
	rows, err := r.pool.Query(r.ctx, `select name, coalesce(detail, '') from weir.doctor(deep => true) where level = 'invariant' and not ok`)
	if err != nil {
		r.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f Finding, err error) {
		err = row.Scan(&f.Rule, &f.Text)
		f.Rule = "doctor: " + f.Rule
		return f, err
	})
	if err != nil {
		r.Fatal(err)
	}
	return found
}

// clean fails the test unless everything ended (R12) and nothing is found.
func (r *run) clean() {
	r.Helper()
	if found := r.findings(); len(found) > 0 {
		r.Errorf("%s", Report(found))
	}
}
