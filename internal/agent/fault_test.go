package agent_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/node"
)

// deadDocker adds a docker driver to an agent, whose engine is not there.
func (w *world) deadDocker(c *agent.Config, socket string) {
	w.Helper()
	d, err := docker.New(docker.Config{Host: "unix://" + socket, Agent: c.Info.Name})
	if err != nil {
		w.Fatal(err)
	}
	c.Drivers["docker"] = d
}

// faults waits until the node has reported this fault of a service; "" means none.
func (w *world) faults(name, service, code string) {
	w.Helper()
	w.until(fmt.Sprintf("node %s reports %q of %s", name, code, service), func() bool {
		return one[string](w, `select coalesce((select f.fault from weir.node_faults f join weir.nodes n on n.id = f.node where n.name = $1 and f.service = $2), '')`, name, service) == code
	})
}

// TestANodeWithoutItsDriverTakesNothing has twelve tasks, one healthy node and one whose
// engine is dead. All are done, and the broken node has not touched one.
func TestANodeWithoutItsDriverTakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.config("bad", map[string]int{"render": 8, "docker": 8})
	w.deadDocker(&bad, filepath.Join(t.TempDir(), "nonexistent.sock"))
	bad.Services = map[string]node.Run{"render": {Driver: "docker", Image: "x", Argv: []string{"true"}}}
	w.run(bad)
	w.faults("bad", "render", node.NoDriver)
	w.faults("bad", "docker", node.NoDriver)

	var steps []step
	for i := range 12 {
		steps = append(steps, step{"key": fmt.Sprintf("k%d", i), "service": "render", "max_attempts": 1})
	}
	job := w.submit(steps...)
	var why string
	w.until("why names the broken node", func() bool {
		why = one[string](w, `select string_agg(y.reason, '; ') from weir.why($1) y where y.gate = 'worker'`, w.task(job, "k0").ID)
		return strings.Contains(why, "node bad: driver missing") && strings.Contains(why, "nonexistent.sock")
	})
	good := w.config("good", map[string]int{"render": 4})
	good.Services = map[string]node.Run{"render": {Driver: "exec", Argv: []string{"/bin/true"}}}
	w.run(good)
	for i := range 12 {
		if got := w.end(job, fmt.Sprintf("k%d", i)); got.State != "done" || got.Attempt != 1 {
			t.Errorf("k%d: %+v", i, got)
		}
	}
	if n := one[int](w, `select count(*)::int from weir.events e join weir.workers x on x.id = e.worker where x.name = 'agent@bad' and e.type <> 'registered'`); n != 0 {
		t.Errorf("%d events of work on the broken node", n)
	}
}

// TestADriverThatAnswersAgainIsOffered starts an engine after the agent.
func TestADriverThatAnswersAgainIsOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, err := os.MkdirTemp("", "weir-sock") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	c := w.config("n1", map[string]int{"docker": 1})
	c.Probe = 50 * time.Millisecond
	w.deadDocker(&c, socket)
	w.run(c)
	w.faults("n1", "docker", node.NoDriver)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	engine := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.44")
		w.Header().Set("Ostype", "linux")
	})}
	go func() { _ = engine.Serve(listener) }()
	t.Cleanup(func() { _ = engine.Close() })
	w.faults("n1", "docker", "")
	if n := one[int](w, `select count(*)::int from weir.events where kind = 'node' and subject = 'n1' and type in ('broken', 'mended')`); n != 2 {
		t.Errorf("%d events", n)
	}
}

// TestWorkWithoutADriverIsHandedBack gives a node a task whose driver does not work there,
// which the node cannot know before. The task costs nothing and waits, the node backs off
// longer each time, and why names it.
func TestWorkWithoutADriverIsHandedBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"mixed": 4})
	c.Rest, c.RestMost = 50*time.Millisecond, 200*time.Millisecond
	w.deadDocker(&c, filepath.Join(t.TempDir(), "nonexistent.sock"))
	w.run(c)
	job := w.submit(step{"key": "a", "service": "mixed", "max_attempts": 1, "run": map[string]any{"driver": "docker", "image": "x", "argv": []string{"true"}}})
	id := w.task(job, "a").ID
	w.until("it was handed back three times", func() bool {
		return one[int](w, `select count(*)::int from weir.events where task = $1 and type = 'returned' and data ->> 'fault' = 'no_driver'`, id) >= 3
	})
	var why string
	w.until("why names the node", func() bool {
		why = one[string](w, `select string_agg(y.reason, '; ') from weir.why($1) y`, id)
		return strings.Contains(why, "no node can do mixed") && strings.Contains(why, "next try at")
	})
	if n := one[int](w, `select count(*)::int from weir.events where task = $1 and type in ('retrying', 'failed')`, id); n != 0 {
		t.Errorf("%d attempts were spent", n)
	}
	// Other work of the service is done between two tries.
	other := w.submit(sh("b", "true").with("service", "mixed"))
	if got := w.end(other, "b"); got.State != "done" {
		t.Errorf("%+v", got)
	}
	one[bool](w, `select weir.cancel_job($1) is not null`, job)
}

