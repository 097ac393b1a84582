package fleet

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// A schedule whose task has the service fleet submits fleet jobs: its params are the
// spec.
func TestSchedule(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	const task = `{"service": "fleet", "params": {"name": "nightly", "run": {"argv": ["true"]}, "target": {"all": true}}}`
	set := func(name, overlap string) {
		r.exec(`select weir.set_schedule($1, '@every 1h', $2, $3, overlap => $4, at => $3)`, name, task, r.now, overlap)
	}
	fire := func(name string) (n int) {
		due := r.now
		r.now = r.now.Add(time.Hour)
		r.report("PC-01", r.seen["PC-01"]...)
		r.scan(&n, `select coalesce(cardinality(weir.fire_schedule($1, $2, array[$2::timestamptz], $3, at => $3)), 0)`, name, due, r.now)
		return n
	}
	set("all", "allow")
	r.want("fired", fire("all"), 1)
	r.want("fired", fire("all"), 1)
	jobs, err := r.store.Jobs(t.Context(), JobFilter{}, page(10))
	if err != nil || len(jobs) != 2 || jobs[0].Schedule != "all" || jobs[0].Name != "nightly" || jobs[0].State != JobWaiting || jobs[1].State != JobActive {
		t.Fatalf("%+v %v", jobs, err)
	}
	set("skip", "skip")
	r.want("fired", fire("skip"), 1)
	r.want("left out while one lives", fire("skip"), 0)
	set("newest", "cancel_running")
	r.want("fired", fire("newest"), 1)
	r.want("fired", fire("newest"), 1)
	r.want("one of it lives", r.count(`select count(*) from weir.job_live where schedule = 'newest'`), 1)

	for _, bad := range []string{`{"service": "fleet"}`, `{"service": "fleet", "params": {"run": {"argv": ["true"]}}}`} {
		_, err := r.db.Pool.Exec(t.Context(), `select weir.set_schedule('bad', '@every 1h', $1, now())`, bad)
		r.refused(problem.Invalid, err)
	}
	_, err = r.db.Pool.Exec(t.Context(), `select weir.submit('fleet')`)
	r.refused(problem.Invalid, err)
}
