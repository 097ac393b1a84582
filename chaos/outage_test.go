//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/vault"
)

// absence is a Weir on a PostgreSQL of its own, with a server that agents reach through a
// proxy, and agents that may go on without contact.
type absence struct {
	*hall
	postgres *Server
	listen   string
	process  *os.Process
	proxy    *Proxy
}

// newAbsence starts it, with leases and times without contact as given.
func newAbsence(t *testing.T, lease, keep time.Duration) *absence {
	t.Helper()
	r, postgres := newServerRun(t)
	o := &absence{hall: &hall{site: &site{run: r}, dir: t.TempDir()}, postgres: postgres, listen: freeAddress(t)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	t.Cleanup(cancel)
	o.ctx = ctx
	keys := filepath.Join(t.TempDir(), "secret.key")
	if _, err := vault.LoadKeys(keys, true); err != nil {
		t.Fatal(err)
	}
	o.environment = append(os.Environ(), "WEIR_DATABASE_URL="+o.url, "WEIR_SECRET_KEY_FILE="+keys,
		"WEIR_BUCKET=folder://"+t.TempDir(), "WEIR_DATA="+t.TempDir(), "WEIR_COORDINATOR_TTL=3s",
		"WEIR_AGENT_LEASE="+lease.String(), "WEIR_AGENT_KEEP="+keep.String())
	o.serve()
	var err error
	if o.proxy, err = NewProxy("server", "http://"+o.listen); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.proxy.Close)
	return o
}

// freeAddress returns an address that a server can listen on, also after a restart.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serve starts the server at its address.
func (o *absence) serve() {
	o.Helper()
	o.process = o.serverAt(o.listen)
}

// remote starts an agent that knows only the address of the proxy.
func (o *absence) remote(name string, args ...string) *workplace {
	o.Helper()
	var join struct{ Secret string }
	if err := json.Unmarshal([]byte(o.product("join", "create", "--node", name, "--any", "-o", "json")), &join); err != nil {
		o.Fatal(err)
	}
	return o.node(name, append([]string{"--server", o.proxy.URL(), "--join", join.Secret}, args...)...)
}

// outages are the ways in which the control plane is away for a while.
var outages = []struct {
	name string
	away func(o *absence, d time.Duration)
}{
	{"restart of the server", func(o *absence, d time.Duration) {
		o.signal(o.process, syscall.SIGTERM)
		o.pass(d)
		o.serve()
	}},
	{"cut of the network", func(o *absence, d time.Duration) {
		if err := o.proxy.Partition(); err != nil {
			o.Fatal(err)
		}
		o.pass(d)
		o.proxy.Heal()
	}},
	{"stop of PostgreSQL", func(o *absence, d time.Duration) {
		if err := o.postgres.Stop(o.ctx); err != nil {
			o.Fatal(err)
		}
		o.pass(d)
		if err := o.postgres.start(o.ctx); err != nil {
			o.Fatal(err)
		}
	}},
}

// TestWorkOutlivesTheOutage has the server restart, the network cut and PostgreSQL stop
// for longer than a lease, while commands, a container and work on a device run. All of
// them end with their first attempt, with their whole log, and nothing was lost or
// refused.
func TestWorkOutlivesTheOutage(t *testing.T) {
	t.Parallel()
	const lease = 5 * time.Second
	workOutlives(t, lease, 2*lease)
}

