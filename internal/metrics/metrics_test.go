package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/requestinfo"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/workspace"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// gather scrapes and returns the metrics by name.
func gather(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range families {
		out[f.GetName()] = f
	}
	return out
}

// value returns the value of the metric with these label values, in the order of their
// names, or -1 if there is none.
func value(f *dto.MetricFamily, labels ...string) float64 {
	for _, m := range f.GetMetric() {
		var has []string
		for _, l := range m.GetLabel() {
			has = append(has, l.GetValue())
		}
		if slices.Equal(has, labels) {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return -1
}

// busy returns a database that contains something of everything.
func busy(t *testing.T) *testdb.DB {
	t.Helper()
	db := testdb.New(t)
	client, err := weir.New(db.Pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, err := range []error{
		client.SetPool(t.Context(), weir.Pool{Name: "printers", Size: weir.Size(1)}),
		client.RegisterNode(t.Context(), weir.Node{Name: "n1"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.SubmitMany(t.Context(), []weir.Task{
		{Service: "print", Pool: "printers"},
		{Service: "print", Pool: "printers"},
		{Service: "print", Pool: "printers"},
		{Service: "mail"},
		{Service: "mail", Hold: "somebody"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Pool.Exec(t.Context(), `select weir.open_gates()`); err != nil {
		t.Fatal(err)
	}
	return db
}

// work runs one task to its end and has the minute counted, as the leader does.
func work(t *testing.T, db *testdb.DB) {
	t.Helper()
	client, err := weir.New(db.Pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	worker := weir.NewWorker(client, weir.WorkerConfig{Name: "w1"})
	weir.Handle(worker, "quick", func(context.Context, *weir.Run[struct{}]) (any, error) { return nil, nil })
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(t.Context())) }()
	receipt, err := client.Submit(t.Context(), weir.Task{Service: "quick"})
	if err == nil {
		_, err = client.Wait(t.Context(), receipt.ID)
	}
	if err = errors.Join(err, worker.Stop(t.Context()), <-ended); err != nil {
		t.Fatal(err)
	}
	db.Settle(t)
	for more := true; more; {
		if err := db.Pool.QueryRow(t.Context(), `select t.more from weir.tally() t`).Scan(&more); err != nil {
			t.Fatal(err)
		}
	}
}

func newMetrics(db *testdb.DB, source Source, every time.Duration) *Metrics {
	return New(Config{
		Source: source, Fleet: fleet.New(db.Pool), Workspaces: workspace.New(db.Pool), Every: every, Version: "1.2.3",
		Leader: func() int64 { return 7 },
		Loops: func() []loop.Stats {
			return []loop.Stats{{Name: "tend", Every: time.Second, Ticks: 12, Errors: 2, Took: 3 * time.Second, Last: time.Unix(1000, 0), LastTook: time.Millisecond, Failing: 1}}
		},
		Connections: func() map[string]Connections { return map[string]Connections{"work": db.Pool.Stat()} },
	})
}

// The server's connection pool can be passed as it is.
var _ Connections = (*pgxpool.Stat)(nil)

func TestEveryDeclaredMetricIsExportedAndClean(t *testing.T) {
	db := busy(t)
	m := newMetrics(db, view.New(db.Pool), time.Nanosecond)
	gather(t, m) // it counts from here on
	work(t, db)
	if _, err := db.Pool.Exec(t.Context(), `select weir.lead('coordinator', 'somebody', interval '1 minute')`); err != nil {
		t.Fatal(err)
	}
	m.Streams().Opened()
	m.Streams().Sent(3)
	m.Streams().Dropped("slow")
	requestinfo.Wrap(m.HTTP(http.NotFoundHandler())).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))

	families := gather(t, m)
	for _, d := range declared {
		if families[d.name] == nil {
			t.Errorf("%s is declared and not exported", d.name)
		} else if got := strings.ToLower(families[d.name].GetType().String()); got != d.word() {
			t.Errorf("%s is exported as %s", d.name, got)
		}
	}
	for name := range families {
		known := slices.ContainsFunc(declared, func(d *metric) bool { return d.name == name })
		if strings.HasPrefix(name, "weir_") && !known || !known && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is exported and not declared", name)
		}
	}
	for _, name := range foreignMetrics[1:] {
		if families[name] == nil {
			t.Errorf("%s is not exported", name)
		}
	}
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}

	for _, c := range []struct {
		name   string
		want   float64
		labels []string
	}{
		{"weir_database_up", 1, nil},
		{"weir_tasks", 2, []string{"available"}},
		{"weir_tasks", 3, []string{"pending"}},
		{"weir_tasks", 0, []string{"running"}},
		{"weir_tasks_pending", 2, []string{"pool"}},
		{"weir_tasks_pending", 1, []string{"hold"}},
		{"weir_pool_size", 1, []string{"printers"}},
		{"weir_pool_in_use", 1, []string{"printers"}},
		{"weir_pool_waiting", 2, []string{"printers"}},
		{"weir_nodes", 1, []string{"live"}},
		{"weir_tasks_finished_total", 1, []string{"done"}},
		{"weir_tasks_finished_total", 0, []string{"failed"}},
		{"weir_attempts_started_total", 1, nil},
		{"weir_lock_held", 1, []string{"coordinator"}},
		{"weir_lock_epoch", 1, []string{"coordinator"}},
		{"weir_leader", 1, nil},
		{"weir_leader_epoch", 7, nil},
		{"weir_loop_errors_total", 2, []string{"tend"}},
		{"weir_loop_duration_seconds_total", 3, []string{"tend"}},
		{"weir_loop_last_tick_timestamp_seconds", 1000, []string{"tend"}},
		{"weir_sse_streams", 1, nil},
		{"weir_sse_events_sent_total", 3, nil},
		{"weir_sse_streams_dropped_total", 1, []string{"slow"}},
		{"weir_http_requests_total", 1, []string{"GET", "other", "404"}},
	} {
		if got := value(families[c.name], c.labels...); got != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	if got := value(families["weir_oldest_available_age_seconds"]); got <= 0 {
		t.Errorf("a task may start, and its age is %v", got)
	}
}

// counting counts how often a store is read.
type counting struct {
	*view.Store
	overviews, rates, healths, pools atomic.Int64
}

func (c *counting) Overview(ctx context.Context) (view.Overview, error) {
	c.overviews.Add(1)
	return c.Store.Overview(ctx)
}

func (c *counting) Rates(ctx context.Context, since time.Duration) ([]view.Rate, error) {
	c.rates.Add(1)
	return c.Store.Rates(ctx, since)
}

func (c *counting) Health(ctx context.Context) (view.Health, error) {
	c.healths.Add(1)
	return c.Store.Health(ctx)
}

func (c *counting) Pools(ctx context.Context, p view.Page) ([]view.Pool, error) {
	c.pools.Add(1)
	return c.Store.Pools(ctx, p)
}

func TestManyScrapesReadTheDatabaseOnce(t *testing.T) {
	db := busy(t)
	source := &counting{Store: view.New(db.Pool)}
	handler := newMetrics(db, source, time.Hour).Handler()
	var group sync.WaitGroup
	var good atomic.Int64
	for range 40 {
		group.Go(func() {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
			switch body := w.Body.String(); {
			case w.Code == http.StatusServiceUnavailable: // too many at once
			case !strings.Contains(body, "\nweir_database_up 1\n"):
				t.Errorf("%d\n%s", w.Code, body)
			default:
				good.Add(1)
			}
		})
	}
	group.Wait()
	if good.Load() == 0 {
		t.Error("not one scrape was answered")
	}
	for name, n := range map[string]int64{"overview": source.overviews.Load(), "rates": source.rates.Load(), "health": source.healths.Load(), "pools": source.pools.Load()} {
		if n != 1 {
			t.Errorf("%s was read %d times", name, n)
		}
	}
}

func TestADatabaseThatIsGoneSpoilsNoScrape(t *testing.T) {
	db := busy(t)
	pool, err := pgxpool.New(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	m := newMetrics(db, view.New(pool), time.Nanosecond)
	if up := value(gather(t, m)["weir_database_up"]); up != 1 {
		pool.Close()
		t.Fatalf("up is %v before anything broke", up)
	}
	work(t, db)
	gather(t, m)
	pool.Close()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(body, "\nweir_database_up 0\n") {
		t.Errorf("%d\n%s", w.Code, body)
	}
	for _, here := range []string{"\nweir_leader 1\n", "\nweir_tasks_finished_total{outcome=\"done\"} 1\n", `weir_database_read_errors_total{reading="overview"} 1`, "go_goroutines"} {
		if !strings.Contains(body, here) {
			t.Errorf("%s is missing", here)
		}
	}
	for _, gone := range []string{"weir_tasks{", "weir_xmin_age_transactions ", "weir_pool_size{"} {
		if strings.Contains(body, "\n"+gone) {
			t.Errorf("%s tells of a time before", gone)
		}
	}
}

func TestAReadingIsBoundedAndTriedAgainSoonAfterAFault(t *testing.T) {
	calls, fault := 0, errors.New("away")
	r := reading[int]{name: "r", every: time.Hour, read: func(ctx context.Context) (int, error) {
		calls++
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > within {
			t.Errorf("it may take until %v", deadline)
		}
		return calls, fault
	}}
	if _, ok := r.look(); ok {
		t.Error("a reading that failed is told")
	}
	r.look()
	if calls != 1 {
		t.Errorf("%d readings within no time", calls)
	}
	fault = nil
	r.at = r.at.Add(-again)
	if v, ok := r.look(); !ok || v != 2 {
		t.Errorf("%d %v after the fault", v, ok)
	}
	r.at = r.at.Add(-again)
	if v, _ := r.look(); v != 2 {
		t.Error("it is read too often when all is well")
	}
}

func TestCountersOnlyGrow(t *testing.T) {
	minute := func(n int) time.Time { return time.Unix(0, 0).Add(time.Duration(n) * time.Minute) }
	p95 := 0.5
	c := &counts{}
	for i, step := range []struct {
		rates        []view.Rate
		done, failed int64
	}{
		// What was there before is not counted.
		{[]view.Rate{{At: minute(1), Done: 100}, {At: minute(2), Done: 5}}, 0, 0},
		// The last minute grows, and a new one appears.
		{[]view.Rate{{At: minute(1), Done: 100}, {At: minute(2), Done: 8}, {At: minute(3), Done: 1, Failed: 2, WaitP95: &p95}}, 4, 2},
		// Nothing is new; an old minute is deleted.
		{[]view.Rate{{At: minute(2), Done: 8}, {At: minute(3), Done: 1, Failed: 2}}, 4, 2},
		// A minute that shrinks subtracts nothing.
		{[]view.Rate{{At: minute(3), Done: 0, Failed: 2}, {At: minute(4), Failed: 1}}, 4, 3},
		{nil, 4, 3},
	} {
		c.add(step.rates, minute(10))
		if c.sum.Done != step.done || c.sum.Failed != step.failed {
			t.Errorf("step %d: %+v", i, c.sum)
		}
	}
	if c.newest.At != minute(3) || c.newest.WaitP95 != &p95 {
		t.Errorf("the newest sample is %+v", c.newest)
	}
}

func TestOnlyTheBusiestPoolsHaveMetrics(t *testing.T) {
	pools := make([]view.Pool, 3*poolLimit)
	for i := range pools {
		pools[i] = view.Pool{Name: string(rune('a' + i%26)), Waiting: i}
	}
	got := busiest(pools)
	if len(got) != poolLimit || got[0].Waiting != 3*poolLimit-1 || got[poolLimit-1].Waiting != 2*poolLimit {
		t.Errorf("%d pools, from %v to %v", len(got), got[0], got[len(got)-1])
	}
}

func TestRequestsAreCountedByRoute(t *testing.T) {
	m := New(Config{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tasks/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "none" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	mux.HandleFunc("GET /panics", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") })
	handler := requestinfo.Wrap(m.HTTP(requestinfo.Routed(mux)))
	for _, ask := range []string{"GET /tasks/1", "GET /tasks/2", "GET /tasks/none", "GET /panics", "GET /events", "GET /wp-admin", "BREW /coffee"} {
		method, path, _ := strings.Cut(ask, " ")
		func() {
			defer func() { _ = recover() }() // as the server does
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, nil))
		}()
	}
	families := gather(t, m)
	requests := families["weir_http_requests_total"]
	for _, c := range []struct {
		want   float64
		labels []string
	}{
		{2, []string{"GET", "/tasks/{id}", "200"}},
		{1, []string{"GET", "/tasks/{id}", "404"}},
		{1, []string{"GET", "/panics", "500"}},
		{1, []string{"GET", "/events", "200"}},
		{1, []string{"GET", "other", "404"}},
		{1, []string{"other", "other", "404"}},
	} {
		if got := value(requests, c.labels...); got != c.want {
			t.Errorf("%v: %v, want %v", c.labels, got, c.want)
		}
	}
	if len(requests.GetMetric()) != 6 {
		t.Errorf("%v", requests)
	}
	for _, f := range families["weir_http_request_duration_seconds"].GetMetric() {
		if f.GetLabel()[1].GetValue() == "/events" {
			t.Error("a stream is among the durations")
		}
	}
	if got := value(families["weir_http_requests_in_flight"]); got != 0 {
		t.Errorf("%v in flight", got)
	}
}

// Devices are counted by health and by presence, and values without a device are zero.
func TestFleetFigures(t *testing.T) {
	db := testdb.New(t)
	if _, err := db.Pool.Exec(t.Context(), `select weir.fleet_report('PC-01', '[{"serial": "A1"}, {"serial": "B2"}]', 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Pool.Exec(t.Context(), `select weir.device_quarantine('A1', 'ann', 'broken'), weir.fleet_submit('nightly', '{"run": {"argv": ["x"]}, "target": {"all": true}}')`); err != nil {
		t.Fatal(err)
	}
	families := gather(t, newMetrics(db, view.New(db.Pool), time.Nanosecond))
	for _, c := range []struct {
		name   string
		want   float64
		labels []string
	}{
		{"weir_devices", 1, []string{"quarantined", "online"}},
		{"weir_devices", 1, []string{"unknown", "online"}},
		{"weir_devices", 0, []string{"retired", "offline"}},
		{"weir_pcs", 1, []string{"active"}},
		{"weir_pcs", 0, []string{"paused"}},
		{"weir_fleet_slots_running", 0, nil},
		{"weir_fleet_slots_target", 1, nil},
		{"weir_fleet_jobs", 1, []string{"active"}},
		{"weir_fleet_jobs", 0, []string{"waiting"}},
		{"weir_fleet_active_units", 2, []string{"waiting"}},
		{"weir_fleet_active_units", 0, []string{"missed"}},
	} {
		if got := value(families[c.name], c.labels...); got != c.want {
			t.Errorf("%s%v is %v, wanted %v", c.name, c.labels, got, c.want)
		}
	}
}
