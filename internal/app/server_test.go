package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// running is a server in this process.
type running struct {
	t      *testing.T
	out    testwait.Text
	end    context.CancelFunc
	force  context.CancelFunc
	ended  chan error
	listen string
}

// up starts a server on the database and waits until it has told where it is.
func up(t *testing.T, config Config, options Options) *running {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	force, hurry := context.WithCancel(context.Background())
	r := &running{t: t, end: end, force: hurry, ended: make(chan error, 1)}
	if config.Data == "" {
		config.Data = t.TempDir()
	}
	config.Listen = "127.0.0.1:0"
	options.Version, options.Out, options.Force = "test", &r.out, force
	go func() { r.ended <- Up(ctx, config.Defaults(), options) }()
	t.Cleanup(func() {
		end()
		hurry()
		http.DefaultClient.CloseIdleConnections()
	})
	testwait.Until(t, "the server is up", func() bool {
		found, err := ReadRunning(config.Data)
		r.listen = found.Listen
		return err == nil && strings.Contains(r.out.String(), "Weir is up after ")
	})
	return r
}

// stop ends the server and returns its error.
func (r *running) stop() error {
	r.t.Helper()
	r.end()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(time.Minute):
		r.t.Fatalf("the server does not stop:\n%s", r.out.String())
		return nil
	}
}

