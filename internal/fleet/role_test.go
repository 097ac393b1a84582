package fleet

import "testing"

// A worker is not the owner: the triggers of its reports run at commit with the owner's
// rights, and it has none of them itself.
func TestWorkerRole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	as := func(role string, statements ...string) {
		t.Helper()
		tx, err := r.db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		for _, sql := range append([]string{`set local role ` + role}, statements...) {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s as %s: %v", sql, role, err)
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatalf("commit as %s: %v", role, err)
		}
	}
	as("weir_worker", `select weir.fleet_report('PC-01', '[{"serial": "a"}, {"serial": "b"}, {"serial": "c"}]')`)
	as("weir_client", `select weir.fleet_submit('one', '{"run": {"argv": ["x"]}, "target": {"all": true}, "attempts": 1}')`, `select weir.fleet_submit('two', '{"run": {"argv": ["x"]}, "target": {"devices": ["a"]}}')`)
	as("weir_worker", `select weir.fleet_claim('PC-01', 'PC-01')`)
	list, err := r.store.Slots(t.Context(), "PC-01")
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	var token string
	for i, l := range list {
		r.scan(&token, `select token::text from weir.running where task = $1`, l.Task)
		id := `'` + l.Task.String() + `', 1, '` + token + `'`
		switch i {
		case 0:
			as("weir_worker", `select weir.finish(`+id+`)`)
		case 1:
			as("weir_worker", `select weir.fail(`+id+`, 'broken')`)
		default:
			as("weir_worker", `select weir.fleet_fail(`+id+`, 'cable', true)`)
		}
	}
	r.want("out", r.count(`select count(*) from weir.devices where health = 'quarantined'`), 1)
	as("weir_client", `select weir.fleet_cancel(job) from weir.fleet_jobs where state = 'active'`, `select * from weir.device`, `select * from weir.pc`, `select * from weir.fleet_job`, `select * from weir.fleet_unit`,
		`select weir.fleet_why(job) from weir.fleet_jobs`)
	r.want("the next one is active", r.count(`select count(*) from weir.fleet_job where name = 'two' and state = 'active'`), 1)
	as("weir_worker", `select weir.fleet_tend()`)
}
