//go:build unix

package chaos

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/buildtest"
)

// programs builds the programs that tests start as processes: the product, the program
// inside workspaces, and their controller.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := buildtest.Programs("cmd/weir", "chaos/testdata/workspace", "chaos/testdata/controller")
	programsDir = dir
	return dir, err
})

// programsDir contains them until the tests are over.
var programsDir string

// program returns the path of one of them.
func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// tidy runs the tests, and removes the programs after them.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	code := t.M.Run()
	if programsDir != "" {
		_ = os.RemoveAll(programsDir) // a folder for what is temporary
	}
	return code
}
