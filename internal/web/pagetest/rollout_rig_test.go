package pagetest_test

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/webtest"
)

// harbour is a dashboard with databases that rollouts change: real ones, in the
// cluster of the test.
type harbour struct {
	testing.TB
	*webtest.Server
	addresses map[string]string
}

func newHarbour(t testing.TB) *harbour {
	t.Helper()
	return &harbour{TB: t, Server: webtest.Start(t), addresses: map[string]string{}}
}

// berth makes an empty database; it goes with the test.
func (h *harbour) berth(name string) string {
	h.Helper()
	u, err := url.Parse(h.DB.URL)
	if err != nil {
		h.Fatal(err)
	}
	own := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1) + "_" + name
	h.Exec(h, `create database `+pgx.Identifier{own}.Sanitize())
	h.Cleanup(func() {
		if _, err := h.DB.Pool.Exec(context.Background(), `drop database if exists `+pgx.Identifier{own}.Sanitize()+` with (force)`); err != nil {
			h.Error(err)
		}
	})
	u.Path = "/" + own
	h.addresses[name] = u.String()
	return u.String()
}

// target makes a database and registers it.
func (h *harbour) target(environment string, names ...string) {
	h.Helper()
	for _, name := range names {
		d, err := h.Rollouts.PutDatabase(h.Context(), "ann", rollout.Database{Name: name, Engine: "postgres", Environment: environment}, h.berth(name))
		if err != nil || d.Fault != "" {
			h.Fatalf("register %s: %v %s", name, err, d.Fault)
		}
	}
}

// paper registers databases that nobody ever reaches.
func (h *harbour) paper(environment string, names ...string) {
	h.Helper()
	for _, name := range names {
		if _, err := h.DB.Pool.Exec(h.Context(), `select weir.rollout_put_database($1, 'postgres', $2, 'NONE')`, name, environment); err != nil {
			h.Fatal(err)
		}
	}
}

// in runs a statement in a database.
func (h *harbour) in(name, sql string) *pgx.Conn {
	h.Helper()
	c, err := pgx.Connect(h.Context(), h.addresses[name])
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = c.Close(context.Background()) })
	if _, err := c.Exec(h.Context(), sql); err != nil {
		h.Fatalf("%s: %v", sql, err)
	}
	return c
}

func (h *harbour) create(p rollout.Plan) rollout.Rollout {
	h.Helper()
	if p.Name == "" {
		p.Name = "orders"
	}
	x, err := h.Rollouts.Create(h.Context(), "ann", p, "")
	if err != nil {
		h.Fatal(err)
	}
	return x
}

func (h *harbour) must(a rollout.Answer, err error) {
	h.Helper()
	if err != nil || !a.Changed {
		h.Fatalf("%+v, %v", a, err)
	}
}

// task is a task of a rollout by its key.
func (h *harbour) task(x rollout.Rollout, key string) rollout.Task {
	h.Helper()
	list, err := h.Rollouts.TaskPage(h.Context(), x.ID, rollout.TaskFilter{}, view.Page{Limit: 1000})
	if err != nil {
		h.Fatal(err)
	}
	var keys []string
	for _, t := range list {
		if t.Key == key {
			return t
		}
		keys = append(keys, t.Key)
	}
	h.Fatalf("no task %s in %v", key, keys)
	return rollout.Task{}
}

func (h *harbour) status(x rollout.Rollout, key, status string) {
	h.Helper()
	testwait.Until(h, key+" is "+status, func() bool { return h.task(x, key).Status == status })
}

// executes runs an executor, and the leader beside it, until the test ends.
func (h *harbour) executes() {
	h.Helper()
	h.Lead(h)
	client, err := weir.New(h.DB.Pool, nil)
	if err != nil {
		h.Fatal(err)
	}
	w := weir.NewWorker(client, weir.WorkerConfig{PollFloor: time.Second, Grace: 100 * time.Millisecond})
	rollout.Handle(w, rollout.ExecutorConfig{Store: h.Rollouts, Concurrency: 4})
	ctx, end := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := w.Run(ctx); err != nil {
			h.Error(err)
		}
	})
	h.Cleanup(func() { end(); run.Wait(); client.Close() })
}

// lose claims a task by hand, says that its change was sent, and lets the lease
// run out: nobody knows what became of it.
func (h *harbour) lose(x rollout.Rollout, key string) rollout.Task {
	h.Helper()
	t := h.task(x, key)
	var attempt int
	var token weir.ID
	pool := h.DB.Pool
	h.Exec(h, `select weir.tend(sweep => true)`)
	if err := pool.QueryRow(h.Context(), `select attempt, token from weir.claim('hand', array['rollout'], 100) where task = $1`, t.ID).Scan(&attempt, &token); err != nil {
		h.Fatal(err)
	}
	var ours bool
	if _, err := pool.Exec(h.Context(), `select weir.rollout_brief($1, $2, $3, 'hand')`, t.ID, attempt, token); err != nil {
		h.Fatal(err)
	}
	if err := pool.QueryRow(h.Context(), `select weir.rollout_phase($1, $2, $3, 'sent')`, t.ID, attempt, token).Scan(&ours); err != nil || !ours {
		h.Fatal(ours, err)
	}
	if _, err := pool.Exec(h.Context(), `update weir.running set until = clock_timestamp() - interval '1 s' where task = $1`, t.ID); err != nil {
		h.Fatal(err)
	}
	h.Exec(h, `select weir.tend()`)
	h.AtEnd(func() {
		_, _ = pool.Exec(context.Background(), `select weir.stop_worker('hand')`) // it may be gone
	})
	h.status(x, key, rollout.Unknown)
	return h.task(x, key)
}

func file(name, text string) rollout.File { return rollout.File{Name: name, Text: text} }
