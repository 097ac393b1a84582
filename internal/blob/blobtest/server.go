package blobtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

const (
	// serveIn is the variable that makes a child the server; its value is the folder.
	serveIn = "WEIR_BLOBTEST_FOLDER"
	access  = "weirtest"
	secret  = "weirtest-secret" // #nosec G101 -- of a server that lives as long as a test
	most    = 1000
)

// init turns a child into the server before any test code runs.
func init() {
	dir := os.Getenv(serveIn)
	if dir == "" {
		return
	}
	if err := serve(dir); err != nil {
		fmt.Fprintln(os.Stderr, "blobtest:", err)
		os.Exit(1) // the parent reads that, and removes the folder
	}
	_ = os.RemoveAll(dir) // #nosec G703 -- the parent process made it
	os.Exit(0)
}

// serve runs until standard input ends. It writes the address to standard output.
func serve(dir string) error {
	out := os.Stdout
	os.Stdout = os.Stderr // the library prints to standard output
	objects, notes := filepath.Join(dir, "objects"), filepath.Join(dir, "notes")
	for _, d := range []string{objects, notes} {
		if err := os.MkdirAll(d, 0o750); err != nil { // #nosec G703 -- below a folder that the parent process made
			return err
		}
	}
	sidecar, err := meta.NewSideCar(notes)
	if err != nil {
		return err
	}
	store, err := posix.New(objects, sidecar, posix.PosixOpts{SideCarDir: notes, CopyObjectThreshold: 5 << 30})
	if err != nil {
		return err
	}
	// The library does not report its port. It listens on a socket in the folder, and
	// this process on a known port.
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
		_ = listener.Close()
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, store, &embedgw.Config{
			RootUserAccess: access, RootUserSecret: secret, Ports: []string{socket},
			MaxConnections: most, MaxRequests: most, MultipartMaxParts: 10_000, KeepAlive: true, Quiet: true,
		})
	}()
	if err := await(socket, ended); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go join(conn, socket)
	}
}

// await waits until the server listens on the socket.
func await(socket string, ended <-chan error) error {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %w", err)
		case <-tick.C:
		}
		if conn, err := net.Dial("unix", socket); err == nil { // #nosec G704 -- a socket of our own
			tick.Stop()
			return conn.Close()
		}
	}
}

// join copies bytes both ways until one side ends.
func join(conn net.Conn, socket string) {
	defer conn.Close()
	server, err := net.Dial("unix", socket) // #nosec G704 -- a socket of our own
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, conn)
		_ = server.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, server)
}