// workOutlives does so for leases and outages of the given length.
func workOutlives(t *testing.T, lease, away time.Duration) {
	o := newAbsence(t, lease, 4*away)
	host := dockertest.Daemon(t)
	image := dockertest.Image(t, host)
	file, _ := o.listed("PC-01", 0, 1)
	places := []*workplace{
		o.remote("edge", "--service", "exec=2", "--service", "docker=1", "--docker-host", host),
		o.pc("PC-01", "--devices", file),
		o.node("near", "--service", "near=1"),
	}
	o.fleet(1, o.program())
	// An attempt has at most 1,000 events.
	tick := fmt.Sprintf(`n=0; while [ ! -e "$1/go" ]; do n=$((n+1)); echo "line $n"; echo "::event info tick $n"; sleep %.1f; done; echo "lines $n"`,
		max(500*time.Millisecond, away/150).Seconds())
	job := o.work("outage",
		map[string]any{"key": "far", "run": []string{"sh", "-c", tick, "sh", o.dir}},
		map[string]any{"key": "container", "run": map[string]any{"image": image, "argv": []string{"work", (6*away + time.Minute).String()}}},
		map[string]any{"key": "near", "service": "near", "run": []string{"sh", "-c", tick, "sh", o.dir}},
	)
	o.wait("all work runs", func() bool {
		return o.count(`select count(*) from weir.running where started`) == 4
	})
	for _, out := range outages {
		t.Logf("%s for %s", out.name, away)
		out.away(o, away)
		// All agents are heard from again before the next outage begins.
		since := time.Now()
		o.wait("the agents are back after the "+out.name, func() bool {
			var back int
			err := o.pool.QueryRow(o.ctx, `select count(*) from weir.running where until > $1`, since.Add(lease+4*away)).Scan(&back)
			return err == nil && back == 4
		})
	}
	o.letGo()
	o.product("task", "cancel", job.String()+"/container", "--yes")
	o.wait("everything has ended", func() bool { return o.count(`select count(*) from weir.running`) == 0 })
	o.become("1 done")
	rows := o.texts(`select key || ' ' || state || ' ' || attempt from weir.task where job = $1 order by 1`, job)
	if got, want := strings.Join(rows, ", "), "container canceled 1, far done 1, near done 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if bad := o.texts(`select distinct type from weir.events where type in ('expired', 'stale', 'returned', 'retry')`); len(bad) > 0 {
		t.Errorf("leases were lost, or refused: %v", bad)
	}
	for _, key := range []string{"far", "near"} {
		o.wholeLog(job, key)
	}
	o.nobodyPaid()
	o.concludes(places...)
}

// wholeLog checks that no line of a log and no event is missing.
func (o *absence) wholeLog(job weir.ID, key string) {
	o.Helper()
	lines := strings.Split(strings.TrimSpace(o.product("task", "log", job.String()+"/"+key)), "\n")
	n := 0
	for _, line := range lines {
		if strings.Contains(line, fmt.Sprintf("line %d", n+1)) {
			n++
		}
	}
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, fmt.Sprintf("lines %d", n)) {
		o.Errorf("of the log of %s %d lines are there in order, and it ends with %q", key, n, last)
	}
	if got := o.count(`select count(*) from weir.events e join weir.tasks q on q.id = e.task where q.job = $1 and q.key = $2 and e.message like 'tick %'`, job, key); got != n {
		o.Errorf("%s reported %d events, and %d are there", key, n, got)
	}
}

// TestADeadNodeLosesItsWork kills an agent and its keepers, which is what the death of a
// machine looks like: another node gets the task when the lease and the time without
// contact are over, and not before.
func TestADeadNodeLosesItsWork(t *testing.T) {
	t.Parallel()
	o := newAbsence(t, 5*time.Second, 5*time.Second)
	dead := o.remote("edge", "--service", "render=1")
	job := o.work("dead", map[string]any{
		"key": "a", "service": "render",
		"run": []string{"sh", "-c", `test "$WEIR_ATTEMPT" -gt 1 || sleep 600; date +%s%N > "$1/second"`, "sh", o.dir},
	})
	o.wait("it runs", func() bool { return o.count(`select count(*) from weir.running where started`) == 1 })
	o.remote("spare", "--service", "render=1")
	dead.kill()
	until := o.texts(`select (extract(epoch from until) * 1e9)::bigint::text from weir.running`)
	keepers, err := Keepers(dead.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range keepers {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may have ended
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	o.wait("another node does it", func() bool {
		return o.count(`select count(*) from weir.task where job = $1 and state = 'done' and attempt = 2`, job) == 1
	})
	second, err := os.ReadFile(filepath.Join(o.dir, "second")) // #nosec G304 -- ours
	if err != nil || len(until) != 1 || strings.TrimSpace(string(second)) < until[0] {
		t.Errorf("the second attempt ran at %s, and the lease held until %v (%v)", second, until, err)
	}
}

// work stores a workflow of these steps and starts it.
func (o *absence) work(name string, steps ...map[string]any) (job weir.ID) {
	o.Helper()
	file := filepath.Join(o.TempDir(), name+".json")
	text, err := json.Marshal(map[string]any{"name": name, "steps": steps})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		o.Fatal(err)
	}
	id := strings.TrimSpace(o.product("run", file, "-o", "name"))
	if job, err = weir.ParseID(id); err != nil {
		o.Fatalf("weir run printed %q: %v", id, err)
	}
	return job
}
