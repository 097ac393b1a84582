package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/device"
	"github.com/weirhq/weir/internal/agent/driver"
	execdriver "github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
)

// plan configures an agent in a process of its own.
type plan struct {
	URL, Bucket, Dir, Node string
	Lease                  time.Duration
	// Devices is the file of its devices; empty means that it has none.
	Devices string
}

const planVariable = "WEIR_TEST_AGENT"

// agentMain is the main function of an agent in a process of its own.
func agentMain() {
	text := os.Getenv(planVariable)
	if text == "" {
		return
	}
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	ctx := context.Background()
	pool, err := pg.Open(ctx, p.URL, pg.Options{Name: "agent"})
	if err != nil {
		panic(err)
	}
	bucket, err := blob.Open(ctx, p.Bucket)
	if err != nil {
		panic(err)
	}
	hints := node.NewHints(pool, nil)
	config := agent.Config{
		Transport: node.NewDesk(pool, p.Node, node.Options{Bucket: bucket, Hints: hints}), Dir: p.Dir, Lease: p.Lease, Grace: time.Second, Rest: 100 * time.Millisecond,
		Info:    node.Info{Name: p.Node, Capacity: map[string]int{"sh": 2}},
		Drivers: map[string]driver.Driver{"exec": execdriver.New(execdriver.Options{Dir: agent.Attempts(p.Dir)})},
		Log:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if p.Devices != "" {
		if config.Devices, err = device.Open(p.Devices); err != nil {
			panic(err)
		}
		config.Info.Capacity[node.Fleet], config.Look = 2, 20*time.Millisecond
	}
	a := agent.New(config)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, os.Interrupt)
	go func() {
		if <-asked == os.Interrupt {
			a.Drain()
		} else {
			a.Detach()
		}
	}()
	if err := a.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "the agent gave up:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// spawn starts an agent in a process of its own.
func (w *world) spawn(p plan) *os.Process {
	w.Helper()
	p.URL, p.Bucket = w.db.URL, "folder://"+w.folder
	text, err := json.Marshal(p)
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), planVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = w.log, w.log
	cmd.WaitDelay = 100 * time.Millisecond // its keeper has the same stderr
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = cmd.Wait()
	}()
	w.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		<-over
	})
	return cmd.Process
}

func touch(w *world, path string) {
	w.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		w.Fatal(err)
	}
}

// before checks that the last time in one file is before the first in another.
func before(w *world, first, second string) {
	w.Helper()
	a, b := fields(w, first), fields(w, second)
	if len(a) == 0 || len(b) == 0 || a[len(a)-1] >= b[0] {
		w.Errorf("the first attempt still ran when the second began: %v … %v", a[max(0, len(a)-1):], b)
	}
}

func fields(w *world, path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	lines := strings.Fields(string(text))
	// The last line may have been cut off.
	if n := len(lines); n > 1 && len(lines[n-1]) < len(lines[0]) {
		lines = lines[:n-1]
	}
	return lines
}

// An agent that is killed and started again continues with its work.
func TestAKilledAgentsWorkGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// away means that the work ends while there is no agent.
		away bool
	}{{"it ends later", false}, {"it ends meanwhile", true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p := plan{Dir: t.TempDir(), Node: "n1", Lease: 20 * time.Second}
			first := w.spawn(p)
			job := w.submit(sh("a", `echo one; until test -e "$GO"; do sleep 0.02; done; echo two; echo '::result 5'; echo three > "$WEIR_OUT/three"; exit 0`).
				running("env", map[string]string{"GO": w.folder + "/go"}))
			w.until("the first line is kept", func() bool { return len(w.logOf(job, "a", 1)) == 1 })
			w.until("that is noted", func() bool {
				found, _ := filepath.Glob(filepath.Join(agent.Attempts(p.Dir), "*", "journal.json"))
				return len(found) == 1
			})
			if err := first.Kill(); err != nil {
				t.Fatal(err)
			}
			if len(alive(job)) == 0 {
				t.Fatal("the work died with its agent")
			}
			if c.away {
				touch(w, w.folder+"/go")
				w.gone(job)
			}
			w.spawn(p)
			touch(w, w.folder+"/go")
			if got := w.end(job, "a"); got.State != "done" || got.Attempt != 1 || got.Result != "5" {
				t.Errorf("got %+v", got)
			}
			if log := w.logOf(job, "a", 1); !slices.Equal(log, []string{"stdout: one", "stdout: two"}) {
				t.Errorf("the log is %q", log)
			}
			if n := one[int](w, `select count(*) from weir.artifacts where name = 'three'`); n != 1 {
				t.Errorf("%d artifacts", n)
			}
			w.until("the timeline says that it went on", func() bool {
				return one[int](w, `select count(*) from weir.events where task = $1 and type = 'adopted'`, w.task(job, "a").ID) == 1
			})
		})
	}
}

