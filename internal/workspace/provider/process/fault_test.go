package process_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

func newID() (id weir.ID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// started is a workspace that has been started. It is stopped at the end.
func started(t testing.TB, p *process.Provider) weir.ID {
	t.Helper()
	id := newID()
	ok(t, p.Provision(t.Context(), id, 0))
	ok(t, p.Start(t.Context(), provider.Spec{ID: id, Name: "first", Mounts: 1}))
	t.Cleanup(func() { ok(t, p.Stop(context.Background(), id)) })
	return id
}

func lives(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}

// What a workspace has started ends with it, in whatever session it is.
func TestStopEndsEverything(t *testing.T) {
	dir := shortDir(t)
	p := newProvider(t, dir)
	id := started(t, p)
	testwait.Until(t, "the workspace answers", func() bool {
		w, err := p.Look(t.Context())
		return err == nil && w.Containers[id].Ready
	})
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	through := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx, id) }}}
	conn, _, err := websocket.Dial(ctx, "ws://workspace/terminal", &websocket.DialOptions{HTTPClient: through, Subprotocols: []string{inside.Protocol}})
	ok(t, err)
	defer conn.CloseNow()
	ok(t, conn.Write(ctx, websocket.MessageBinary, []byte("setsid sh -c 'trap \"\" HUP TERM; echo $$ > pid.new; mv pid.new pid; while :; do sleep 1; done' &\r")))
	file := filepath.Join(dir, "volumes", "ws-"+id.String()+"-home", "data", "pid")
	testwait.Until(t, "it runs in the background", func() bool { _, err := os.Stat(file); return err == nil })
	text, err := os.ReadFile(file)
	ok(t, err)
	var pid int
	_, err = fmt.Sscan(string(text), &pid)
	ok(t, err)
	if !lives(pid) {
		t.Fatal("it has ended before")
	}
	ok(t, p.Stop(t.Context(), id))
	testwait.Until(t, "it has ended with the workspace", func() bool { return !lives(pid) })
}

// A process that was started is seen from the first moment, also if it never says a word,
// and can be stopped.
func TestAProcessThatSaysNothing(t *testing.T) {
	dir := shortDir(t)
	p := process.New(process.Config{Dir: dir, Program: "/bin/sh", Args: []string{"-c", "trap '' TERM; sleep 1000; sleep 1000"}, Grace: 200 * time.Millisecond})
	id := started(t, p)
	w, err := p.Look(t.Context())
	ok(t, err)
	if c, there := w.Containers[id]; !there || c.Ready {
		t.Fatalf("it sees %+v", w)
	}
	volume := provider.Volume{Marker: provider.Fresh, Mounts: 1}
	if err := p.Remove(t.Context(), id, volume); !errors.Is(err, provider.ErrInUse) {
		t.Errorf("remove says %v", err)
	}
	ok(t, p.Start(t.Context(), provider.Spec{ID: id, Mounts: 1}))
	ok(t, p.Stop(t.Context(), id))
	w, err = p.Look(t.Context())
	if err != nil || len(w.Containers) > 0 {
		t.Errorf("afterwards it sees %+v, %v", w, err)
	}
	ok(t, p.Remove(t.Context(), id, volume))
}

