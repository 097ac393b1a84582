package rollout

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/vault"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// rig is a Weir with its store, and databases that are real.
type rig struct {
	*testing.T
	db    *testdb.DB
	store *Store
	vault *vault.Vault
	made  int
	// leader is the one that resolves, once somebody asked for it.
	leader *leader
}

func newRig(t *testing.T) *rig {
	t.Helper()
	db := testdb.New(t)
	keys, err := vault.LoadKeys(filepath.Join(t.TempDir(), "secret.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, db: db, vault: vault.New(db.Pool, keys, nil)}
	r.store = New(db.Pool, Options{Vault: r.vault})
	// Whatever a test did: the holds of what lives are those that they should be.
	t.Cleanup(func() {
		if _, err := db.Pool.Exec(context.Background(), `select weir.stop_worker('hand')`); err != nil {
			t.Error(err)
		}
		var n int
		if err := db.Pool.QueryRow(context.Background(), `select weir.rollout_sweep()`).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d holds were not what they should be: %v", n, err)
		}
	})
	return r
}

// address is that of a database of the test's cluster.
func (r *rig) address(name string) string {
	u, err := url.Parse(r.db.URL)
	if err != nil {
		r.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// target makes an empty database and registers it.
func (r *rig) target(name, environment string) string {
	r.Helper()
	address := r.empty(name)
	d, err := r.store.PutDatabase(r.Context(), "ann", Database{Name: name, Engine: "postgres", Environment: environment}, address)
	if err != nil {
		r.Fatal(err)
	}
	if d.Fault != "" || d.Identity == "" {
		r.Fatalf("database %s: %+v", name, d)
	}
	return address
}

// empty makes an empty database, which goes with the test.
func (r *rig) empty(name string) string {
	r.Helper()
	u, err := url.Parse(r.db.URL)
	if err != nil {
		r.Fatal(err)
	}
	own := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1) + "_" + name
	r.exec(`create database ` + pgx.Identifier{own}.Sanitize())
	r.Cleanup(func() {
		if _, err := r.db.Pool.Exec(context.Background(), `drop database if exists `+pgx.Identifier{own}.Sanitize()+` with (force)`); err != nil {
			r.Error(err)
		}
	})
	return r.address(own)
}

// register adds databases that nobody ever reaches: for tests of what comes before.
func (r *rig) register(environment string, names ...string) {
	r.Helper()
	for _, name := range names {
		r.exec(`select weir.rollout_put_database($1, 'postgres', $2, 'NONE')`, name, environment)
	}
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.db.Pool.Exec(r.Context(), sql, args...); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}

func (r *rig) scan(into any, sql string, args ...any) {
	r.Helper()
	if err := r.db.Pool.QueryRow(r.Context(), sql, args...).Scan(into); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}

// in runs a statement in a target and gives its one value.
func (r *rig) in(address, sql string) string {
	r.Helper()
	c, err := pgx.Connect(r.Context(), address)
	if err != nil {
		r.Fatal(err)
	}
	defer c.Close(r.Context())
	var out string
	if err := c.QueryRow(r.Context(), sql).Scan(&out); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		r.Fatalf("%s: %v", sql, err)
	}
	return out
}

// ddl is a change that makes a table of its own.
func ddl(version int) script.Change {
	return change(fmt.Sprint(version), script.DDL, fmt.Sprintf("create table t%d (id int);", version))
}

func change(version string, kind script.Kind, sql string) script.Change {
	return script.Change{Version: version, Name: "change_" + version, Kind: kind, SQL: sql, Checksum: script.Checksum(sql), Transaction: true}
}

func (r *rig) create(p Plan) Rollout {
	r.Helper()
	r.made++
	if p.Name == "" {
		p.Name = fmt.Sprintf("rollout %d", r.made)
	}
	out, err := r.store.Create(r.Context(), "ann", p, "")
	if err != nil {
		r.Fatal(err)
	}
	return out
}

// must is for commands that are carried out.
func (r *rig) must(a Answer, err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	if !a.Changed {
		r.Fatalf("nothing changed: %s", a.Text)
	}
}

// refused is for commands that are not; it gives what and next.
func (r *rig) refused(a Answer, err error) *problem.Problem {
	r.Helper()
	if err == nil {
		r.Fatalf("it was not refused: %+v", a)
	}
	p := problem.Explain(err)
	if p.Kind != problem.Conflict && p.Kind != problem.Invalid && p.Kind != problem.NotFound {
		r.Fatalf("not a refusal: %v", err)
	}
	return p
}

func (r *rig) started(p Plan) Rollout {
	r.Helper()
	out := r.create(p)
	r.must(r.store.Start(r.Context(), "ann", out.ID))
	return out
}

func (r *rig) task(id weir.ID, key string) Task {
	r.Helper()
	list, err := r.tasks(Rollout{ID: id})
	if err != nil {
		r.Fatal(err)
	}
	for _, t := range list {
		if t.Key == key {
			return t
		}
	}
	r.Fatalf("no task %s in %v", key, list)
	return Task{}
}

// statuses are those of all tasks, by key, in the order of the plan.
func (r *rig) statuses(id weir.ID) string {
	r.Helper()
	list, err := r.tasks(Rollout{ID: id})
	if err != nil {
		r.Fatal(err)
	}
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "%s %s\n", t.Key, t.Status)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (r *rig) want(id weir.ID, statuses ...string) {
	r.Helper()
	if got := r.statuses(id); got != strings.Join(statuses, "\n") {
		r.Fatalf("tasks:\n%s\nwanted:\n%s", got, strings.Join(statuses, "\n"))
	}
}

func (r *rig) state(id weir.ID, want string) Rollout {
	r.Helper()
	out, err := r.store.Rollout(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	if out.State != want {
		r.Fatalf("the rollout is %s (%s), wanted %s:\n%s", out.State, out.Waits, want, r.statuses(id))
	}
	return out
}

// open does what the leader does when it hears a hint.
func (r *rig) open() {
	r.Helper()
	r.exec(`select weir.tend(sweep => true)`)
}

// claim takes one available task as an executor would.
func (r *rig) claim(key string) lease {
	r.Helper()
	all := r.claims(100)
	l, ok := all[key]
	if !ok {
		r.Fatalf("%s was not available; these were: %v", key, all)
	}
	return l
}

// claims takes what is available, by key.
func (r *rig) claims(n int) map[string]lease {
	r.Helper()
	r.open()
	rows, err := r.db.Pool.Query(r.Context(), `select task, attempt, token, key from weir.claim('hand', array['rollout'], $1)`, n)
	if err != nil {
		r.Fatal(err)
	}
	out := map[string]lease{}
	for rows.Next() {
		var l lease
		var key string
		if err := rows.Scan(&l.task, &l.attempt, &l.token, &key); err != nil {
			r.Fatal(err)
		}
		out[key] = l
	}
	if err := rows.Err(); err != nil {
		r.Fatal(err)
	}
	return out
}

// done ends a lease well, fail badly, as an executor would.
func (r *rig) done(l lease) {
	r.Helper()
	r.brief(l)
	if _, err := r.store.ended(r.Context(), l, "", false, "", "", nil); err != nil {
		r.Fatal(err)
	}
	var answer string
	r.scan(&answer, `select weir.finish($1, $2, $3)`, l.task, l.attempt, l.token)
	if answer != "ok" {
		r.Fatal(answer)
	}
}

func (r *rig) fail(l lease, code string) {
	r.Helper()
	r.brief(l)
	if _, err := r.store.ended(r.Context(), l, code, false, "it broke", "", nil); err != nil {
		r.Fatal(err)
	}
	r.exec(`select weir.fail($1, $2, $3, 'it broke', final => true)`, l.task, l.attempt, l.token)
}

func (r *rig) brief(l lease) order {
	r.Helper()
	o, err := r.store.brief(r.Context(), l, "hand")
	if err != nil {
		r.Fatal(err)
	}
	return o
}

// lose lets the lease run out after the run came so far.
func (r *rig) lose(l lease, phase string) {
	r.Helper()
	r.brief(l)
	if phase != "claimed" {
		if ours, err := r.store.phase(r.Context(), l, phase); err != nil || !ours {
			r.Fatal(ours, err)
		}
	}
	r.expire(l)
}

// expire ends the lease of an executor that is never heard of again.
func (r *rig) expire(l lease) {
	r.Helper()
	r.exec(`update weir.running set until = clock_timestamp() - interval '1 s' where task = $1`, l.task)
	r.exec(`select weir.tend()`)
}

// leads gives the term of a coordinator that lives as long as the test.
func (r *rig) leads() *leader {
	r.Helper()
	terms := make(chan *coordinator.Term, 10)
	ctx, stop := context.WithCancel(context.Background())
	c := coordinator.New(coordinator.Config{Pool: r.db.Pool, Loops: func(term *coordinator.Term) []loop.Loop {
		terms <- term
		return nil
	}})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	r.Cleanup(func() { stop(); run.Wait() })
	select {
	case term := <-terms:
		return newLeader(Config{Pool: r.db.Pool, Store: r.store}, term)
	case <-time.After(testwait.Limit):
		r.Fatal("nobody leads")
		return nil
	}
}

// executes runs an executor with its worker until the test ends.
func (r *rig) executes(concurrency int) {
	r.Helper()
	r.Cleanup(r.executor(concurrency))
}

// executor runs one until it is stopped, which may be said twice.
func (r *rig) executor(concurrency int) (stop func()) {
	r.Helper()
	client, err := weir.New(r.db.Pool, nil)
	if err != nil {
		r.Fatal(err)
	}
	w := weir.NewWorker(client, weir.WorkerConfig{PollFloor: time.Second, Grace: 100 * time.Millisecond})
	Handle(w, ExecutorConfig{Store: r.store, Concurrency: concurrency})
	ctx, end := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := w.Run(ctx); err != nil {
			r.Error(err)
		}
	})
	return sync.OnceFunc(func() { end(); run.Wait(); client.Close() })
}

// until waits for something that must come.
func (r *rig) until(what string, ok func() bool) {
	r.Helper()
	testwait.Every(r, 20*time.Millisecond, what, ok)
}

// tasks are all of a rollout, in the order of the plan.
func (r *rig) tasks(x Rollout) ([]Task, error) {
	local := op.Local{Stores: []any{r.store}, Who: func(context.Context) auth.Subject { return auth.System("test") }}
	return op.Each(r.Context(), local, ListTasks, ListingTasks{Named: Named{Rollout: x.ID.String()}})
}
