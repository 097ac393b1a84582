package workflows_test

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli"
	"github.com/weirhq/weir/internal/testdb"
)

// asWeir tells a child of the tests that it is the command weir and no test.
const asWeir = "WEIR_EXAMPLES_AS_WEIR"

// TestMain makes this binary the command too, so that servers and agents are
// processes of their own that need no second build.
func TestMain(m *testing.M) {
	app.Keeper()
	if os.Getenv(asWeir) != "" {
		os.Exit(cli.Main("test"))
	}
	testdb.Main(m)
}
