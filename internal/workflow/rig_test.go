package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// rig is a database with a store, a leader whose ticks the test calls, and a
// worker that does what the test says.
type rig struct {
	*testing.T
	db     *testdb.DB
	store  *Store
	leader *leader
	// ran are the keys in the order in which the worker took them.
	ran []string
	// does says how the work of a key ends; work without an entry is done with null.
	does map[string]func(params map[string]any) (any, error)
	// labels are those of the worker, node is its machine, if it has one.
	labels map[string]string
	node   string
	// holds is called with a lease that the worker holds, before it ends.
	holds func(lease)
}

// lease is a task that the worker holds.
type lease struct {
	task, token weir.ID
	attempt     int
	key         string
	params      map[string]any
}

func newRig(t *testing.T) *rig {
	t.Helper()
	db := testdb.New(t)
	r := &rig{T: t, db: db, store: New(db.Pool, Options{}), does: map[string]func(map[string]any) (any, error){}}
	r.leader = newLeader(Config{Pool: db.Pool, Store: r.store}, leads(t, db))
	return r
}

// leads returns the term of a coordinator that lives as long as the test.
func leads(t *testing.T, db *testdb.DB) *coordinator.Term {
	t.Helper()
	terms := make(chan *coordinator.Term, 10)
	ctx, stop := context.WithCancel(context.Background())
	c := coordinator.New(coordinator.Config{Pool: db.Pool, Loops: func(term *coordinator.Term) []loop.Loop {
		terms <- term
		return nil
	}})
	var run sync.WaitGroup
	run.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	select {
	case term := <-terms:
		return term
	case <-time.After(time.Minute):
		t.Fatal("nobody leads")
		return nil
	}
}

// user makes a user.
func (r *rig) user(name string) {
	r.Helper()
	r.exec(`insert into weir.users (id, name, role, created_at) values (gen_random_uuid(), $1, 'operator', now())`, name)
}

// put stores a definition written in YAML.
func (r *rig) put(text string) Workflow {
	r.Helper()
	d, faults := definition.Parse("test.yaml", []byte(text))
	if err := faults.Err(); err != nil {
		r.Fatal(err)
	}
	w, _, err := r.store.Put(r.Context(), "ann", d, text, PutOptions{})
	if err != nil {
		r.Fatal(err)
	}
	return w
}

func (r *rig) run(workflow string, params map[string]any) weir.ID {
	r.Helper()
	id, err := r.store.Run(r.Context(), RunRequest{Workflow: workflow, Options: definition.Options{Params: params}})
	if err != nil {
		r.Fatal(err)
	}
	return id
}

// tick runs the leader until it has nothing more to do at once.
func (r *rig) tick() {
	r.Helper()
	for more, n := true, 0; more; n++ {
		var err error
		if more, err = r.leader.tick(r.Context(), time.Now()); err != nil {
			r.Fatal(err)
		}
		if n > 1000 {
			r.Fatal("the leader never comes to rest")
		}
	}
}

// work takes all available tasks once and ends them; it reports whether there were any.
func (r *rig) work() bool {
	r.Helper()
	r.exec(`select weir.tend()`)
	labels, _ := json.Marshal(r.labels)
	if r.labels == nil {
		labels = []byte(`{}`)
	}
	if r.node != "" {
		r.exec(`select weir.register_node($1, '{}', '{"s": 100, "t": 100}')`, r.node)
	}
	r.exec(`select weir.register_worker('w', services => array['s', 't'], labels => $1::jsonb, node => nullif($2, ''))`, string(labels), r.node)
	rows, err := r.db.Pool.Query(r.Context(), `select task, attempt, token, key, params from weir.claim('w', array['s', 't'], 100)`)
	if err != nil {
		r.Fatal(err)
	}
	var leases []lease
	for rows.Next() {
		var l lease
		if err := rows.Scan(&l.task, &l.attempt, &l.token, &l.key, &l.params); err != nil {
			r.Fatal(err)
		}
		leases = append(leases, l)
	}
	if err := rows.Err(); err != nil {
		r.Fatal(err)
	}
	for _, l := range leases {
		r.ran = append(r.ran, l.key)
		if r.holds != nil {
			r.holds(l)
		}
		stem, _, _ := strings.Cut(l.key, "[")
		var result any
		var err error
		if do := r.does[l.key]; do != nil {
			result, err = do(l.params)
		} else if do := r.does[stem]; do != nil {
			result, err = do(l.params)
		}
		if err != nil {
			r.exec(`select weir.fail($1, $2, $3, $4, final => true)`, l.task, l.attempt, l.token, err.Error())
			continue
		}
		text, err := json.Marshal(result)
		if err != nil {
			r.Fatal(err)
		}
		r.exec(`select weir.finish($1, $2, $3, $4)`, l.task, l.attempt, l.token, string(text))
	}
	return len(leases) > 0
}