// Whoever was paused in the midst of a change keeps others out, who say so in their time.
func TestSomebodyElseIsBusy(t *testing.T) {
	dir := shortDir(t)
	p := newProvider(t, dir)
	id := newID()
	ok(t, p.Provision(t.Context(), id, 0))
	locks, err := os.ReadDir(filepath.Join(dir, "run"))
	if err != nil || len(locks) != 1 || filepath.Ext(locks[0].Name()) != ".volume" {
		t.Fatalf("%q, %v", locks, err)
	}
	f, err := os.Open(filepath.Join(dir, "run", locks[0].Name()))
	ok(t, err)
	ok(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	volume := provider.Volume{Marker: provider.Fresh}
	for name, call := range map[string]func(context.Context) error{
		"start":     func(ctx context.Context) error { return p.Start(ctx, provider.Spec{ID: id, Mounts: 1}) },
		"stop":      func(ctx context.Context) error { return p.Stop(ctx, id) },
		"provision": func(ctx context.Context) error { return p.Provision(ctx, id, 0) },
		"remove":    func(ctx context.Context) error { return p.Remove(ctx, id, volume) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	// What is there can be seen all the same.
	if w, err := p.Look(t.Context()); err != nil || w.Volumes[id] != volume {
		t.Errorf("it sees %+v, %v", w, err)
	}
	ok(t, f.Close())
	ok(t, p.Remove(t.Context(), id, volume))
	if left, err := os.ReadDir(filepath.Join(dir, "run")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A removal that was cut off leaves nothing that is whole, and the next one takes the rest.
func TestRemovalThatWasCutOff(t *testing.T) {
	dir := shortDir(t)
	p := newProvider(t, dir)
	id := newID()
	ok(t, p.Provision(t.Context(), id, 0))
	folder := filepath.Join(dir, "volumes", "ws-"+id.String()+"-home")
	ok(t, os.Remove(filepath.Join(folder, "state.json")))
	ok(t, os.Rename(filepath.Join(folder, "data"), filepath.Join(folder, "dying-1")))
	w, err := p.Look(t.Context())
	if volume, there := w.Volumes[id]; err != nil || !there || volume.Marker != "" {
		t.Errorf("it sees %+v, %v", w, err)
	}
	ok(t, p.Remove(t.Context(), id, provider.Volume{}))
	if w, err = p.Look(t.Context()); err != nil || len(w.Volumes) > 0 {
		t.Errorf("afterwards it sees %+v, %v", w, err)
	}
}

// What lies in the folders and is not ours is not seen.
func TestThingsOfOthers(t *testing.T) {
	dir := shortDir(t)
	p := newProvider(t, dir)
	ok(t, p.Check(t.Context()))
	for _, name := range []string{"lost+found", "ws-none-home", "ws-" + newID().String(), newID().String() + "-home"} {
		ok(t, os.Mkdir(filepath.Join(dir, "volumes", name), 0o700))
	}
	ok(t, os.WriteFile(filepath.Join(dir, "volumes", "ws-"+newID().String()+"-home"), nil, 0o600))
	ok(t, os.WriteFile(filepath.Join(dir, "run", "other.lock"), []byte("nobody holds it"), 0o600))
	if w, err := p.Look(t.Context()); err != nil || len(w.Volumes)+len(w.Containers) > 0 {
		t.Errorf("it sees %+v, %v", w, err)
	}
}

// A disk that has gone takes everything with it, and that is no empty list.
func TestTheDiskHasGone(t *testing.T) {
	dir := shortDir(t)
	p := newProvider(t, dir)
	id := newID()
	ok(t, p.Provision(t.Context(), id, 0))
	for _, part := range []string{"", "/volumes", "/run"} {
		ok(t, os.Rename(dir+part, dir+"-away"))
		if w, err := p.Look(t.Context()); err == nil {
			t.Errorf("without %q it sees %+v", part, w)
		}
		if err := p.Provision(t.Context(), newID(), 0); err == nil {
			t.Errorf("without %q it makes a home", part)
		}
		ok(t, os.RemoveAll(dir+part))
		ok(t, os.Rename(dir+"-away", dir+part))
	}
	if w, err := p.Look(t.Context()); err != nil || len(w.Volumes) != 1 {
		t.Errorf("afterwards it sees %+v, %v", w, err)
	}
}

func TestLogs(t *testing.T) {
	dir := shortDir(t)
	p := newProvider(t, dir)
	ok(t, p.Check(t.Context()))
	id := newID()
	long := strings.Repeat("x", 200_000)
	text := strings.Repeat("an old line\n", 100_000) + long + "\nlast but one\nno end yet"
	ok(t, os.WriteFile(filepath.Join(dir, "logs", "ws-"+id.String()+".log"), []byte(text), 0o600))
	for lines, want := range map[int]string{0: "", 1: "no end yet", 2: "last but one\nno end yet", 3: long + "\nlast but one\nno end yet"} {
		var got strings.Builder
		ok(t, p.Logs(t.Context(), id, lines, &got))
		if got.String() != want {
			t.Errorf("%d lines: %d bytes, and not %d", lines, got.Len(), len(want))
		}
	}
	var all strings.Builder
	ok(t, p.Logs(t.Context(), id, 1_000_000, &all))
	if !strings.HasPrefix(all.String(), "an old line\n") || all.Len() > 1<<20 {
		t.Errorf("all of it: %d bytes, %.20q", all.Len(), all.String())
	}
}

func TestCheck(t *testing.T) {
	wrong := new(problem.Problem)
	if err := newProvider(t, filepath.Join(shortDir(t), strings.Repeat("long", 30))).Check(t.Context()); !errors.As(err, &wrong) {
		t.Errorf("a path that is too long: %v", err)
	}
	if err := process.New(process.Config{Dir: shortDir(t), Program: "/nowhere/weir"}).Check(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
}

// Two processes cannot have one workspace.
func TestHold(t *testing.T) {
	path := filepath.Join(shortDir(t), "lock")
	release, err := process.Hold(t.Context(), path, newID())
	ok(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := process.Hold(ctx, path, newID()); err == nil {
		t.Error("another holds it, too")
	}
	ok(t, release())
	release, err = process.Hold(t.Context(), path, newID())
	ok(t, err)
	ok(t, release())
}
