//go:build unix

package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// serveVariable makes the test binary a server on the database it names.
const serveVariable = "WEIR_TEST_SERVE"

// clusterTTL is the term of a leader in these tests. The product's is 15 s.
const clusterTTL = 3 * time.Second

// serveProcess is the main of such a server.
func serveProcess(url string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config := Config{DatabaseURL: url, Listen: "127.0.0.1:0", CoordinatorTTL: clusterTTL, DrainDelay: -1, MetricsOpen: true}.Defaults()
	if err := Serve(ctx, config, Options{Version: "test", Out: os.Stdout, Log: config.Logger(os.Stderr)}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is a server of its own, which can be killed and paused.
type process struct {
	*exec.Cmd
	url string
}

var told = regexp.MustCompile(`http://[0-9.:]+`)

func startProcess(t *testing.T, database string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), serveVariable+"="+database)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: cmd}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended long ago
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "API") {
			p.url = told.FindString(lines.Text())
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return p
		}
	}
	t.Fatal("the server ended before it was up")
	return nil
}

// follower follows the timeline as a browser does: when a stream breaks off, it
// goes on after the last id at another server.
type follower struct {
	mu      sync.Mutex
	seen    map[string]int
	streams int
}

func (f *follower) run(ctx context.Context, servers []*process, token, from string) {
	last := from
	for i := 0; ctx.Err() == nil; i++ {
		last = f.follow(ctx, servers[i%len(servers)].url, token, last)
		loop.Wait(ctx, 20*time.Millisecond, nil)
	}
}

// follow reads one stream until it ends, and returns where to go on.
func (f *follower) follow(ctx context.Context, url, token, last string) string {
	// A server that is paused takes connections and says nothing: the client's
	// own patience ends that, as a browser's proxy does.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/events", nil)
	if err != nil {
		return last
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Last-Event-ID", last)
	silence := time.AfterFunc(clusterTTL, cancel)
	defer silence.Stop()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return last
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return last
	}
	f.mu.Lock()
	f.streams++
	f.mu.Unlock()
	id := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		silence.Reset(clusterTTL)
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "data":
			var event struct{ Type, Task string }
			if json.Unmarshal([]byte(value), &event) == nil && event.Task != "" {
				f.mu.Lock()
				f.seen[event.Task+" "+event.Type]++
				f.mu.Unlock()
			}
		case "":
			if id != "" {
				last, id = id, ""
			}
		}
	}
	return last
}

func (f *follower) snapshot() (seen map[string]int, streams int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen = make(map[string]int, len(f.seen))
	for k, n := range f.seen {
		seen[k] = n
	}
	return seen, f.streams
}

// Three servers share a database. Their leader is killed, the next one paused:
// each time another leads and acts, the one that wakes up changes nothing more,
// and followers miss no event and see none twice.
func TestR9_ThreeServers(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	servers := make([]*process, 3)
	for i := range servers {
		servers[i] = startProcess(t, db.URL)
	}
	people := auth.New(db.Pool, auth.Options{})
	if _, err := people.CreateUser(t.Context(), auth.System("test"), auth.NewUser{Name: "watcher", Role: auth.Viewer}); err != nil {
		t.Fatal(err)
	}
	_, token, err := people.CreateToken(t.Context(), auth.System("test"), auth.NewToken{Name: "follow", Scopes: []string{"*:read"}, User: "watcher"})
	if err != nil {
		t.Fatal(err)
	}
	var from string
	if err := db.Pool.QueryRow(t.Context(), `select weir.events_tail()`).Scan(&from); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer end()
	f := &follower{seen: map[string]int{}}
	group.Go(func() { f.run(ctx, servers, token, from) })
	// Something happens all the time, so that there is something to miss.
	busy, rest := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		for loop.Wait(busy, 20*time.Millisecond, nil) {
			_, _ = db.Pool.Exec(busy, `select weir.submit('nobody')`) // its end may cut the last one short
		}
	})

	// A task that is due in a moment becomes available only if a leader acts:
	// nobody here uses the SDK, which would tend the engine itself.
	due := func() {
		t.Helper()
		var id string
		if err := db.Pool.QueryRow(t.Context(), `select weir.submit('nobody', run_at => clock_timestamp() + interval '100 ms')`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		testwait.Until(t, "a leader opens the gate of a task that is due", func() bool {
			var state string
			err := db.Pool.QueryRow(t.Context(), `select state from weir.task where id = $1`, id).Scan(&state)
			return err == nil && state == "available"
		})
	}
	due()

	first, epoch := leader(t, db, servers)
	began := time.Now()
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	due()
	t.Logf("measured: leader killed → another acts in %.1f s (term %s)", time.Since(began).Seconds(), clusterTTL)

	second, next := leader(t, db, servers)
	if next <= epoch || second == first {
		t.Fatalf("epoch %d after %d", next, epoch)
	}
	began = time.Now()
	if err := second.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	due()
	t.Logf("measured: leader paused → another acts in %.1f s (term %s)", time.Since(began).Seconds(), clusterTTL)
	third, last := leader(t, db, servers)
	if last <= next || third == second {
		t.Fatalf("epoch %d after %d", last, next)
	}
	if err := second.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the one that slept knows that another leads", func() bool {
		return strings.Contains(metricsOf(second), "\nweir_leader 0\n")
	})
	if now, same := leader(t, db, servers); now != third || same != last {
		t.Errorf("the lead moved to epoch %d, although nothing happened to epoch %d", same, last)
	}
	due()
	waitForEvents(t, db, 100)
	rest()
	work.Wait()
	checkFollower(t, db, f)
}

// waitForEvents waits until so many events of tasks are there for a follower to miss.
func waitForEvents(t *testing.T, db *testdb.DB, least int) {
	t.Helper()
	testwait.Until(t, "much has happened", func() bool {
		var n int
		err := db.Pool.QueryRow(t.Context(), `select count(*) from weir.event where task is not null`).Scan(&n)
		return err == nil && n > least
	})
}

// leader is the server that leads, and its epoch.
func leader(t *testing.T, db *testdb.DB, servers []*process) (found *process, epoch int64) {
	t.Helper()
	testwait.Until(t, "somebody leads", func() bool {
		var holder string
		err := db.Pool.QueryRow(t.Context(), `select l.holder_id, l.epoch from weir.system_locks l where l.lock_name = $1 and l.expires_at > clock_timestamp()`,
			coordinator.Lock).Scan(&holder, &epoch)
		for _, s := range servers {
			if err == nil && strings.Contains(holder, fmt.Sprintf("/%d/", s.Process.Pid)) {
				found = s
				return true
			}
		}
		return false
	})
	return found, epoch
}

func metricsOf(p *process) string {
	response, err := http.Get(p.url + "/metrics")
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body) // half of them are none
	return string(text)
}

// checkFollower compares what was followed with the timeline itself.
func checkFollower(t *testing.T, db *testdb.DB, f *follower) {
	t.Helper()
	rows, err := db.Pool.Query(t.Context(), `select e.task || ' ' || e.type from weir.event e where e.task is not null`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var want []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		want = append(want, key)
	}
	testwait.Until(t, "the follower has everything", func() bool {
		seen, _ := f.snapshot()
		return len(seen) >= len(want)
	})
	seen, streams := f.snapshot()
	for _, key := range want {
		if seen[key] != 1 {
			t.Errorf("event %s: seen %d times", key, seen[key])
		}
	}
	if streams < 2 {
		t.Errorf("%d streams: no break was survived", streams)
	}
	t.Logf("measured: %d events over %d streams, none lost, none twice", len(want), streams)
}
