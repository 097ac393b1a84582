package docker_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/problem"
)

func TestSuccessWithResult(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("result")
	exit, out := b.run(w)
	if exit.Code != 0 || exit.Reason != "" {
		t.Errorf("exit %+v", exit)
	}
	if want := "hello from the container\n::progress 40\n::result {\"params\":{\"x\":1}}\n"; out.out() != want {
		t.Errorf("stdout %q, want %q", out.out(), want)
	}
	if want := "a word of warning\n"; out.err() != want {
		t.Errorf("stderr %q, want %q", out.err(), want)
	}
	text, err := os.ReadFile(filepath.Join(w.Dir, "out", "out.txt"))
	if err != nil || string(text) != `{"x":1}` {
		t.Errorf("the file in out: %q, %v", text, err)
	}
	b.wantNone()
}

func TestExitCode(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	if exit, _ := b.run(b.work("exit", "7")); exit.Code != 7 || exit.Signal != "" {
		t.Errorf("exit %+v, want code 7", exit)
	}
	b.wantNone()
}

func TestEnvironment(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("env")
	_, out := b.run(w)
	for _, want := range []string{
		"COLOUR=green", "WEIR_TASK_ID=" + w.Task, "WEIR_FENCE=" + w.Fence, "WEIR_ATTEMPT=1",
		"WEIR_PARAMS=/weir/params.json", "WEIR_OUT=/weir/out", "WEIR_IN=/weir/in",
	} {
		if !strings.Contains("\n"+out.out(), "\n"+want+"\n") {
			t.Errorf("%s is missing in %q", want, out.out())
		}
	}
	if strings.Contains(out.out(), w.Dir) {
		t.Errorf("the container knows a path of the machine: %q", out.out())
	}
}

func TestOutOfMemory(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("hog")
	w.Run.Memory = "32m"
	exit, _ := b.run(w)
	// Docker loses the event of some kills, and then the reason says so.
	if exit.Code != 137 || exit.Signal != "killed" || !strings.Contains(exit.Reason, "out of memory (limit 32MiB)") {
		t.Errorf("exit %+v, want killed for its memory", exit)
	}
	b.wantNone()
}

func TestProcessLimit(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("fork", "200")
	w.Run.Pids = 40
	exit, out := b.run(w)
	if exit.Code == 0 || strings.Contains(out.out(), "started 200") {
		t.Errorf("exit %+v: it got all processes: %s", exit, out.out())
	}
	b.wantNone()
}

func TestStopAsksFirst(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	r, out := b.start(b.work("sleep"))
	out.waitFor(t, "ready")
	if err := r.Stop(context.Background(), 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if exit := b.wait(r); exit.Code != 143 {
		t.Errorf("exit %+v, want its own 143", exit)
	}
	if !strings.Contains(out.out(), "asked to stop") {
		t.Errorf("it had no time to say good-bye: %q", out.out())
	}
	b.wantNone()
}

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	for name, grace := range map[string]time.Duration{"after a grace": time.Second, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, dockertest.Daemon(t))
			w := b.work("stubborn")
			w.Run.Memory = "64m"
			r, out := b.start(w)
			out.waitFor(t, "ready")
			if err := r.Stop(context.Background(), grace); err != nil {
				t.Fatal(err)
			}
			b.wantNone() // without a wait, because Stop returns only when nothing is left
			if exit := b.wait(r); exit.Code != 137 || exit.Signal != "killed" || exit.Reason != "" {
				t.Errorf("exit %+v, want killed and no guess why", exit)
			}
			if err := r.Stop(context.Background(), grace); err != nil {
				t.Errorf("a second stop: %v", err)
			}
		})
	}
}

