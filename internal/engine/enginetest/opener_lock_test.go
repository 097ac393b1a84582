package enginetest

import (
	"testing"

	"github.com/weirhq/weir/internal/testdb"
)

// TestOpenersWaitForNobody has somebody hold a row or a job that an opener or an expiry
// would move: it is left to him. Who changes a pool waits for whoever has its key.
func TestOpenersWaitForNobody(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('p', 1, at => $1)`, at(0))
	ids := map[string]string{}
	for _, key := range []string{"lane", "pool"} {
		s := spec{"service": key, key: "p"}
		if key == "lane" {
			s["exclusive"] = true
		}
		first := e.submit(0, s)
		ids[key] = e.submit(0, s)
		e.exec(`select weir.open_gates(at => $1)`, at(1))
		e.run(2, first)
	}
	// The first ones leave, without what follows from it.
	e.exec(`update weir.running set lane = null, pool = null`)
	e.exec(`select weir._left_pool('p')`)
	job, of := e.submitJob(0, spec{"service": "lost", "key": "k"})
	ids["job"], ids["lost"] = job, of["k"]
	e.run(3, of["k"])
	const stays = `select state::text = 'pending' from weir.task where id = `
	e.Play(t, quoted(100, ids),
		testdb.Overlap{
			Name: "a task at a lane", Passes: true,
			First: `select from weir.pending where task = {lane} for update`, Second: `select weir.open_gates(lanes => '{p}', at => {t})`, Then: stays + `{lane}`,
		},
		testdb.Overlap{
			Name: "a lane whose key somebody has", Passes: true,
			First: `select weir._hold_keys('{p}', true)`, Second: `select weir._open('{p}', null, {t}, patient => false)`, Then: stays + `{lane}`,
		},
		testdb.Overlap{
			Name: "a task at a pool", Passes: true,
			First: `select from weir.pending where task = {pool} for update`, Second: `select weir.open_gates(pools => '{p}', at => {t})`, Then: stays + `{pool}`,
		},
		testdb.Overlap{
			Name: "a lease of a job", Passes: true,
			First: `select from weir.job_live where job = {job} for update`, Second: `select weir.expire(at => {t})`, Then: `select exists (select from weir.running where task = {lost})`,
		},
		testdb.Overlap{
			Name:  "a pool of a map, made while its key is taken",
			First: `select weir._hold_keys(array['map:' || {lost}], false)`, Second: `select weir._map_pools(array['map:' || {lost}], {t}, true)`,
		},
		testdb.Overlap{
			Name:  "a pool is resized by who has its key",
			First: `select weir._hold_keys('{p}', false)`, Second: `select weir.set_pool('p', 2, at => {t})`,
			Free: `select from weir.pools where name = 'p' for update nowait`,
		},
	)
}

// TestOneRaisesTheFloors has somebody take a horizon while another one would use it.
func TestOneRaisesTheFloors(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`update weir.horizon set xid = 3, order_seq = 10`)
	const used = `select xid = 0 from weir.horizon`
	e.Play(t, quoted(0, nil), testdb.Overlap{
		Name: "take the horizon, raise floors", Passes: true,
		First: `select pg_advisory_xact_lock(86, 1)`, Second: `select weir._raise_floors()`, Then: `select not (` + used + `)`,
	})
	e.exec(`select weir._raise_floors()`)
	if !one[bool](e, used) {
		t.Error("nobody uses the horizon")
	}
}