// starting is a driver whose start takes a while longer when the work has begun.
type starting struct {
	*execdriver.Driver
	begun chan struct{}
}

func (s *starting) Start(ctx context.Context, work driver.Work, out driver.Output) (driver.Running, error) {
	r, err := s.Driver.Start(ctx, work, out)
	close(s.begun)
	select {
	case <-time.After(200 * time.Millisecond):
		return r, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An agent that detaches while work starts waits for the start, and leaves the work to
// its next process like any other.
func TestWorkThatStartsIsLeftRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	slow := &starting{execdriver.New(execdriver.Options{Dir: agent.Attempts(c.Dir)}), make(chan struct{})}
	c.Drivers = map[string]driver.Driver{"exec": slow}
	first := agent.New(c)
	over := make(chan error, 1)
	go func() { over <- first.Run(context.Background()) }()
	job := w.submit(sh("a", `until test -e "$GO"; do sleep 0.02; done`).running("env", map[string]string{"GO": w.folder + "/go"}))
	<-slow.begun
	first.Detach()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if got := w.task(job, "a"); got.State != "running" || first.Left() != 1 {
		t.Fatalf("%d run on, and the task is %+v", first.Left(), got)
	}
	c.Drivers = map[string]driver.Driver{"exec": execdriver.New(execdriver.Options{Dir: agent.Attempts(c.Dir)})}
	w.run(c)
	touch(w, w.folder+"/go")
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 1 {
		t.Errorf("got %+v", got)
	}
}

// Work whose lease belongs to another worker by now is killed by the agent that started
// it, when that agent comes back.
func TestARestartedAgentKillsWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := plan{Dir: t.TempDir(), Node: "n1", Lease: 20 * time.Second}
	first := w.spawn(p)
	job := w.submit(sh("a", `test "$WEIR_ATTEMPT" -gt 1 || while :; do sleep 0.02; done`))
	w.running(job, "a")
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	// A claim that was sent just before must not take the task that is freed now.
	w.until("its connections are gone", func() bool {
		return one[bool](w, `select not exists (select from pg_stat_activity where datname = current_database() and application_name = 'agent')`)
	})
	w.until("the lease is over", func() bool { // a row that is locked at the moment is skipped
		one[bool](w, `select weir.expire(at => clock_timestamp() + interval '1 minute') is not null`)
		return w.task(job, "a").State != "running"
	})
	w.spawn(p)
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	w.gone(job)
}

// A stopped agent cannot kill its work. The work dies all the same, before the task can
// be given to another worker; and when the agent resumes, it changes nothing.
func TestAStoppedAgentsWorkDiesInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.spawn(plan{Dir: t.TempDir(), Node: "n1", Lease: 3 * time.Second})
	job := w.submit(sh("a", `if test "$WEIR_ATTEMPT" = 1; then while :; do date +%s%N >> "$TRACE"; sleep 0.02; done; fi; date +%s%N > "$TRACE.second"; until test -e "$GO"; do sleep 0.02; done`).
		running("env", map[string]string{"TRACE": w.folder + "/trace", "GO": w.folder + "/go"}))
	w.running(job, "a")
	w.until("it left a trace", func() bool { _, err := os.Stat(w.folder + "/trace"); return err == nil })
	if err := first.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.run(w.config("n2", map[string]int{"sh": 1}))
	w.until("the second attempt runs", func() bool {
		info, err := os.Stat(w.folder + "/trace.second")
		return err == nil && info.Size() > 0
	})
	before(w, w.folder+"/trace", w.folder+"/trace.second")
	for _, pid := range alive(job) {
		if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && strings.Contains(string(env), "WEIR_ATTEMPT=1\x00") {
			t.Error("the first attempt still runs")
		}
	}
	if err := first.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.until("the stopped agent lives again", func() bool {
		return one[bool](w, `select seen_at > clock_timestamp() - interval '1 s' from weir.workers where name = 'agent@n1'`)
	})
	touch(w, w.folder+"/go")
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
}