// A second start gets the running container, within one process of the agent or across
// two.
func TestStartTwiceRunsOnce(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("sleep")
	first, out := b.start(w)
	second, _ := b.start(w)
	if first != second {
		t.Error("the same driver gave two handles")
	}
	other := *b
	other.driver = b.newDriver()
	third, again := other.start(w)
	again.waitFor(t, "ready")
	if n := len(b.containers()); n != 1 {
		t.Errorf("%d containers, want 1", n)
	}
	out.waitFor(t, "ready")
	if err := first.Stop(context.Background(), 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if exit := b.wait(third); exit.Code == 0 {
		t.Errorf("the other handle saw %+v", exit)
	}
	b.wantNone()
}

func TestStartReplacesAnOlderLease(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stubborn")
	_, out := b.start(w)
	out.waitFor(t, "ready")
	other := *b
	other.driver = b.newDriver()
	w.Fence, w.Run.Argv = "another", []string{"exit", "3"}
	if exit, _ := other.run(w); exit.Code != 3 {
		t.Errorf("exit %+v, want that of the new one", exit)
	}
	b.wantNone()
}

func TestStartLeavesAnotherAgentAlone(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stubborn")
	r, out := b.start(w)
	out.waitFor(t, "ready")
	other := newBench(t, b.host, func(c *docker.Config) { c.Agent = "somebody else" })
	_, err := other.driver.Start(context.Background(), w, &output{})
	wantKind(t, err, problem.Conflict)
	if err := r.Stop(context.Background(), 0); err != nil {
		t.Error(err)
	}
}

func TestAdopt(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w, lost := b.work("sleep"), b.work("stubborn")
	_, out := b.start(w)
	out.waitFor(t, "ready")
	_, lostOut := b.start(lost)
	lostOut.waitFor(t, "ready")
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}

	next := *b
	next.driver = b.newDriver()
	all, err := next.driver.Adopt(context.Background())
	if err != nil || len(all) != 2 {
		t.Fatalf("found %d, %v; want 2", len(all), err)
	}
	for _, found := range all {
		if found.Fence() == lost.Fence {
			if found.Task() != lost.Task || found.Attempt() != lost.Attempt {
				t.Errorf("found %s #%d, want %s #%d", found.Task(), found.Attempt(), lost.Task, lost.Attempt)
			}
			if err := found.Kill(context.Background()); err != nil {
				t.Error(err)
			}
			continue
		}
		rest := &output{tookOut: int64(len("ready\n"))}
		r, err := found.Attach(context.Background(), w, rest)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Stop(context.Background(), 30*time.Second); err != nil {
			t.Fatal(err)
		}
		if exit := next.wait(r); exit.Code != 143 {
			t.Errorf("exit %+v, want 143", exit)
		}
		if want := "asked to stop\n"; rest.out() != want {
			t.Errorf("the rest of the output is %q, want %q", rest.out(), want)
		}
	}
	b.wantNone()
}

// A container that ended while no agent was there is found with its exit.
func TestAdoptWhatHasEnded(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("sleep")
	_, out := b.start(w)
	out.waitFor(t, "ready")
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}
	b.kill(w, "SIGTERM")

	b.driver = b.newDriver()
	all, err := b.driver.Adopt(context.Background())
	if err != nil || len(all) != 1 {
		t.Fatalf("found %d, %v; want 1", len(all), err)
	}
	all2 := &output{}
	r, err := all[0].Attach(context.Background(), w, all2)
	if err != nil {
		t.Fatal(err)
	}
	if exit := b.wait(r); exit.Code != 143 {
		t.Errorf("exit %+v, want 143", exit)
	}
	if want := "ready\nasked to stop\n"; all2.out() != want {
		t.Errorf("output %q, want %q", all2.out(), want)
	}
	b.wantNone()
}

func TestMuchOutputArrivesWholeAndInOrder(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	const lines = 30_000
	exit, out := b.run(b.work("flood", "30000"))
	got := strings.Split(strings.TrimSpace(out.out()), "\n")
	if exit.Code != 0 || len(got) != lines {
		t.Fatalf("exit %+v with %d lines, want %d", exit, len(got), lines)
	}
	if !strings.HasPrefix(got[lines-1], "line 29999 ") || !strings.HasPrefix(got[0], "line 0 ") {
		t.Errorf("from %q to %q", got[0], got[lines-1])
	}
}

