package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/weirhq/weir/bench/internal/flow"
)

// Engine is a private development server, with an empty SQLite file.
type Engine struct {
	folder  string
	version string
	server  *flow.Process
	client  client.Client
}

// New starts the server.
func New(ctx context.Context, program string) (_ *Engine, err error) {
	said, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	e := &Engine{version: strings.TrimSpace(string(said))}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close(context.WithoutCancel(ctx)))
		}
	}()
	if e.folder, err = os.MkdirTemp("", "weir-bench-temporal-"); err != nil {
		return nil, fmt.Errorf("create a folder for Temporal: %w", err)
	}
	host, port, err := freePort()
	if err != nil {
		return nil, err
	}
	e.server, err = flow.StartProcess(ctx, "temporal", exec.Command(program, "server", "start-dev", "--headless", "--ip", host,
		"--port", strconv.Itoa(port), "--db-filename", filepath.Join(e.folder, "temporal.db"), "--log-level", "error"),
		func(said string) bool { return strings.Contains(said, "Server:") })
	if err != nil {
		return nil, err
	}
	e.client, err = client.DialContext(ctx, client.Options{
		HostPort: net.JoinHostPort(host, strconv.Itoa(port)),
		Logger:   sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return nil, fmt.Errorf("reach Temporal: %w", err)
	}
	return e, nil
}

// freePort returns a port that is free at the moment.
func freePort() (host string, port int, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, fmt.Errorf("find a free port: %w", err)
	}
	address := l.Addr().(*net.TCPAddr)
	return address.IP.String(), address.Port, l.Close()
}

// Name returns the name of the system.
func (e *Engine) Name() string { return "temporal" }

// Setting returns how it runs.
func (e *Engine) Setting() string {
	return e.version + ": server start-dev with a SQLite file, Go SDK worker in this process"
}

// Has reports which shapes it supports. Activities always return their results to the
// workflow, a fan is a loop in it, and jobs are started one by one.
func (e *Engine) Has(shape flow.Shape) bool {
	switch shape {
	case flow.Chain, flow.ChainProcess, flow.FanMap, flow.Burst, flow.DueJobs:
		return true
	default:
		return false
	}
}

// Close stops the server and removes its file.
func (e *Engine) Close(context.Context) error {
	var faults []error
	if e.client != nil {
		e.client.Close()
	}
	if e.server != nil {
		faults = append(faults, e.server.Stop())
	}
	if e.folder != "" {
		faults = append(faults, os.RemoveAll(e.folder))
	}
	return errors.Join(faults...)
}
