package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// watch counts while others work, and remembers the most that it saw.
func (d *desk) watch(stop <-chan struct{}, most *[2]int) {
	for {
		var mine, every int
		if err := d.db.Pool.QueryRow(context.WithoutCancel(d.Context()), `select coalesce(max(n) filter (where owner is not null), 0), coalesce(max(n) filter (where owner is null), 0) from (
			select owner, count(*) as n from weir.workspaces where deleted_at is null and (phase = 'RUNNING' or desired = 'RUNNING') group by grouping sets ((owner), ())) x`).Scan(&mine, &every); err != nil {
			d.Error(err)
			return
		}
		most[0], most[1] = max(most[0], mine), max(most[1], every)
		select {
		case <-stop:
			return
		default:
		}
	}
}

// 200 starts at once, of ten people with twenty workspaces each: as many as may run, and
// never one more, at any moment and at any isolation.
func TestTwoHundredStartsAtOnce(t *testing.T) {
	for name, isolation := range map[string]pgx.TxIsoLevel{"read committed": pgx.ReadCommitted, "repeatable read": pgx.RepeatableRead} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			_, err := d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{InAll: new(15)})
			d.ok(err)
			var ids []weir.ID
			for u := range 10 {
				d.owner = d.user(fmt.Sprint("user", u))
				for n := range 20 {
					ids = append(ids, d.create(fmt.Sprint("w", n), ladder.Standby))
				}
			}
			stop, most := make(chan struct{}), [2]int{}
			var watcher, starts sync.WaitGroup
			watcher.Go(func() { d.watch(stop, &most) })
			var started, over atomic.Int32
			for _, id := range ids {
				starts.Go(func() {
					for {
						err := pgx.BeginTxFunc(t.Context(), d.db.Pool, pgx.TxOptions{IsoLevel: isolation}, func(tx pgx.Tx) error {
							_, err := tx.Exec(t.Context(), `select weir.workspace_want($1, 'RUNNING', 'ann')`, id)
							return err
						})
						var state *pgconn.PgError
						switch {
						case err == nil:
							started.Add(1)
						case errors.As(err, &state) && state.Code == "40001":
							continue
						case problem.Explain(err).Kind == problem.TooMany:
							over.Add(1)
						default:
							t.Error(err)
						}
						return
					}
				})
			}
			starts.Wait()
			close(stop)
			watcher.Wait()
			running := d.count(`select count(*) from weir.workspaces where desired = 'RUNNING'`)
			if running != 15 || started.Load() != 15 || over.Load() != 185 || most[0] > 2 || most[1] > 15 {
				t.Errorf("%d run, %d were let in, %d were refused; at most %d of one and %d of all were seen to", running, started.Load(), over.Load(), most[0], most[1])
			}
		})
	}
}

// Starts, stops and looks in any order: what is seen to run counts as long as it does.
func TestLimitsHoldWhileThingsStopAndAreSeen(t *testing.T) {
	d := newDesk(t)
	var ids []weir.ID
	for n := range 6 {
		ids = append(ids, d.standing(fmt.Sprint("w", n)))
	}
	stop, most := make(chan struct{}), [2]int{}
	var watcher, workers sync.WaitGroup
	watcher.Go(func() { d.watch(stop, &most) })
	for _, id := range ids {
		workers.Go(func() {
			for range 40 {
				for _, sql := range []string{
					`select weir.workspace_want($1, 'RUNNING', 'ann')`,
					// It is seen to run only if that is wanted, as a controller would have it.
					`select weir.workspace_see(jsonb_build_array(jsonb_build_object('id', id, 'conditions', conditions, 'phase', 'RUNNING', 'generation', generation))) from weir.workspaces where id = $1 and desired = 'RUNNING'`,
					`select weir.workspace_want($1, 'STANDBY', 'ann')`,
					`select weir.workspace_want($1, 'RUNNING', 'ann')`,
					`select weir.workspace_want($1, 'STANDBY', 'ann')`,
					`select weir.workspace_see(jsonb_build_array(jsonb_build_object('id', id, 'conditions', conditions, 'phase', 'STANDBY', 'generation', generation))) from weir.workspaces where id = $1 and desired = 'STANDBY'`,
				} {
					_, err := d.db.Pool.Exec(t.Context(), sql, id)
					if err != nil && problem.Explain(err).Kind != problem.TooMany {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	watcher.Wait()
	if most[0] > 2 {
		t.Errorf("%d were seen to run", most[0])
	}
}

// Who is refused learns whose limit it is, and what to stop.
func TestWhoIsRefusedLearnsWhatRuns(t *testing.T) {
	d := newDesk(t)
	first, second := d.running("first"), d.create("second", ladder.Running)
	third := d.standing("third")
	_, err := d.store.Want(t.Context(), third, ladder.Running, "ann", "")
	p := d.problem(problem.TooMany, err)
	l, over := workspace.LimitOf(err)
	want := []workspace.Runs{{ID: first, Name: "first", Phase: ladder.Running}, {ID: second, Name: "second", Phase: ladder.Pending}}
	if !over || l.Type != "user" || l.Current != 2 || l.Max != 2 || len(l.Running) != 2 || l.Running[0] != want[0] || l.Running[1] != want[1] || p.Kind.Status() != 429 || p.Next != "stop one first" {
		t.Errorf("%+v, %+v", l, p)
	}
	if _, _, err := d.store.Create(t.Context(), "ann", workspace.Draft{Owner: d.owner, Name: "fourth", Provider: "process"}); problem.Explain(err).Kind != problem.TooMany {
		t.Errorf("a new one passes: %v", err)
	}
	if d.count(`select count(*) from weir.workspaces`) != 3 {
		t.Error("what was refused is there")
	}
	// What runs, or is wanted to, may be wanted again.
	for _, id := range []weir.ID{first, second} {
		if changed, err := d.store.Want(t.Context(), id, ladder.Running, "ann", ""); err != nil || changed {
			t.Errorf("%v, %v", changed, err)
		}
	}
	d.want(first, ladder.Standby)
	if changed, err := d.store.Want(t.Context(), first, ladder.Running, "ann", ""); err != nil || !changed {
		t.Errorf("what runs already has no room: %v, %v", changed, err)
	}
	// Another one's are not shown, though they count.
	_, err = d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{InAll: new(2)})
	d.ok(err)
	d.owner = d.user("bob")
	other := d.create("other", ladder.Standby)
	_, err = d.store.Want(t.Context(), other, ladder.Running, "bob", "")
	if l, over := workspace.LimitOf(err); !over || l.Type != "all" || l.Current != 2 || l.Max != 2 || len(l.Running) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	d.exec(`select weir.workspace_want($1, 'DELETED', 'ann')`, first)
	if _, err = d.store.Want(t.Context(), other, ladder.Running, "bob", ""); err != nil {
		t.Error(err)
	}
}
