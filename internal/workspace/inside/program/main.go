package program

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main is [Run] for a process that does nothing else: it ends with SIGTERM, and an error is
// printed and its exit code.
func Main(args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, args, Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
