package fleet

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// wide is a pool with a connection for each of many callers at once.
func (r *rig) wide(n int32) *pgxpool.Pool {
	r.Helper()
	config := r.db.Pool.Config().Copy()
	config.MaxConns = n
	pool, err := pgxpool.NewWithConfig(r.Context(), config)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(pool.Close)
	return pool
}

func TestNo21st(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 60)...)
	r.submit("crowd", nil)
	pool := r.wide(40)
	var got atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			var n int64
			if err := pool.QueryRow(t.Context(), `select count(*) from weir.fleet_claim('PC-01', 'PC-01', 3, at => $1)`, r.now).Scan(&n); err != nil {
				t.Error(err)
			}
			got.Add(n)
		})
	}
	all.Wait()
	r.want("leases", got.Load(), 20)
	r.want("running", r.count(`select count(*) from weir.running where device is not null`), 20)
	r.want("devices", r.count(`select count(distinct device) from weir.running`), 20)
}

// Claims and ends at the same time: never more runs than slots, and every device once.
func TestSlotsUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 60)...)
	id := r.submit("load", nil)
	pool := r.wide(16)
	var most atomic.Int64
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for {
				rows, err := pool.Query(t.Context(), `select weir.finish(c.task, c.attempt, c.token, at => $1) from weir.fleet_claim('PC-01', 'PC-01', 4, at => $1) c`, r.now)
				if err != nil {
					t.Error(err)
					return
				}
				rows.Close()
				if rows.Err() != nil {
					t.Error(rows.Err())
					return
				}
				var running, left int64
				if err := pool.QueryRow(t.Context(), `select (select count(*) from weir.running where device is not null), (select count(*) from weir.fleet_units where job = $1 and state <> 'done')`, id).Scan(&running, &left); err != nil {
					t.Error(err)
					return
				}
				for old := most.Load(); running > old && !most.CompareAndSwap(old, running); old = most.Load() {
				}
				if left == 0 {
					return
				}
			}
		})
	}
	all.Wait()
	if most.Load() > 20 {
		t.Errorf("%d ran at once", most.Load())
	}
	r.units(id, "60 done")
	r.job(id, JobDone)
	r.want("each device once", r.count(`select count(distinct key) from weir.tasks where job = $1`, id), 60)
}

func TestFiftyActivations(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	pool := r.wide(50)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := pool.Exec(t.Context(), `select weir.fleet_submit('rush', '{"run": {"argv": ["true"]}, "target": {"all": true}}')`); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r.want("active", r.count(`select count(*) from weir.fleet_jobs where state = 'active'`), 1)
	r.want("waiting", r.count(`select count(*) from weir.fleet_jobs where state = 'waiting'`), 49)
	// All jobs end, one after the other, and each end makes one active.
	for range 50 {
		all.Go(func() {
			for {
				var n int
				if err := pool.QueryRow(t.Context(), `select count(weir.finish(c.task, c.attempt, c.token)) from weir.fleet_claim('PC-01', 'PC-01', 1) c`).Scan(&n); err != nil {
					t.Error(err)
				}
				if n == 0 {
					return
				}
			}
		})
	}
	all.Wait()
	for r.count(`select count(weir.finish(c.task, c.attempt, c.token)) from weir.fleet_claim('PC-01', 'PC-01', 1) c`) > 0 {
	}
	r.want("ended", r.count(`select count(*) from weir.fleet_jobs where state = 'ended'`), 50)
}
