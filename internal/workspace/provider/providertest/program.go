package providertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program builds the program of workspaces as a static binary, for providers whose
// containers have nothing else in them, and gives its path.
func Program(t testing.TB) string {
	t.Helper()
	text, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "weir")
	if err := os.WriteFile(path, text, 0o700); err != nil { // #nosec G306 -- a program is executable
		t.Fatal(err)
	}
	return path
}

// binary is built once in a process.
var binary = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "weir-program-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, // #nosec G204 -- our own program
		"github.com/weirhq/weir/internal/workspace/provider/providertest/testdata/program")
	// A container has no C library, whatever the test was built with.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program of workspaces: %w\n%s", err, out)
	}
	return os.ReadFile(path)
})
