package fleettest

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

var rewrite = flag.Bool("rewrite", false, "write what the script prints to its file")

func TestMain(m *testing.M) { testdb.Main(m) }

// login makes a login that has one role and no other right, and returns its URL.
func login(t *testing.T, db *testdb.DB, role string) string {
	t.Helper()
	name, password := "test_"+strings.ToLower(rand.Text()), rand.Text()
	if _, err := db.Pool.Exec(t.Context(), `create role `+name+` login password '`+password+`' in role `+role); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Pool.Exec(context.Background(), `drop owned by `+name+`; drop role `+name); err != nil {
			t.Errorf("drop role: %v", err)
		}
	})
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, password)
	return u.String()
}

// psql runs psql with a script and returns its output and its error output.
func psql(t *testing.T, script string, args ...string) (out, complaints string) {
	t.Helper()
	path, err := exec.LookPath("psql")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("psql is missing")
		}
		t.Skip("SKIPPED: psql is missing; make test installs it")
	}
	file, err := os.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// A script that never ends is stopped by its deadline, and the test shows where it
	// was.
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, path, append([]string{"-X", "-q"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", script, err, stdout.String(), stderr.String())
	}
	return stdout.String(), stderr.String()
}

// strict sets the policy of the device queue: a run that fails for good puts its device
// out.
func strict(t *testing.T, db *testdb.DB) {
	t.Helper()
	if _, err := db.Pool.Exec(t.Context(), `select weir.set_fleet_policy('{"policy": "strict"}')`); err != nil {
		t.Fatal(err)
	}
}

// play runs a script of testdata as a client and a worker, and compares its output with
// the file beside it.
func play(t *testing.T, name string) {
	t.Helper()
	t.Parallel()
	db := testdb.New(t)
	strict(t, db)
	client, worker := login(t, db, "weir_client"), login(t, db, "weir_worker")
	out, complaints := psql(t, "testdata/"+name+".sql", "-v", "owner="+db.URL, "-v", "client="+client, "-v", "worker="+worker, worker)
	got := out + "\n# Complaints, in order\n" + complaints
	file := "testdata/" + name + ".golden"
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(golden), "\n"), strings.Split(got, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Fatalf("line %d of %s is another one. It printed:\n%s\nIf that is meant: go test ./internal/fleet/fleettest -rewrite", i+1, file, strings.Join(is[max(0, min(i, len(is))-5):], "\n"))
		}
	}
}

// TestRules checks the device queue rule by rule: slots, refill, retry, timeout,
// FAILED_FINAL, the device that leaves, the next ACTIVE task, late reports and the
// history of every attempt.
func TestRules(t *testing.T) { play(t, "rules") }

// TestEdges checks a PC that dies, a canceled run, a device that moves, a health task,
// and a retired device.
func TestEdges(t *testing.T) { play(t, "edges") }

// TestRunners lets the example's runner work for two PCs at once, until no task is left:
// one device breaks on every task, and is out for the second task.
func TestRunners(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	strict(t, db)
	client, worker := login(t, db, "weir_client"), login(t, db, "weir_worker")
	const runner = "../../../examples/psql/fleet.sql"
	// The devices are reported first, because a task is for the devices that exist.
	psql(t, runner, "-v", "ON_ERROR_STOP=1", "-v", "pc=PC-01", "-v", "devices=a1,a2,a3,a4", worker)
	psql(t, runner, "-v", "ON_ERROR_STOP=1", "-v", "pc=PC-02", "-v", "devices=b1,b2", worker)
	psql(t, "testdata/tasks.sql", "-v", "ON_ERROR_STOP=1", client)
	outs := make([]string, 2)
	var running sync.WaitGroup
	for i, args := range [][]string{{"-v", "pc=PC-01", "-v", "devices=a1,a2,a3,a4"}, {"-v", "pc=PC-02", "-v", "devices=b1,b2"}} {
		running.Go(func() {
			outs[i], _ = psql(t, runner, append(append([]string{"-v", "ON_ERROR_STOP=1"}, args...), worker)...)
		})
	}
	running.Wait()
	for i, want := range []string{
		"smoke on a1: completed\nsmoke on a2: failed, the screen stayed black\nsmoke on a3: completed\nsmoke on a4: completed\npatrol on a1: completed\npatrol on a3: completed\npatrol on a4: completed\n",
		"smoke on b1: completed\nsmoke on b2: completed\npatrol on b1: completed\npatrol on b2: completed\n",
	} {
		if outs[i] != want {
			t.Errorf("runner %d says\n%s, wanted\n%s", i+1, outs[i], want)
		}
	}
	var tasks string
	if err := db.Pool.QueryRow(t.Context(), `select string_agg(format('%s %s %s+%s/%s', name, status, devices_done, devices_failed, devices_total), ', ' order by created_at) from fleet.tasks`).Scan(&tasks); err != nil {
		t.Fatal(err)
	}
	if want := "smoke failed 5+1/6, patrol success 5+0/6"; tasks != want {
		t.Errorf("tasks: %s, wanted %s", tasks, want)
	}
}

// TestRunnersCheckHealth lets the same runner work where a health task is set: it claims
// what the target says, is given the health task of each device first, and finishes.
func TestRunnersCheckHealth(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	strict(t, db)
	client, worker := login(t, db, "weir_client"), login(t, db, "weir_worker")
	const runner = "../../../examples/psql/fleet.sql"
	args := []string{"-v", "ON_ERROR_STOP=1", "-v", "pc=PC-01", "-v", "devices=a1,a2,a3", worker}
	psql(t, runner, args...)
	if _, err := db.Pool.Exec(t.Context(), `select weir.set_fleet_policy('{"health": {"run": {"argv": ["./health"]}}}')`); err != nil {
		t.Fatal(err)
	}
	summary := func() (s string) {
		t.Helper()
		if err := db.Pool.QueryRow(t.Context(), `select format('target %s, running %s, eligible %s', target, running_count, eligible_device_count) from fleet.pc_device_summary`).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if got, want := summary(), "target 3, running 0, eligible 0"; got != want {
		t.Errorf("before: %s, wanted %s", got, want)
	}
	if _, err := db.Pool.Exec(t.Context(), `select fleet.claim_task_devices_for_pc('PC-01', 1)`); err != nil {
		t.Fatal(err)
	}
	if got, want := summary(), "target 3, running 1, eligible 0"; got != want {
		t.Errorf("with one health task: %s, wanted %s", got, want)
	}
	if _, err := db.Pool.Exec(t.Context(), `select fleet.complete_task_device(id, 'PC-01', attempt => 1) from fleet.task_devices where task_id is null`); err != nil {
		t.Fatal(err)
	}
	psql(t, "testdata/smoke.sql", "-v", "ON_ERROR_STOP=1", client)
	out, _ := psql(t, runner, args...)
	if want := "smoke on a1: completed\nsmoke on a2: completed\nsmoke on a3: completed\n"; out != want {
		t.Errorf("the runner says\n%s, wanted\n%s", out, want)
	}
	var checks, good int
	if err := db.Pool.QueryRow(t.Context(), `select (select count(*) from weir.tasks where key like 'health %'), (select count(*) from weir.devices where health = 'good')`).Scan(&checks, &good); err != nil {
		t.Fatal(err)
	}
	if checks != 3 || good != 3 {
		t.Errorf("%d health tasks, %d good devices", checks, good)
	}
}
