package view

import (
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// do runs statements.
func do(t *testing.T, db *testdb.DB, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := db.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// ask reads one value.
func ask[T any](t *testing.T, db *testdb.DB, sql string, args ...any) (v T) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestOverview(t *testing.T) {
	o, err := fill(t).Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for gate, n := range map[weir.Gate]int{"needs": 1, "time": 1, "hold": 1, "lane": 1, "pool": 1} {
		if got := o.Counts.Pending[gate]; got != (Count{N: n}) {
			t.Errorf("%s: %+v", gate, got)
		}
	}
	if o.Counts.Available != (Count{N: 2}) || o.Counts.Running != (Count{N: 1}) {
		t.Errorf("available %+v, running %+v", o.Counts.Available, o.Counts.Running)
	}
	if len(o.Running) != 1 || o.Running[0].Service != "a.running" || o.Running[0].Percent == nil {
		t.Errorf("running: %+v", o.Running)
	}
	if len(o.FailedLately) != 1 || o.FailedLately[0].Cause != "no" {
		t.Errorf("failed: %+v", o.FailedLately)
	}
	if len(o.Jobs) != 1 || o.Jobs[0].Name != "pair" || o.Jobs[0].State != "running" {
		t.Errorf("jobs: %+v", o.Jobs)
	}
	var keys []string
	for _, g := range o.Waiting {
		keys = append(keys, string(g.Gate)+" "+g.Key)
		if g.Count != (Count{N: 1}) || g.Example.IsZero() || g.Oldest.IsZero() {
			t.Errorf("group %+v", g)
		}
	}
	slices.Sort(keys)
	if want := []string{"hold ", "lane l", "needs ", "pool p", "time "}; !slices.Equal(keys, want) {
		t.Errorf("groups %q, want %q", keys, want)
	}
	if time.Since(o.OldestAvailable) > time.Hour || o.OldestAvailable.IsZero() {
		t.Errorf("the oldest is from %v", o.OldestAvailable)
	}
	if o.Workers != (Alive{Live: 1}) || o.Nodes != (Alive{}) {
		t.Errorf("workers %+v, nodes %+v", o.Workers, o.Nodes)
	}
}

func TestOverviewOfNothing(t *testing.T) {
	o, err := New(testdb.New(t).Pool).Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Counts.Pending) != 6 || len(o.Running)+len(o.Jobs)+len(o.Waiting)+len(o.FailedLately) != 0 || !o.OldestAvailable.IsZero() {
		t.Errorf("got %+v", o)
	}
	if o.Running == nil || o.Jobs == nil || o.Waiting == nil || o.FailedLately == nil {
		t.Error("a list is null, not empty")
	}
}

// Counting stops at ten thousand.
func TestOverviewCountsNoFurther(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.submit_many(jsonb_agg(jsonb_build_object('service', 'h', 'hold', 'me')), false) from generate_series(1, 10000) i`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's')), false) from generate_series(1, 10001) i`, `analyze`)
	o, err := New(db.Pool).Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Counts.Pending["hold"]; got != (Count{N: 10_000}) {
		t.Errorf("ten thousand are %+v", got)
	}
	if got := o.Counts.Available; got != (Count{N: 10_000, More: true}) {
		t.Errorf("one more is %+v", got)
	}
	if len(o.Waiting) != 1 || o.Waiting[0].Count != (Count{N: 10_000}) {
		t.Errorf("groups %+v", o.Waiting)
	}
}

// What lives comes first, however old; the newest of the others follow.
func TestOverviewJobs(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.submit_job('[{"service": "s", "hold": "me"}]', 'old and alive')`)
	for range 12 {
		do(t, db, `select weir.cancel_job(weir.submit_job('[{"service": "s"}]', 'over'))`)
	}
	o, err := New(db.Pool).Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Jobs) != 10 || o.Jobs[0].Name != "old and alive" || o.Jobs[1].Name != "over" {
		t.Errorf("%d jobs: %+v", len(o.Jobs), o.Jobs)
	}
	newest := ask[weir.ID](t, db, `select id from weir.jobs order by id desc limit 1`)
	if o.Jobs[1].ID != newest {
		t.Errorf("the second is %s, the newest %s", o.Jobs[1].ID, newest)
	}
}

func TestRates(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `insert into weir.minutes (at, submitted, done, wait_p50) select date_trunc('minute', clock_timestamp()) - i * interval '1 min', i, 1, 0.5 from generate_series(0, 120) i`)
	rates, err := s.Rates(t.Context(), time.Hour)
	if err != nil || len(rates) != 60 {
		t.Fatalf("%d minutes, %v", len(rates), err)
	}
	if !slices.IsSortedFunc(rates, func(a, b Rate) int { return a.At.Compare(b.At) }) || rates[0].Submitted != 59 || *rates[0].WaitP50 != 0.5 || rates[0].RunP95 != nil {
		t.Errorf("the first is %+v", rates[0])
	}
	do(t, db, `delete from weir.minutes`)
}

func TestHealth(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.submit('s') from generate_series(1, 20)`, `select weir.lead('coordinator', 'me')`, `analyze`)
	h, err := New(db.Pool).Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h.Database.Version == "" || h.Database.Size < 1<<20 || h.Database.Connections < 1 || h.Database.MaxConnections < h.Database.Connections {
		t.Errorf("database %+v", h.Database)
	}
	sizes := map[string]TableHealth{}
	for _, table := range h.Tables {
		sizes[table.Name] = table
	}
	if sizes["tasks"].Size == 0 || sizes["available"].Size == 0 || sizes["tasks_default"].Name != "" {
		t.Errorf("tables %+v", h.Tables)
	}
	found := false
	for _, p := range h.Partitions {
		if !p.To.After(p.From) || p.Bytes == 0 {
			t.Errorf("partition %+v", p)
		}
		// An estimate: what ANALYZE counted and what the session tells later add up.
		found = found || p.Parent == "tasks" && p.Rows >= 20
	}
	if !found {
		t.Errorf("no partition has the tasks: %+v", h.Partitions)
	}
	if len(h.Locks) != 1 || h.Locks[0].Holder != "me" || h.Locks[0].Epoch != 1 || !h.Locks[0].Until.After(h.Locks[0].Since) {
		t.Errorf("locks %+v", h.Locks)
	}
}
