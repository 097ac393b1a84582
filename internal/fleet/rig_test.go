package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// rig is a fleet on a real database. The test sets the time: it begins now, so that
// leases are not over for the doctor, and advances with wait.
type rig struct {
	*testing.T
	db    *testdb.DB
	store *Store
	now   time.Time
	// seen is what each PC reported last: wait reports it again, as an agent would.
	seen map[string][]node.Device
}

// lease is a lease that a PC holds.
type lease struct {
	Task    weir.ID
	Attempt int
	Token   weir.ID
	Job     *weir.ID
	Key     string
	Serial  string
	Target  string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	db := testdb.New(t)
	return &rig{T: t, db: db, store: New(db.Pool), now: time.Now().Truncate(time.Millisecond), seen: map[string][]node.Device{}}
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

func (r *rig) text(sql string, args ...any) (v string) {
	r.Helper()
	r.scan(&v, sql, args...)
	return v
}

func (r *rig) count(sql string, args ...any) (n int) {
	r.Helper()
	r.scan(&n, sql, args...)
	return n
}

// named are devices PREFIX01, PREFIX02 and so on.
func named(prefix string, n int) (list []node.Device) {
	for i := range n {
		list = append(list, node.Device{Serial: fmt.Sprintf("%s%02d", prefix, i+1)})
	}
	return list
}

// report reports the devices that a PC sees. It returns the keys of attempts that the PC
// must stop.
func (r *rig) report(pc string, devices ...node.Device) (stop []string) {
	r.Helper()
	r.seen[pc] = devices
	if devices == nil {
		devices = []node.Device{}
	}
	text, err := json.Marshal(devices)
	if err != nil {
		r.Fatal(err)
	}
	var tasks []weir.ID
	r.scan(&tasks, `select coalesce(array_agg(x.task), '{}') from weir.fleet_report($1, $2, at => $3) x`, pc, text, r.now)
	r.scan(&stop, `select coalesce(array_agg(q.key order by q.key), '{}') from weir.tasks q where q.id = any ($1)`, tasks)
	return stop
}

// wait lets time pass, with all PCs alive and tended by the second half.
func (r *rig) wait(d time.Duration) {
	r.Helper()
	r.now = r.now.Add(d)
	for pc, devices := range r.seen {
		r.report(pc, devices...)
	}
	r.tend()
}

// silence lets time pass in which the PCs report nothing.
func (r *rig) silence(d time.Duration) {
	r.Helper()
	r.now = r.now.Add(d)
	r.tend()
}

// tend runs the leader's work.
func (r *rig) tend() {
	r.Helper()
	r.exec(`select weir.tend(sweep => true, at => $1)`, r.now)
	for more := true; more; {
		r.scan(&more, `select more from weir.fleet_tend(at => $1)`, r.now)
	}
}

func (r *rig) spec(change func(*Spec)) Spec {
	s := Spec{Name: "job", Run: node.Run{Argv: []string{"true"}}, Target: Target{All: true}}
	if change != nil {
		change(&s)
	}
	return s
}

// submit submits a job at the rig's time.
func (r *rig) submit(name string, change func(*Spec)) weir.ID {
	r.Helper()
	s := r.spec(change)
	if err := s.Check(); err != nil {
		r.Fatal(err)
	}
	text, err := s.stored()
	if err != nil {
		r.Fatal(err)
	}
	var id weir.ID
	r.scan(&id, `select weir.fleet_submit($1, $2, 'ann', at => $3)`, name, text, r.now)
	return id
}

// claim asks for work as a PC does.
func (r *rig) claim(pc string, most int) []lease {
	r.Helper()
	list, err := r.claims(pc, most, nil)
	if err != nil {
		r.Fatal(err)
	}
	return list
}

func (r *rig) claims(pc string, most int, id *weir.ID) ([]lease, error) {
	rows, err := r.db.Pool.Query(r.Context(), `select task, attempt, token, job, key, serial, target from weir.fleet_claim($1, $1, $2, lease => '45 s', claim_id => $3, at => $4)`, pc, most, id, r.now)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[lease])
}

func serials(list []lease) string {
	var out []string
	for _, l := range list {
		out = append(out, l.Serial)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func of(list []lease, serial string) lease {
	for _, l := range list {
		if l.Serial == serial {
			return l
		}
	}
	return lease{}
}

func (r *rig) done(list ...lease) {
	r.Helper()
	for _, l := range list {
		r.answer("ok", `select weir.finish($1, $2, $3, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
	}
}

// fail is a failure of the test, infra one of the infrastructure.
func (r *rig) fail(list ...lease) {
	r.Helper()
	for _, l := range list {
		r.answer("ok", `select weir.fail($1, $2, $3, 'adb offline', at => $4)`, l.Task, l.Attempt, l.Token, r.now)
	}
}

func (r *rig) infra(l lease) {
	r.Helper()
	r.answer("ok", `select weir.fleet_fail($1, $2, $3, 'cable', infra => true, at => $4)`, l.Task, l.Attempt, l.Token, r.now)
}

func (r *rig) answer(want, sql string, args ...any) {
	r.Helper()
	var got string
	if r.scan(&got, sql, args...); got != want {
		r.Fatalf("%s answered %s, wanted %s", sql, got, want)
	}
}

// failed fails a device until its run has failed permanently.
func (r *rig) failed(pc string, l lease) {
	r.Helper()
	for {
		r.fail(l)
		var state string
		if r.scan(&state, `select state from weir.fleet_units where task = $1`, l.Task); state == UnitFailed {
			return
		}
		r.wait(5 * time.Minute)
		if l = of(r.claim(pc, 100), l.Serial); l.Serial == "" {
			r.Fatalf("the retry of %s did not come back", l.Serial)
		}
	}
}

func (r *rig) health(serial, want string) Device {
	r.Helper()
	d, err := r.store.Device(r.Context(), serial)
	if err != nil {
		r.Fatal(err)
	}
	if d.Health != want {
		r.Fatalf("device %s is %s (%s), wanted %s", serial, d.Health, d.HealthNote, want)
	}
	return d
}

func (r *rig) job(id weir.ID, want string) Job {
	r.Helper()
	j, err := r.store.Job(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	if j.State != want {
		w, _ := r.store.Why(r.Context(), id, 0)
		r.Fatalf("job %s is %s, wanted %s: %+v\n%+v", j.Name, j.State, want, j.Counts, w)
	}
	return j
}

// units compares the counts of a job by state, such as "2 done 1 failed".
func (r *rig) units(id weir.ID, want string) {
	r.Helper()
	var got string
	r.scan(&got, `select coalesce(string_agg(n || ' ' || state, ' ' order by array_position($2::text[], state)), '') from (select state, count(*) as n from weir.fleet_units where job = $1 group by state) x`, id, UnitStates)
	if got != want {
		r.Fatalf("units are %q, wanted %q", got, want)
	}
}

// want compares one word or number.
func (r *rig) want(what string, got, want any) {
	r.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.Fatalf("%s: got %v, wanted %v", what, got, want)
	}
}

// refused returns the problem of a command that must be refused.
func (r *rig) refused(kind problem.Kind, err error) *problem.Problem {
	r.Helper()
	if err == nil {
		r.Fatal("it was not refused")
	}
	p := problem.Explain(err)
	if p.Kind != kind {
		r.Fatalf("refused as %v: %v", p.Kind, err)
	}
	return p
}