func TestRefusals(t *testing.T) {
	host := dockertest.Daemon(t)
	tests := map[string]struct {
		config func(*docker.Config)
		work   func(*driver.Work)
		kind   problem.Kind
		field  string
	}{
		"image not allowed":   {func(c *docker.Config) { c.Images = []string{"ghcr.io/acme/*"} }, nil, problem.Forbidden, "image"},
		"no image":            {nil, func(w *driver.Work) { w.Run.Image = "" }, problem.Invalid, "image"},
		"no name of an image": {nil, func(w *driver.Work) { w.Run.Image = "Not An Image" }, problem.Invalid, "image"},
		"unknown image":       {nil, func(w *driver.Work) { w.Run.Image = "weir.test/nothing:1" }, problem.NotFound, "image"},
		"host network":        {nil, func(w *driver.Work) { w.Run.Network = "host" }, problem.Forbidden, "network"},
		"another's network":   {nil, func(w *driver.Work) { w.Run.Network = "container:x" }, problem.Forbidden, "network"},
		"bridge not listed":   {nil, func(w *driver.Work) { w.Run.Network = "bridge" }, problem.Forbidden, "network"},
		"network not listed":  {nil, func(w *driver.Work) { w.Run.Network = "backend" }, problem.Forbidden, "network"},
		"memory no size":      {nil, func(w *driver.Work) { w.Run.Memory = "lots" }, problem.Invalid, "memory"},
		"memory too small":    {nil, func(w *driver.Work) { w.Run.Memory = "1k" }, problem.Invalid, "memory"},
		"memory too much":     {func(c *docker.Config) { c.Max.Memory = 4 << 30 }, func(w *driver.Work) { w.Run.Memory = "8g" }, problem.Invalid, "memory"},
		"cpu too much":        {func(c *docker.Config) { c.Max.CPU = 1 }, func(w *driver.Work) { w.Run.CPU = 1.5 }, problem.Invalid, "cpu"},
		"pids too many":       {func(c *docker.Config) { c.Max.Pids = 600 }, func(w *driver.Work) { w.Run.Pids = 601 }, problem.Invalid, "pids"},
		"relative folder":     {nil, func(w *driver.Work) { w.Run.Dir = "../x" }, problem.Invalid, "dir"},
		"folder is a file":    {nil, func(w *driver.Work) { w.Run.Dir = "/probe" }, problem.Failed, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, host)
			if test.config != nil {
				test.config(&b.config)
				b.driver = b.newDriver()
			}
			w := b.work("exit", "0")
			if test.work != nil {
				test.work(&w)
			}
			_, err := b.driver.Start(context.Background(), w, &output{})
			p := wantKind(t, err, test.kind)
			if p.Field != test.field || p.What == "" {
				t.Errorf("field %q, want %q: %s (%s)", p.Field, test.field, p.What, p.Next)
			}
			b.wantNone()
		})
	}
}

// No registry answers at a closed port of this machine.
func TestPullThatFails(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t), func(c *docker.Config) { c.Pull = docker.PullMissing })
	w := b.work("exit", "0")
	w.Run.Image = "localhost:1/acme/tool:1"
	out := &output{}
	_, err := b.driver.Start(context.Background(), w, out)
	p := wantKind(t, err, problem.Unreachable)
	if !strings.Contains(p.What, "localhost:1/acme/tool:1") || p.Next == "" {
		t.Errorf("it says %q and advises %q", p.What, p.Next)
	}
	if want := "docker: pulling localhost:1/acme/tool:1\n"; !strings.HasPrefix(out.err(), want) {
		t.Errorf("the log is %q, want it to begin with %q", out.err(), want)
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.driver.Start(ctx, b.work("sleep"), &output{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want canceled", err)
	}
	b.wantNone()
}

func wantKind(t *testing.T, err error, kind problem.Kind) *problem.Problem {
	t.Helper()
	p := new(problem.Problem)
	if !errors.As(err, &p) || p.Kind != kind {
		t.Fatalf("error %v, want a problem of kind %v", err, kind)
	}
	return p
}
