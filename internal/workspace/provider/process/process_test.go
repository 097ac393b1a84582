package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside/program"
	"github.com/weirhq/weir/internal/workspace/provider/process"
	"github.com/weirhq/weir/internal/workspace/provider/providertest"
)

// TestMain is also the program of a workspace, when it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "workspace-inside" {
		program.Main(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

func newProvider(t testing.TB, dir string) *process.Provider {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return process.New(process.Config{Dir: dir, Program: program, Args: []string{"workspace-inside", "serve"}, Grace: 10 * time.Second})
}

// shortDir is a folder whose name does not grow with that of the test: sockets are in it.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weir[*]-") // whatever is in a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestContract(t *testing.T) {
	providertest.Suite(t, func(t *testing.T) providertest.Subject {
		dir, other := shortDir(t), shortDir(t)
		return providertest.Subject{
			Provider: newProvider(t, dir), Again: newProvider(t, dir), Other: newProvider(t, other),
			Kill:    func(t testing.TB, id weir.ID) { kill(t, dir, id) },
			Blind:   func(t testing.TB) func() { return blind(t, dir) },
			NoImage: "weir.test/absent:1",
		}
	})
}

// kill ends the process that holds the lock of the one workspace that runs.
func kill(t testing.TB, dir string, id weir.ID) {
	t.Helper()
	pids := 0
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("WEIR_LOCK="+dir+"/")) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		pids++
	}
	if pids == 0 {
		t.Fatalf("nothing of %s runs", id)
	}
	p := newProvider(t, dir)
	testwait.Until(t, "its end is seen", func() bool {
		w, err := p.Look(context.Background())
		return err == nil && len(w.Containers) == 0
	})
}

// blind damages what says what a volume holds.
func blind(t testing.TB, dir string) (heal func()) {
	t.Helper()
	volumes, err := os.ReadDir(filepath.Join(dir, "volumes"))
	if err != nil || len(volumes) == 0 {
		t.Fatalf("there are no volumes: %v", err)
	}
	state := filepath.Join(dir, "volumes", volumes[0].Name(), "state.json")
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(state, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