// until works and plans until a condition holds.
func (r *rig) until(what string, ok func() bool) {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		r.tick()
		busy := r.work()
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("never: %s\n%s", what, r.table())
		}
		if !busy {
			loop.Wait(r.Context(), 2*time.Millisecond, nil)
		}
	}
}

// ends waits for the end of a job and checks its state and the states of its
// tasks, written as "a done, b skipped".
func (r *rig) ends(job weir.ID, state, tasks string) {
	r.Helper()
	r.until("job "+job.String()+" ends", func() bool { return r.scanTime(`select finished_at from weir.job where id = $1`, job) != nil })
	if got := r.text(`select state from weir.job where id = $1`, job); got != state {
		r.Errorf("the job is %s (%s), want %s", got, r.text(`select coalesce(cause, '') from weir.job where id = $1`, job), state)
	}
	if got := r.states(job); got != tasks {
		r.Errorf("tasks: %s\nwant:  %s", got, tasks)
	}
}

func (r *rig) states(job weir.ID) string {
	return r.text(`select coalesce(string_agg(key || ' ' || state, ', ' order by position), '') from weir.task where job = $1`, job)
}

// cause returns why a task of a job is not done.
func (r *rig) cause(job weir.ID, key string) string {
	return r.text(`select coalesce((select cause from weir.task where job = $1 and key = $2), '')`, job, key)
}

func (r *rig) result(job weir.ID, key string) string {
	return r.text(`select coalesce((select result::text from weir.task where job = $1 and key = $2), 'none')`, job, key)
}

func (r *rig) task(job weir.ID, key string) weir.ID {
	id, err := weir.ParseID(r.text(`select id::text from weir.task where job = $1 and key = $2`, job, key))
	if err != nil {
		r.Fatal(err)
	}
	return id
}

func (r *rig) table() string {
	return r.text(`select coalesce(string_agg(format('%s %s %s %s %s', job, key, state, gate, cause), e'\n' order by order_seq, position), '') from weir.task`) + "\n" +
		r.text(`select coalesce(string_agg(format('%s %s %s %s', id, name, state, note), e'\n' order by order_seq), '') from weir.job`)
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	if _, err := r.db.Pool.Exec(r.Context(), sql, args...); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
}

func (r *rig) text(sql string, args ...any) (out string) {
	r.Helper()
	return scan[string](r, sql, args...)
}

func (r *rig) count(sql string, args ...any) int {
	r.Helper()
	return scan[int](r, sql, args...)
}

func (r *rig) scanTime(sql string, args ...any) *time.Time {
	r.Helper()
	return scan[*time.Time](r, sql, args...)
}

func scan[T any](r *rig, sql string, args ...any) (out T) {
	r.Helper()
	if err := r.db.Pool.QueryRow(r.Context(), sql, args...).Scan(&out); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
	return out
}

func gives(result any) func(map[string]any) (any, error) {
	return func(map[string]any) (any, error) { return result, nil }
}

func fails(text string) func(map[string]any) (any, error) {
	return func(map[string]any) (any, error) { return nil, errors.New(text) }
}

// echoes returns its params.
func echoes(params map[string]any) (any, error) { return params, nil }

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
