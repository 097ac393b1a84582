package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) {
	exec.KeeperMain()
	os.Exit(testwait.Ended(m.Run()))
}

// output collects what the work prints.
type output struct {
	mu       sync.Mutex
	out, err bytes.Buffer
	skip     int64
}

type into struct {
	o *output
	b *bytes.Buffer
}

func (i into) Write(p []byte) (int, error) {
	i.o.mu.Lock()
	defer i.o.mu.Unlock()
	return i.b.Write(p)
}

func (o *output) Stdout() io.Writer     { return into{o, &o.out} }
func (o *output) Stderr() io.Writer     { return into{o, &o.err} }
func (o *output) Taken() (int64, int64) { return o.skip, 0 }
func (o *output) Alive()                {}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String()
}

// rig is a driver and a folder.
type rig struct {
	*testing.T
	dir string
	n   int
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, dir: t.TempDir()}
	for dir := r.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *rig) driver(o exec.Options) *exec.Driver {
	r.Helper()
	o.Dir = r.dir
	d := exec.New(o)
	if err := d.Check(r.Context()); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = d.Close() })
	return d
}

func (r *rig) work(argv ...string) driver.Work {
	r.Helper()
	r.n++
	w := driver.Work{
		Task: fmt.Sprintf("task-%d-%d", os.Getpid(), r.n), Attempt: 1, Fence: "fence", Run: node.Run{Argv: argv},
		Dir: filepath.Join(r.dir, fmt.Sprint(r.n), "work"), State: filepath.Join(r.dir, fmt.Sprint(r.n), "state"),
	}
	for _, dir := range []string{filepath.Join(w.Dir, driver.OutFolder), w.State} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			r.Fatal(err)
		}
	}
	return w
}

func (r *rig) wait(run driver.Running) driver.Exit {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	exit, err := run.Wait(ctx)
	if err != nil {
		r.Fatal(err)
	}
	return exit
}

func (r *rig) start(d *exec.Driver, w driver.Work, o *output) driver.Running {
	r.Helper()
	run, err := d.Start(r.Context(), w, o)
	if err != nil {
		r.Fatal(err)
	}
	return run
}

func TestHowWorkEnds(t *testing.T) {
	r := newRig(t)
	d := r.driver(exec.Options{})
	for script, want := range map[string]driver.Exit{
		`exit 0`:     {},
		`exit 3`:     {Code: 3},
		`kill -9 $$`: {Code: 137, Signal: "killed"},
	} {
		if got := r.wait(r.start(d, r.work("/bin/sh", "-c", script), &output{})); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v", script, got)
		}
	}
	if _, err := d.Start(t.Context(), r.work("/no/such/program"), &output{}); err == nil {
		t.Error("a program that is not there was started")
	}
	if _, err := d.Start(t.Context(), r.work(), &output{}); err == nil {
		t.Error("nothing was started")
	}
}

// The arguments go to the program as they are, without a shell.
func TestNoShell(t *testing.T) {
	r := newRig(t)
	o := &output{}
	r.wait(r.start(r.driver(exec.Options{}), r.work("echo", "$HOME", "; exit 3", "*"), o))
	if got := o.text(); got != "$HOME ; exit 3 *\n" {
		t.Errorf("got %q", got)
	}
}

// The work gets the variables that it is given, and only a few of the agent's own.
func TestEnvironment(t *testing.T) {
	t.Setenv("WEIR_DATABASE_URL", "postgres://secret")
	t.Setenv("LANG", "hu_HU.UTF-8")
	r := newRig(t)
	w := r.work("/usr/bin/env")
	w.Env = map[string]string{"MINE": "1", "TZ": "Europe/Budapest"}
	o := &output{}
	r.wait(r.start(r.driver(exec.Options{}), w, o))
	text := o.text()
	for _, want := range []string{"MINE=1", "TZ=Europe/Budapest", "LANG=hu_HU.UTF-8", "PATH=", "WEIR_FENCE=fence", "WEIR_ATTEMPT=1", "WEIR_TASK_ID=" + w.Task, "WEIR_OUT=" + w.Dir + "/out", "WEIR_PARAMS="} {
		if !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, "=")
		if strings.Contains(line, "://secret") || !strings.HasPrefix(name, "WEIR_") && !strings.Contains(" MINE TZ LANG PATH HOME ", " "+name+" ") {
			t.Errorf("it got %s", line)
		}
	}
}

