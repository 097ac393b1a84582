// Command weir is the server, the worker's host and the command line of Weir.
package main

import (
	"os"

	"github.com/weirhq/weir/internal/cli"
)

// version is set by the build: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() { os.Exit(cli.Main(version)) }
