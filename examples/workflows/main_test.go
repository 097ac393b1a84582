package workflows_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/buildtest"
	"github.com/weirhq/weir/internal/testdb"
)

// program is the command weir, while the tests run.
var program string

func TestMain(m *testing.M) { testdb.Main(built{m}) }

// built is the tests, with the command they run.
type built struct{ *testing.M }

func (b built) Run() int {
	dir, err := buildtest.Programs("cmd/weir")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	program = filepath.Join(dir, "weir")
	return b.M.Run()
}
