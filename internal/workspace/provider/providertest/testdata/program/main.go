// The program of workspaces by itself, as tests build it: Weir's own binary holds it too,
// and much else.
package main

import (
	"os"

	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// inside is the command of Weir's own binary that does the same.
const inside = "workspace-inside"

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == inside {
		args = args[1:]
	}
	program.Main(args)
}
