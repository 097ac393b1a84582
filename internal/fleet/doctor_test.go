package fleet

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// illnesses says how to break each row of the doctor by hand, in a way that no call
// could, and which other rows are about the same fact.
var illnesses = map[string]struct {
	sql  string
	also []string
}{
	"at most one fleet job is active": {
		sql:  `drop index weir.fleet_active; update weir.fleet_jobs set state = 'active'`,
		also: []string{"a fleet job lives as long as its job"},
	},
	"no PC runs more devices than it has slots": {sql: `update weir.pcs set slots = 19`},
	"a device runs one thing at a time": {
		sql:  `drop index weir.running_device; update weir.running set device = (select min(device) from weir.running)`,
		also: []string{"a lease on a device belongs to a unit or to a health task"},
	},
	"a reserved device gets no new work": {
		sql: `update weir.devices set reserved_by = 'ann', reserved_at = now() - interval '1 day', reserved_until = now() + interval '1 day'
			where id = (select min(device) from weir.running)`,
	},
	"a lease on a device belongs to a unit or to a health task": {sql: `update weir.fleet_units set device = null where task = (select task from weir.running limit 1)`},
	"a unit is where its task is": {
		sql:  `update weir.fleet_units set state = 'retrying' where task = (select task from weir.running limit 1)`,
		also: []string{"a lease on a device belongs to a unit or to a health task"},
	},
	"a fleet job counts its units right":   {sql: `update weir.job_live set done = done + 1 where due is null`},
	"a fleet job lives as long as its job": {sql: `update weir.fleet_jobs set state = 'ended' where state = 'waiting'`},
	"a fleet job that could be active is": {
		sql: `update weir.fleet_jobs set state = 'waiting' where state = 'active'`,
	},
	"a fleet job that nothing can serve ends": {
		sql: `with d as (update weir.devices set health = 'maintenance'), u as (update weir.fleet_units set state = 'waiting' where state = 'running')
			update weir.fleet_jobs set lingers_at = now() - interval '1 h', missed_at = now() - interval '58 min' where state = 'active'`,
		also: []string{"a lease on a device belongs to a unit or to a health task"},
	},
}

// TestDoctorCanFail breaks each invariant and checks that exactly that row fails.
func TestDoctorCanFail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 30)...)
	r.submit("one", nil)
	r.submit("two", nil)
	r.done(r.claim("PC-01", 1)...)
	r.claim("PC-01", 100)
	rows, err := r.db.Pool.Query(t.Context(), `select name from weir._doctor_fleets()`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) != len(illnesses) {
		t.Fatal(names, err)
	}
	for _, name := range names {
		ill := illnesses[name]
		tx, err := r.db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), ill.sql); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows, err := tx.Query(t.Context(), `select name from weir.doctor() where not ok`)
		if err != nil {
			t.Fatal(err)
		}
		red, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := append([]string{name}, ill.also...)
		slices.Sort(want)
		if slices.Sort(red); !slices.Equal(red, want) {
			t.Errorf("broken: %s\nred: %v\nwanted: %v", name, red, want)
		}
	}
}
