//go:build unix

package chaos

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/buildtest"
)

// programs builds what tests start as processes: the product, what runs in workspaces,
// and what leads for them.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := buildtest.Programs("cmd/weir", "chaos/testdata/workspace", "chaos/testdata/controller")
	programsDir = dir
	return dir, err
})

// programsDir is where they are, until the tests are over.
var programsDir string

// program is the path of one of them.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// tidy is the tests, and what is removed after them.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	code := t.M.Run()
	if programsDir != "" {
		_ = os.RemoveAll(programsDir) // a folder for what is temporary
	}
	return code
}