// TestAProgramThatANodeLacksIsItsFault gives a node a service whose program is not there: the
// step costs nothing and is done by another node. A program that the task itself names is the
// task's own mistake.
func TestAProgramThatANodeLacksIsItsFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.config("bad", map[string]int{"path": 1, "bare": 1, "sh": 1})
	bad.Rest = time.Hour
	bad.Services = map[string]node.Run{
		"path": {Driver: "exec", Argv: []string{"/nonexistent/render"}}, "bare": {Driver: "exec", Argv: []string{"no-such-program-here"}},
	}
	w.run(bad)
	job := w.submit(step{"key": "path", "service": "path", "max_attempts": 1}, step{"key": "bare", "service": "bare", "max_attempts": 1})
	w.faults("bad", "path", node.NoDriver)
	w.faults("bad", "bare", node.NoDriver)
	own := w.submit(step{"key": "own", "service": "sh", "max_attempts": 1, "run": map[string]any{"driver": "exec", "argv": []string{"/nonexistent/render"}}})
	if got := w.end(own, "own"); got.State != "failed" {
		t.Errorf("%+v", got)
	}
	good := w.config("good", map[string]int{"path": 1, "bare": 1})
	good.Services = map[string]node.Run{"path": {Driver: "exec", Argv: []string{"/bin/true"}}, "bare": {Driver: "exec", Argv: []string{"true"}}}
	w.run(good)
	for _, key := range []string{"path", "bare"} {
		if got := w.end(job, key); got.State != "done" {
			t.Errorf("%+v", got)
		}
	}
}

// handsOver runs a step that breaks something on the node "bad" and is then done by
// another node, with the only attempt that it has.
func (w *world) handsOver(bad agent.Config, breaks, code, words string) {
	w.Helper()
	bad.Rest = time.Hour
	w.run(bad)
	job := w.submit(sh("a", fmt.Sprintf(`test "$WEIR_NODE" = good || { %s; exit 1; }`, breaks)))
	w.faults("bad", "sh", code)
	var message string
	w.until("it was handed back", func() bool {
		message = one[string](w, `select coalesce(max(message), '') from weir.events where task = $1 and type = 'returned' and data ->> 'fault' = $2`, w.task(job, "a").ID, code)
		return message != ""
	})
	if strings.Count(message, words) != 1 {
		w.Errorf("the person reads %q", message)
	}
	// Where the fault has a word of its own, the message does not repeat it.
	word := one[string](w, `select weir._words('word.' || $1)`, code)
	if said := one[string](w, `select message from weir.node_faults where fault = $1`, code); strings.HasPrefix(said, word) {
		w.Errorf("node show says %q after %q", said, word)
	}
	w.run(w.config("good", map[string]int{"sh": 1}))
	if got := w.end(job, "a"); got.State != "done" {
		w.Errorf("%+v", got)
	}
}

// TestAFullDiskIsNamed fills the disk of a node, on which the work's stderr is too: the
// program says nothing but its exit code, and the person reads "disk full".
func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("a small disk needs root")
	}
	w := newWorld(t)
	bad := w.config("bad", map[string]int{"sh": 1})
	if err := syscall.Mount("tmpfs", bad.Dir, "tmpfs", 0, "size=3m,mode=0711"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(bad.Dir, 0) })
	w.handsOver(bad, `dd if=/dev/zero of=fill bs=64k; echo no space for this >&2`, node.DiskFull, "disk full: ")
}

// TestAFolderThatIsGoneIsNamed removes the folder of the attempt under the work.
func TestAFolderThatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.config("bad", map[string]int{"sh": 1})
	w.handsOver(bad, fmt.Sprintf(`rm -rf %q`, agent.Attempts(bad.Dir)), node.FolderGone, "folder of the attempt is gone")
}

// TestTheBackOffOfAFaultGrows runs work that breaks its node each time: the node leaves the
// service alone for longer and longer, although the work could be started.
func TestTheBackOffOfAFaultGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := w.config("bad", map[string]int{"sh": 1})
	bad.Rest = 20 * time.Millisecond
	w.run(bad)
	w.submit(sh("a", fmt.Sprintf(`rm -rf %q; exit 1`, agent.Attempts(bad.Dir))))
	for _, rest := range []string{"for=20ms", "for=40ms", "for=80ms"} {
		w.until("it is left alone "+rest, func() bool { return strings.Contains(w.log.String(), rest) })
	}
}
