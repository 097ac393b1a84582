// Command serve runs a command with a throw-away PostgreSQL cluster beside it:
//
//	go run ./internal/testdb/serve -- go test ./...
//
// The command finds the cluster in WEIR_TEST_DATABASE_URL. When it ends, the
// cluster is stopped and removed, and serve ends with the command's exit code.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/weirhq/weir/internal/testdb"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: serve -- COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	code, err := serve(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// serve runs the command to its end and returns its exit code. An interrupt goes to the
// command, because the cluster must outlive it.
func serve(args []string) (code int, err error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	cluster, stop, err := testdb.StartCluster(context.Background())
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), testdb.URLVariable+"="+cluster.URL("postgres"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			// A terminal has sent its interrupt to the command as well.
			if s != os.Interrupt {
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				return max(exit.ExitCode(), 1), nil
			}
			return 0, err
		}
	}
}
