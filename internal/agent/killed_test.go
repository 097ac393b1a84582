package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/node"
)

// keeperOf returns the process that keeps the work of an agent, by the agent's notes.
func keeperOf(w *world, dir string) int {
	w.Helper()
	var s struct{ Keeper int }
	w.until("the keeper is known", func() bool {
		files, err := filepath.Glob(filepath.Join(agent.Attempts(dir), "*", "state", "exec.json"))
		if err != nil || len(files) == 0 {
			return false
		}
		text, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(text, &s) == nil && s.Keeper > 0
	})
	return s.Keeper
}

// lives reports whether a process exists and is not merely unreaped.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := strings.LastIndex(string(stat), ") ")
	return err == nil && i > 0 && stat[i+2] != 'Z'
}

// TestNothingOutlivesAgentAndKeeper kills the agent and its keeper with SIGKILL. No process
// of the attempt is left when another node may have the task: not the first one, not its
// children, and, where there are cgroups, not one that left its group and cleared its
// environment.
func TestNothingOutlivesAgentAndKeeper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	first := w.spawn(plan{Dir: dir, Node: "n1", Lease: 3 * time.Second})
	job := w.submit(sh("a", `test "$WEIR_NODE" = n2 && exit 0
		sleep 1000 & echo $! >> "$PIDS"
		setsid sleep 1000 & echo $! >> "$PIDS"
		setsid env -i /bin/sleep 1000 & echo $! >> "$PIDS"
		echo $$ >> "$PIDS"; wait`).running("env", map[string]string{"PIDS": w.folder + "/pids"}))
	var pids []string
	w.until("all of it runs", func() bool {
		text, _ := os.ReadFile(w.folder + "/pids")
		pids = strings.Fields(string(text))
		return len(pids) == 4
	})
	keeper := keeperOf(w, dir)
	isolation := one[string](w, `select coalesce(isolation, '') from weir.nodes where name = 'n1'`)
	if isolation == "" {
		t.Error("the node does not say how it holds processes together")
	}
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.run(w.config("n2", map[string]int{"sh": 1}))
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	for i, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if lives(pid) && (i != 2 || strings.HasPrefix(isolation, "cgroup")) {
			t.Errorf("process %d of the attempt still runs (%s)", i, isolation)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestWorkThatDiesWithItsKeeperIsHandedBack kills the agent, its keeper and so the work, as
// a machine that starts anew does. The agent hands the work back when it is started again,
// and its only attempt is not spent.
func TestWorkThatDiesWithItsKeeperIsHandedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := plan{Dir: t.TempDir(), Node: "n1", Lease: 20 * time.Second}
	first := w.spawn(p)
	job := w.submit(sh("a", `test "$WEIR_ATTEMPT" -gt 1 || while :; do sleep 0.02; done`))
	w.running(job, "a")
	keeper := keeperOf(w, p.Dir)
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.gone(job)
	w.spawn(p)
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	if got := one[string](w, `select data ->> 'fault' from weir.events where task = $1 and type = 'returned'`, w.task(job, "a").ID); got != node.EngineAway {
		t.Errorf("it was handed back for %q", got)
	}
}

// TestAGuardianIsReplaced kills the guardian: the keeper starts another, which knows what
// runs.
func TestAGuardianIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	w.spawn(plan{Dir: dir, Node: "n1", Lease: 3 * time.Second})
	job := w.submit(sh("a", `test "$WEIR_ATTEMPT" = 1 || exit 0; sleep 1000 & wait`).with("max_attempts", 3))
	w.running(job, "a")
	keeper := keeperOf(w, dir)
	guardian := func() (found int) {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			text, err := os.ReadFile(file)
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err == nil && strings.HasPrefix(string(text), "weir-guardian\x00") && parent(pid) == keeper {
				found = pid
			}
		}
		return found
	}
	old := 0
	w.until("there is a guardian", func() bool { old = guardian(); return old > 0 })
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.until("there is another one", func() bool { is := guardian(); return is > 0 && is != old })
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := w.end(job, "a"); got.State != "done" {
		t.Errorf("got %+v", got)
	}
	w.gone(job)
}

func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

// ended waits until a process is gone.
func (w *world) ended(p *os.Process) {
	w.Helper()
	w.until("the agent has left", func() bool { return !lives(p.Pid) })
}

// TestACleanStopLeavesTheWork asks an agent to stop as a supervisor does for an upgrade,
// and starts it again. The work goes on all the time, in its first attempt, and no line of
// its output is lost.
func TestACleanStopLeavesTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := plan{Dir: t.TempDir(), Node: "n1", Lease: 30 * time.Second}
	first := w.spawn(p)
	job := w.submit(sh("a", `echo before; until test -e "$GO.1"; do sleep 0.02; done; echo between; until test -e "$GO.2"; do sleep 0.02; done; echo '::result 7'`).
		running("env", map[string]string{"GO": w.folder + "/go"}))
	w.running(job, "a")
	pids := alive(job)
	if err := first.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.ended(first)
	if !one[bool](w, `select stopped_at is not null from weir.workers where name = 'agent@n1'`) {
		t.Error("the server was not told that the agent stopped")
	}
	if got := w.task(job, "a"); got.State != "running" {
		t.Fatalf("the task is %+v", got)
	}
	if len(alive(job)) == 0 {
		t.Fatal("the work did not go on")
	}
	touch(w, w.folder+"/go.1")
	w.spawn(p)
	w.until("it is adopted", func() bool {
		return one[int](w, `select count(*)::int from weir.events where task = $1 and type = 'adopted'`, w.task(job, "a").ID) == 1
	})
	if !lives(pids[0]) {
		t.Error("the work is not the same process")
	}
	touch(w, w.folder+"/go.2")
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 1 || got.Result != "7" {
		t.Errorf("got %+v", got)
	}
	if got := strings.Join(w.logOf(job, "a", 1), ", "); got != "stdout: before, stdout: between" {
		t.Errorf("the log is %q", got)
	}
}

// TestAnAgentThatWaitsForItsNameStops asks a second agent of the same name to stop once: it
// has nothing to finish.
func TestAnAgentThatWaitsForItsNameStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 1}))
	w.until("the first is there", func() bool { return one[int](w, `select count(*)::int from weir.workers`) == 1 })
	second := w.spawn(plan{Dir: t.TempDir(), Node: "n1", Lease: 3 * time.Second})
	w.until("the second waits", func() bool { return strings.Contains(w.log.String(), "is another process") })
	if err := second.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.ended(second)
	if strings.Contains(w.log.String(), "the agent gave up") {
		t.Error("it did not stop when it was asked to, but when its patience was over")
	}
}
