package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/inside"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// serve runs the built-in workspace, on a port or on a socket. A lock says to others that
// it lives.
func serve(ctx context.Context, args []string, s Streams) (err error) {
	var config inside.Config
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&config.Home, "home", "", "")
	flags.Func("shell", "", func(word string) error {
		config.Shell = append(config.Shell, word)
		return nil
	})
	id, lock := flags.String("id", "", ""), flags.String("lock", "", "")
	socket, address := flags.String("socket", "", ""), flags.String("listen", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config.Name = os.Getenv("WEIR_WORKSPACE")
	if *lock != "" {
		which, err := weir.ParseID(*id)
		if err != nil {
			return fmt.Errorf("serve workspace: %w", err)
		}
		release, err := process.Hold(ctx, *lock, which)
		if err != nil {
			return fmt.Errorf("serve workspace: %w", err)
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	handler, err := inside.New(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handler.Close()) }()
	listener, err := listen(ctx, *socket, *address)
	if err != nil {
		return fmt.Errorf("serve workspace: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	over := make(chan error, 1)
	go func() { over <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(s.Out, "the workspace is served at %s\n", listener.Addr()) // a log that is full is no reason to end
	select {
	case err := <-over:
		return fmt.Errorf("serve workspace: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}

// listen opens the socket, whose place an earlier process may have left taken, or the port.
func listen(ctx context.Context, socket, address string) (net.Listener, error) {
	if socket == "" {
		return new(net.ListenConfig).Listen(ctx, "tcp", address)
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return new(net.ListenConfig).Listen(ctx, "unix", socket)
}
