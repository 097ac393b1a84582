// Command workspace is what runs in the workspaces of package chaos: the built-in one, in a
// program that starts in a few milliseconds.
package main

import (
	"os"

	"github.com/weirhq/weir/internal/workspace/inside/program"
)

func main() { program.Main(append([]string{"serve"}, os.Args[1:]...)) }
