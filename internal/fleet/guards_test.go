package fleet

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/testwait"
)

// behind runs the second statement while another transaction has run the first and is
// still open. It returns whether the second waited, and its count after the other has
// committed.
func (r *rig) behind(first, second string, args ...any) (waited bool, n int) {
	r.Helper()
	return r.behindWhile(first, func() {}, second, args...)
}

// behindWhile is behind, and something happens in between.
func (r *rig) behindWhile(first string, between func(), second string, args ...any) (waited bool, n int) {
	r.Helper()
	conns := make([]*pgx.Conn, 2)
	for i := range conns {
		conn, err := pgx.Connect(r.Context(), r.db.URL)
		if err != nil {
			r.Fatal(err)
		}
		defer conn.Close(r.Context())
		conns[i] = conn
	}
	tx, err := conns[0].Begin(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	if _, err := tx.Exec(r.Context(), first, args...); err != nil {
		r.Fatalf("%s: %v", first, err)
	}
	between()
	done := make(chan error, 1)
	go func() { done <- conns[1].QueryRow(r.Context(), second, args...).Scan(&n) }()
	pid := conns[1].PgConn().PID()
	testwait.Until(r, "the second ends or waits", func() bool {
		waited = r.count(`select cardinality(pg_blocking_pids($1))`, pid) > 0
		return waited || len(done) > 0
	})
	if err := tx.Commit(r.Context()); err != nil {
		r.Fatal(err)
	}
	if err := <-done; err != nil {
		r.Fatalf("%s: %v", second, err)
	}
	return waited, n
}

// Slots are counted under the lock of the PC's row: a claim waits for another claim of
// the PC and for a change of its slots, and counts what they left.
func TestSlotsAreCountedUnderThePCsLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 6)...)
	r.exec(`select weir.set_slots('PC-01', 1, at => $1)`, r.now)
	r.submit("crowd", nil)
	// Two workers are needed, because the claims of one worker run one by one anyway.
	waited, n := r.behind(`select weir.fleet_claim('one', 'PC-01', 1, at => $1)`, `select count(*) from weir.fleet_claim('two', 'PC-01', 1, at => $1)`, r.now)
	if !waited || n != 0 {
		t.Errorf("the second claim waited: %v, and got %d tasks for no slot", waited, n)
	}
	r.exec(`select weir.set_slots('PC-01', 5, at => $1)`, r.now)
	waited, n = r.behind(`select weir.set_slots('PC-01', 1, at => $1)`, `select count(*) from weir.fleet_claim('two', 'PC-01', 4, at => $1)`, r.now)
	if !waited || n != 0 {
		t.Errorf("a claim waited for the change of slots: %v, and got %d tasks", waited, n)
	}
	r.want("running", r.count(`select count(*) from weir.running`), 1)
}

// There is no 21st run while the claim of the 20th is open and the order of what is picked
// changes: a retry comes due on another device, so the second claim does not want what
// the first one has, and only the lock of the PC makes it wait.
func TestNo21stWhileAClaimIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 25)...)
	r.submit("crowd", nil)
	claim := `select count(*) from weir.fleet_claim('%s', 'PC-01', 1, at => $1)`
	list := r.claim("PC-01", 18)
	// The workers are known: a claim of a new one locks the PC to register it.
	for _, worker := range []string{"one", "two"} {
		r.want(worker, r.count(fmt.Sprintf(claim, worker), r.now), 1)
	}
	r.want("running", r.count(`select count(*) from weir.running`), 20)
	r.fail(list[0])
	due := r.now.Add(time.Minute)
	r.exec(`update weir.running set until = until + interval '1 h'`)
	waited, n := r.behindWhile(fmt.Sprintf(claim, "one"), func() {
		r.exec(`select weir.tend(sweep => true, at => $1)`, due)
		r.want("retries that are due", r.count(`select count(*) from weir.available`), 1)
	}, fmt.Sprintf(claim, "two"), r.now)
	if !waited || n != 0 {
		t.Errorf("the second claim waited: %v, and got %d", waited, n)
	}
	r.want("running", r.count(`select count(*) from weir.running`), 20)
}

// The rules of fleets that are indexes hold against code that forgets to check.
func TestTheIndexesOfFleets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 2)...)
	r.submit("one", nil)
	r.submit("two", nil)
	r.exec(`select weir.fleet_claim('PC-01', 'PC-01', 2, at => $1)`, r.now)
	r.want("running", r.count(`select count(*) from weir.running`), 2)
	for name, sql := range map[string]string{
		"two active jobs":      `update weir.fleet_jobs set state = 'active'`,
		"two runs of a device": `update weir.running set device = (select min(device) from weir.running)`,
		"two units of a task":  `update weir.fleet_units set task = (select task from weir.running limit 1) where task is not null`,
	} {
		_, err := r.db.Pool.Exec(t.Context(), sql)
		if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "23505" {
			t.Errorf("%s: %v, want a unique violation", name, err)
		}
	}
}

// A PC cannot report on the run of another PC, although it knows the attempt.
func TestAPCReportsOfItsOwnRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.report("PC-02", named("e", 1)...)
	r.submit("one", func(s *Spec) { s.Target = Target{Devices: []string{"d01"}} })
	var task string
	r.scan(&task, `select task::text from weir.fleet_claim('PC-01', 'PC-01', 1, at => $1)`, r.now)
	for _, report := range []string{`fleet.complete_task_device($1, 'PC-02', attempt => 1, at => $2)`, `fleet.fail_or_retry_task_device($1, 'PC-02', 'no', attempt => 1, at => $2)`} {
		var accepted bool
		r.scan(&accepted, `select (`+report+`).id is not null`, task, r.now)
		if accepted {
			t.Errorf("%s: the report of another PC was accepted", report)
		}
		r.want("running", r.count(`select count(*) from weir.running`), 1)
	}
}