func TestTheSameAttemptStartsOnce(t *testing.T) {
	r := newRig(t)
	d := r.driver(exec.Options{})
	w := r.work("/bin/sh", "-c", `echo x >> "$WEIR_OUT/starts"; until test -e "$WEIR_OUT/go"; do sleep 0.01; done`)
	one, two := r.start(d, w, &output{}), r.start(d, w, &output{})
	if one != two {
		t.Error("it runs twice")
	}
	if err := os.WriteFile(filepath.Join(w.Dir, "out", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.wait(one)
	if text, _ := os.ReadFile(filepath.Join(w.Dir, "out", "starts")); string(text) != "x\n" {
		t.Errorf("it started %d times", len(text)/2)
	}
}

// Work whose leash is not extended dies by itself.
func TestTheLeash(t *testing.T) {
	r := newRig(t)
	d := r.driver(exec.Options{})
	w := r.work("/bin/sh", "-c", `while :; do sleep 0.01; done`)
	w.Leash = time.Now().Add(500 * time.Millisecond)
	run := r.start(d, w, &output{})
	if err := run.(driver.Leashed).Leash(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	exit := r.wait(run)
	if exit.Signal != "killed" || !exit.Leashed || exit.Reason == "" {
		t.Errorf("got %+v", exit)
	}
	if took := time.Since(begun); took < 1500*time.Millisecond {
		t.Errorf("it lived %s: the leash was let out to 2 s", took)
	}
}

// An agent that was suspended before it told its keeper must not start a task that
// another worker may have by then.
func TestNothingBeginsAfterItsLeash(t *testing.T) {
	r := newRig(t)
	d := r.driver(exec.Options{})
	mark := filepath.Join(t.TempDir(), "mark")
	w := r.work("/bin/sh", "-c", "echo begun > "+mark)
	w.Leash = time.Now().Add(-time.Millisecond)
	if _, err := d.Start(r.Context(), w, &output{}); !errors.Is(err, driver.ErrLate) {
		t.Errorf("started: %v", err)
	}
	// A process that is started later has ended at a time when the late work would have
	// ended too.
	r.wait(r.start(d, r.work("/bin/sh", "-c", "sleep 0.2"), &output{}))
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("it ran: %v", err)
	}
}

func TestStop(t *testing.T) {
	r := newRig(t)
	d := r.driver(exec.Options{})
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		code         int
	}{
		{"in peace", `trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done`, time.Minute, 5},
		{"in spite of itself", `trap '' TERM; setsid sh -c 'trap "" TERM; while :; do sleep 0.01; done' & echo up; while :; do sleep 0.01; done`, 50 * time.Millisecond, 137},
		{"at once", `trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done`, 0, 137},
		{"asleep", `trap 'exit 5' TERM; echo up; kill -STOP $$; while :; do sleep 0.01; done`, time.Minute, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &output{}
			w := r.work("/bin/sh", "-c", c.script)
			run := r.start(d, w, o)
			testwait.Until(t, "it is up", func() bool { return strings.Contains(o.text(), "up") })
			if err := run.Stop(t.Context(), c.grace); err != nil {
				t.Fatal(err)
			}
			if exit := r.wait(run); exit.Code != c.code {
				t.Errorf("got %+v", exit)
			}
			if left := marked(w.Task); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// marked returns the processes that carry a task.
func marked(task string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte("WEIR_TASK_ID="+task+"\x00")) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// A later process continues with the output where the previous one stopped.
func TestAdopt(t *testing.T) {
	r := newRig(t)
	first := r.driver(exec.Options{})
	w := r.work("/bin/sh", "-c", `echo one; until test -e "$WEIR_OUT/go"; do sleep 0.01; done; echo two; exit 4`)
	o := &output{}
	r.start(first, w, o)
	testwait.Until(t, "it is up", func() bool { return o.text() == "one\n" })

	second := r.driver(exec.Options{})
	found, err := second.Adopt(t.Context())
	if err != nil || len(found) != 1 || found[0].Task() != w.Task || found[0].Attempt() != 1 || found[0].Fence() != "fence" {
		t.Fatalf("found %v, %v", found, err)
	}
	rest := &output{skip: 4}
	run, err := found[0].Attach(t.Context(), w, rest)
	if err != nil {
		t.Fatal(err)
	}
	if again := r.start(second, w, rest); again != run {
		t.Error("what was adopted was started again")
	}
	if err := os.WriteFile(filepath.Join(w.Dir, "out", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := r.wait(run); exit.Code != 4 || rest.text() != "two\n" {
		t.Errorf("got %+v, %q", exit, rest.text())
	}
}

func TestKillWhatIsFound(t *testing.T) {
	r := newRig(t)
	w := r.work("/bin/sh", "-c", `setsid sh -c 'while :; do sleep 0.01; done' & while :; do sleep 0.01; done`)
	run := r.start(r.driver(exec.Options{}), w, &output{})
	testwait.Until(t, "both are up", func() bool { return len(marked(w.Task)) >= 2 })
	// The processes are also found without the state file, by the mark that they carry.
	if err := os.Remove(filepath.Join(w.State, "exec.json")); err != nil {
		t.Fatal(err)
	}
	found, err := r.driver(exec.Options{}).Adopt(t.Context())
	if err != nil || len(found) != 1 || found[0].Task() != w.Task {
		t.Fatalf("found %v, %v", found, err)
	}
	if err := found[0].Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.wait(run)
	if left := marked(w.Task); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestRunAs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED LOUDLY: only root can run work as another user")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	w := r.work("/bin/sh", "-c", `id -u; echo "$HOME"; echo x > "$WEIR_OUT/mine"`)
	o := &output{}
	if exit := r.wait(r.start(r.driver(exec.Options{RunAs: "nobody"}), w, o)); exit.Code != 0 || o.text() != nobody.Uid+"\n"+nobody.HomeDir+"\n" {
		t.Errorf("got %+v, %q %q", exit, o.text(), o.err.String())
	}
	if err := exec.New(exec.Options{RunAs: "no-such-user-" + strconv.Itoa(os.Getpid())}).Check(t.Context()); err == nil {
		t.Error("a user that is not there")
	}
}
