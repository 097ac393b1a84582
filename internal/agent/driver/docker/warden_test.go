package docker_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/testwait"
)

// For the container it makes no difference whether the agent closed the driver or was
// killed: in both cases the warden's pipe ends.
func TestLeashEndsWithoutTheAgent(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stubborn")
	w.Leash = time.Now().Add(2 * time.Second)
	b.start(w)
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}
	testwait.Every(t, 20*time.Millisecond, "the container ends", func() bool { return len(b.containers()) == 0 })
}

func TestLeashEndsWithTheAgent(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stubborn")
	w.Leash = time.Now().Add(2 * time.Second)
	r, _ := b.start(w)
	if exit := b.wait(r); exit.Code != 137 || !exit.Leashed || exit.Reason != driver.LeashReason {
		t.Errorf("exit %+v, want killed by its leash", exit)
	}
	b.wantNone()
}

func TestNothingBeginsAfterItsLeash(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stubborn")
	w.Leash = time.Now().Add(-time.Millisecond)
	if _, err := b.driver.Start(context.Background(), w, &output{}); !errors.Is(err, driver.ErrLate) {
		t.Errorf("started: %v", err)
	}
	b.wantNone()
}

// An agent that is suspended between the creation and the start of its container cannot
// start it later, because the warden has removed it.
func TestLeashOfWhatNeverStarted(t *testing.T) {
	b := newBench(t, dockertest.Daemon(t))
	w := b.work("stubborn")
	w.Leash = time.Now().Add(time.Hour)
	r, _ := b.start(w)
	made, err := b.engine.ContainerCreate(t.Context(), client.ContainerCreateOptions{Image: b.image})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "leash")
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil { // long ago
		t.Fatal(err)
	}
	if err := docker.Ward(b.driver, made.ID, file); err != nil {
		t.Fatal(err)
	}
	testwait.Every(t, 20*time.Millisecond, "the container is removed", func() bool {
		_, err := b.engine.ContainerInspect(context.Background(), made.ID, client.ContainerInspectOptions{})
		return err != nil
	})
	if err := r.Stop(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	b.wantNone()
}

// A later process of the agent extends the leash that a previous one set: the container
// lives when another one, with the same original leash, is dead.
func TestLeashIsLetOut(t *testing.T) {
	t.Parallel()
	b := newBench(t, dockertest.Daemon(t))
	kept, lost := b.work("stubborn"), b.work("stubborn")
	kept.Leash = time.Now().Add(time.Hour)
	r, _ := b.start(kept)
	soon := time.Now().Add(15 * time.Second)
	if err := r.(driver.Leashed).Leash(soon); err != nil {
		t.Fatal(err)
	}
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}

	next := *b
	next.driver = b.newDriver()
	all, err := next.driver.Adopt(context.Background())
	if err != nil || len(all) != 1 {
		t.Fatalf("found %d, %v; want 1", len(all), err)
	}
	kept.Leash = time.Now().Add(time.Hour)
	r, err = all[0].Attach(context.Background(), kept, &output{})
	if err != nil {
		t.Fatal(err)
	}
	lost.Leash = soon.Add(3 * time.Second)
	other, _ := next.start(lost)
	next.wait(other)
	if !b.inspect(kept).State.Running {
		t.Error("it died although its leash was let out")
	}
	if err := r.Stop(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	b.wantNone()
}

// If the engine is gone the warden keeps trying with pauses, because the engine may or
// may not come back.
func TestWardenOfALostEngine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	// This engine accepts calls and hangs up.
	engine, err := net.Listen("unix", filepath.Join(folder, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close() //nolint:errcheck // there is nothing behind it
	var calls atomic.Int64
	go func() {
		for {
			conn, err := engine.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = conn.Close() // that is the point
		}
	}()
	d, err := docker.New(docker.Config{Host: "unix://" + engine.Addr().String(), Agent: "lost"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // it has nothing that could fail to end
	file := filepath.Join(folder, "leash")
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil { // long ago
		t.Fatal(err)
	}
	if err := docker.Ward(d, "gone", file); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	testwait.Until(t, "twenty calls", func() bool { return calls.Load() >= 20 })
	if took := time.Since(began); took < time.Second { // it took 0.2 s when the warden did not wait
		t.Errorf("twenty calls within %s", took)
	}
}
