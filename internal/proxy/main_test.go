package proxy_test

import (
	"os"
	"testing"

	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// TestMain is also the program of a workspace, if it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "inside" {
		program.Main(os.Args[2:])
		return
	}
	webtest.Main(m)
}
