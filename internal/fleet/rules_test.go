package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
)

// The rules of the original device queue, one test each.

func TestRefill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 30)...)
	id := r.submit("refill", nil)
	first := r.claim("PC-01", 100)
	r.want("the first claim fills the slots", len(first), 20)
	r.want("a full PC", len(r.claim("PC-01", 100)), 0)
	r.want("tasks are made one by one", r.count(`select count(*) from weir.tasks where job = $1`, id), 20)

	r.done(first[0])
	second := r.claim("PC-01", 100)
	r.want("19 → 1", len(second), 1)
	r.done(first[1], first[2])
	r.want("18 → 2", len(r.claim("PC-01", 100)), 2)
	r.units(id, "20 running 7 waiting 3 done")
	if first[0].Target != first[0].Serial || first[0].Key != first[0].Serial {
		t.Errorf("a device without an address is reached by its serial: %+v", first[0])
	}
}

func TestTargetIsWhatIsEligible(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 7)...)
	r.submit("few", nil)
	r.exec(`select weir.device_maintain('d02', 'ann', 'new battery', at => $1)`, r.now)
	r.want("min(20, eligible)", serials(r.claim("PC-01", 100)), "d01 d03 d04 d05 d06 d07")
	pc, err := r.store.PC(t.Context(), "PC-01")
	if err != nil || pc.Target != 6 || pc.Running != 6 || pc.Eligible != 6 || pc.Devices != 7 {
		t.Fatalf("%+v %v", pc, err)
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 10)...)
	r.submit("slots", nil)
	three := 3
	if changed, err := r.store.SetSlots(t.Context(), "ann", "PC-01", &three); err != nil || !changed {
		t.Fatal(changed, err)
	}
	list := r.claim("PC-01", 100)
	r.want("its own slots", len(list), 3)
	if changed, err := r.store.SetSlots(t.Context(), "ann", "PC-01", &three); err != nil || changed {
		t.Fatal(changed, err)
	}
	r.done(list...)
	r.want("at most what it asks for", len(r.claim("PC-01", 1)), 1)
	if _, err := r.store.SetSlots(t.Context(), "ann", "PC-01", nil); err != nil {
		t.Fatal(err)
	}
	r.want("the policy's slots", len(r.claim("PC-01", 100)), 6)
}

func TestOneActiveOldestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	a := r.submit("a", nil)
	b := r.submit("b", nil)
	c := r.submit("c", nil)
	r.job(a, JobActive)
	r.job(b, JobWaiting)
	r.job(c, JobWaiting)
	_, err := r.db.Pool.Exec(t.Context(), `update weir.fleet_jobs set state = 'active' where job = $1`, b)
	if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.ConstraintName != "fleet_active" {
		t.Fatalf("a second active job: %v", err)
	}
	r.done(r.claim("PC-01", 100)...)
	r.job(a, JobDone)
	r.job(b, JobActive)
	// The end and the activation happen in one transaction.
	r.want("transactions", r.count(`select count(distinct xmin::text) from weir.events where job = $1 and type = 'done' and kind = 'job' or job = $2 and type = 'activated'`, a, b), 1)
	r.done(r.claim("PC-01", 100)...)
	r.job(b, JobDone)
	r.job(c, JobActive)
	r.done(r.claim("PC-01", 100)...)
	r.job(c, JobDone)
}

func TestTimeoutRetryFinalOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.strict()
	r.report("PC-01", named("d", 2)...)
	id := r.submit("slow", nil)
	list := r.claim("PC-01", 100)
	r.done(of(list, "d02"))
	l := of(list, "d01")
	for attempt := 1; attempt <= 3; attempt++ {
		r.want("attempt", l.Attempt, attempt)
		for range 20 {
			// The agent lives and renews, but the command hangs.
			r.now = r.now.Add(time.Minute)
			r.exec(`select weir.renew('PC-01', array[$1::uuid], array[$2::int], array[$3::uuid], '2 min', at => $4)`, l.Task, l.Attempt, l.Token, r.now)
			r.report("PC-01", r.seen["PC-01"]...)
		}
		r.now = r.now.Add(time.Second)
		r.tend()
		r.answer("lease_lost", `select weir.finish($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
		if attempt == 3 {
			break
		}
		r.units(id, "1 retrying 1 done")
		r.wait(2 * time.Minute)
		if l = of(r.claim("PC-01", 100), "d01"); l.Serial == "" {
			t.Fatal("no retry")
		}
	}
	r.units(id, "1 failed 1 done")
	r.job(id, JobFailed)
	d := r.health("d01", HealthQuarantined)
	if d.HealthJob != id || len(d.Evidence) != 1 || d.Evidence[0] != l.Task || d.Eligible {
		t.Errorf("%+v", d)
	}
	r.want("one name of its own", r.count(`select count(*) from weir.events where task = $1 and type = 'failed_final' and data ->> 'device' = 'd01'`, l.Task), 1)
	r.want("transactions", r.count(`select count(distinct xmin::text) from weir.events where task = $1 and type in ('failed', 'failed_final') or kind = 'device' and type = 'quarantined' or kind = 'job' and job = $2 and type = 'failed'`, l.Task, id), 1)
	// Its slot stays empty.
	next := r.submit("next", nil)
	r.want("who is out gets nothing", serials(r.claim("PC-01", 100)), "d02")
	r.units(next, "1 running 1 waiting")
}

func TestRetryComesFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 3)...)
	r.exec(`select weir.set_slots('PC-01', 1)`)
	r.submit("order", nil)
	l := r.claim("PC-01", 100)
	r.fail(l...)
	r.wait(time.Minute)
	again := r.claim("PC-01", 100)
	r.want("the retry", serials(again), serials(l))
	r.want("its attempt", again[0].Attempt, 2)
	r.want("its task", again[0].Task, l[0].Task)
}

func TestClaimAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 5)...)
	r.submit("lost reply", nil)
	id := weir.ID{1, 2, 3}
	first, err := r.claims("PC-01", 3, &id)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.claims("PC-01", 3, &id)
	if err != nil {
		t.Fatal(err)
	}
	r.want("the same leases", serials(again), serials(first))
	r.want("and no more", r.count(`select count(*) from weir.running`), 3)
}

func TestIdleWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 3)...)
	r.submit("idle", nil)
	r.claim("PC-01", 100)
	tx, err := r.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	text := `[{"serial":"d01"},{"serial":"d02"},{"serial":"d03"}]`
	for _, sql := range []string{`select weir.fleet_tend(at => $1)`, `select weir.fleet_claim('PC-01', 'PC-01', at => $1)`, `select weir.fleet_report('PC-01', '` + text + `', at => $1)`} {
		if _, err := tx.Exec(t.Context(), sql, r.now); err != nil {
			t.Fatal(err)
		}
	}
	// A transaction that writes or locks a row has an id.
	var xid *string
	if err := tx.QueryRow(t.Context(), `select pg_current_xact_id_if_assigned()::text`).Scan(&xid); err != nil || xid != nil {
		t.Fatalf("an idle pass took a transaction id: %v", err)
	}
}

func TestPlainClaimIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.db.Pool.Exec(t.Context(), `select weir.claim('w', array['fleet'])`)
	if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "WR422" {
		t.Fatal(err)
	}
}