// body is what stands in an answer.
func (r *running) body(path string) string {
	r.t.Helper()
	response, err := http.Get("http://" + r.listen + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func (r *running) get(path string) (int, Readiness) {
	r.t.Helper()
	response, err := http.Get("http://" + r.listen + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var ready Readiness
	if err := json.Unmarshal(text, &ready); err != nil {
		r.t.Fatalf("%s: %v in %s", path, err, text)
	}
	return response.StatusCode, ready
}

func TestUpAnswersAndStops(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	data := t.TempDir()
	r := up(t, Config{DatabaseURL: db.URL, Data: data}, Options{})
	if status, _ := r.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	status, ready := r.get("/readyz")
	if status != http.StatusOK || !ready.Ready || len(ready.Checks) != 2 {
		t.Errorf("/readyz: %d %+v", status, ready)
	}
	info, err := os.Stat(filepath.Join(data, "server.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("server.json: %v %v", info.Mode(), err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRunning(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("server.json is still there: %v", err)
	}
	text := r.out.String()
	if !strings.Contains(text, "Stopped cleanly.") || strings.Contains(text, "PostgreSQL ...") {
		t.Errorf("it said:\n%s", text)
	}
	var leaders int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from weir.system_locks where expires_at > clock_timestamp()`).Scan(&leaders); err != nil || leaders != 0 {
		t.Errorf("it did not resign: %d %v", leaders, err)
	}
}

// A second server on the same database stands by and is ready; when the first
// stops, it leads.
// A store that is down must not keep the rest from running: what needs it waits.
func TestUpWithoutItsBucket(t *testing.T) {
	t.Parallel()
	away, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := away.Addr().String()
	if err := away.Close(); err != nil { // nobody is there
		t.Fatal(err)
	}
	db := testdb.New(t)
	db.SkipDoctor("the bucket cannot be seen")
	r := up(t, Config{DatabaseURL: db.URL, Bucket: "s3://key:secret@" + at + "/homes?tls=false"}, Options{})
	if status, _ := r.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	if text := r.out.String(); !strings.Contains(text, "which does not answer: what needs it waits") {
		t.Errorf("it said:\n%s", text)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestStandby(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	first := up(t, Config{DatabaseURL: db.URL}, Options{})
	second := up(t, Config{DatabaseURL: db.URL}, Options{})
	if status, ready := second.get("/readyz"); status != http.StatusOK {
		t.Errorf("%d %+v", status, ready)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the second leads", func() bool {
		var leads bool
		err := db.Pool.QueryRow(t.Context(), `select l.epoch = 2 and l.expires_at > clock_timestamp() from weir.system_locks l where l.lock_name = 'coordinator'`).Scan(&leads)
		return err == nil && leads
	})
	if err := second.stop(); err != nil {
		t.Fatal(err)
	}
}

// Without its database a server lives but is not ready. Why is for the log alone.
func TestNotReady(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	db.SkipDoctor("its database does not let anybody in")
	var log testwait.Text
	r := up(t, Config{DatabaseURL: db.URL, CoordinatorTTL: time.Second}, Options{Log: Config{}.Defaults().Logger(&log)})
	admin := testdb.NewEmpty(t)
	name := db.Pool.Config().ConnConfig.Database
	if _, err := admin.Pool.Exec(t.Context(), `alter database `+name+` allow_connections false`); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, name); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "it is not ready", func() bool {
		status, ready := r.get("/readyz")
		return status == http.StatusServiceUnavailable && !ready.Ready && len(ready.Checks) == 1 && ready.Checks[0].Name == "database"
	})
	var answer struct{ Checks []map[string]any }
	if err := json.Unmarshal([]byte(r.body("/readyz")), &answer); err != nil {
		t.Fatal(err)
	}
	for _, check := range answer.Checks {
		if keys := slices.Sorted(maps.Keys(check)); !slices.Equal(keys, []string{"name", "ok"}) {
			t.Errorf("strangers are told %v", check)
		}
	}
	if text := log.String(); !strings.Contains(text, `msg="not ready" check=database error=`) {
		t.Errorf("the log says:\n%s", text)
	}
	if status, _ := r.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	if _, err := admin.Pool.Exec(t.Context(), `alter database `+name+` allow_connections true`); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "it is ready again", func() bool { status, _ := r.get("/readyz"); return status == http.StatusOK })
	command(t, db, `update weir.object_version set version = -version`) // as if its functions were of an older release
	testwait.Until(t, "it is not ready without its schema", func() bool {
		_, ready := r.get("/readyz")
		return !ready.Ready && len(ready.Checks) == 2 && ready.Checks[1].Name == "schema" && !ready.Checks[1].OK
	})
	command(t, db, `update weir.object_version set version = -version`)
	testwait.Until(t, "it is ready with its schema", func() bool { status, _ := r.get("/readyz"); return status == http.StatusOK })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// A port that is taken is told before anything is started.
func TestPortTaken(t *testing.T) {
	db := testdb.New(t)
	r := up(t, Config{DatabaseURL: db.URL}, Options{})
	var out testwait.Text
	data := filepath.Join(t.TempDir(), "new")
	err := Up(t.Context(), Config{DatabaseURL: db.URL, Data: data, Listen: r.listen}.Defaults(), Options{Out: &out})
	if err == nil || !strings.Contains(problem.Explain(err).Next, "--listen") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was left behind: %v", err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// The demo works, and a stop hands back what it holds.
func TestDemo(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	r := up(t, Config{DatabaseURL: db.URL, NodeName: "here"}, Options{Demo: true})
	testwait.Until(t, "a film is encoded", func() bool {
		var n int
		err := db.Pool.QueryRow(t.Context(), `select count(*) from weir.task where service = 'demo.encode' and state = 'running'`).Scan(&n)
		return err == nil && n > 0
	})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	var held int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from weir.running`).Scan(&held); err != nil || held != 0 {
		t.Errorf("%d tasks are still held, %v", held, err)
	}
}

// A stop that is forced does not wait for the work.
func TestForce(t *testing.T) {
	db := testdb.New(t)
	r := up(t, Config{DatabaseURL: db.URL, NodeName: "here"}, Options{Demo: true})
	r.force()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.out.String(), "Stopped by force") {
		t.Errorf("it said:\n%s", r.out.String())
	}
}

func TestTroubledLoop(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		stats loop.Stats
		want  string
	}{
		"new":       {loop.Stats{Every: time.Second}, ""},
		"well":      {loop.Stats{Every: time.Second, Last: now.Add(-time.Second)}, ""},
		"one error": {loop.Stats{Every: time.Second, Last: now, Failing: 1, Error: "no"}, ""},
		"failing":   {loop.Stats{Every: time.Second, Last: now, Failing: 3, Error: "no"}, "failed 3 times in a row: no"},
		"stuck":     {loop.Stats{Every: time.Second, Running: now.Add(-time.Hour)}, "is in a tick"},
		"silent":    {loop.Stats{Every: time.Second, Last: now.Add(-time.Hour)}, "has not ticked"},
		"slow pace": {loop.Stats{Every: time.Hour, Last: now.Add(-time.Hour)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := troubled(c.stats, now); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A folder with a live server is refused with its pid, and what that server told
// about itself stays.
func TestFolderInUse(t *testing.T) {
	db := testdb.New(t)
	data := t.TempDir()
	r := up(t, Config{DatabaseURL: db.URL, Data: data}, Options{})
	before, err := ReadRunning(data)
	if err != nil {
		t.Fatal(err)
	}
	err = Up(t.Context(), Config{DatabaseURL: db.URL, Data: data, Listen: "127.0.0.1:0"}.Defaults(), Options{Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by the Weir with pid %d", os.Getpid())) || !strings.Contains(problem.Explain(err).Next, "--data") {
		t.Errorf("got %v", err)
	}
	if after, err := ReadRunning(data); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("got %+v, %v", after, err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRunning(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// After a kill the next server says how long the old term still holds.
func TestWhoLeads(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	for holder, want := range map[string]string{
		"elsewhere/1/x": "another server leads: elsewhere/1/x",
		fmt.Sprintf("%s/%d/x", hostname(), os.Getpid()): "the term of the server that was killed ends in up to",
	} {
		if _, err := db.Pool.Exec(t.Context(), `insert into weir.system_locks values ('coordinator', $1, 1, clock_timestamp(), clock_timestamp() + interval '1 min')
			on conflict (lock_name) do update set holder_id = excluded.holder_id`, holder); err != nil {
			t.Fatal(err)
		}
		if got := (&parts{pool: db.Pool}).standby(t.Context()); !strings.Contains(got, want) {
			t.Errorf("%s: %q", holder, got)
		}
	}
}

func TestOpenedFolders(t *testing.T) {
	dir := t.TempDir()
	before := passable(dir)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	closed := passable(dir)
	if err := os.Chmod(dir, 0o701); err != nil {
		t.Fatal(err)
	}
	if got := opened(closed, passable(dir)); len(got) != 1 || got[0] != dir {
		t.Errorf("got %v", got)
	}
	if got := opened(before, closed); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
