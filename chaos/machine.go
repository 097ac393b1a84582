//go:build unix

package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	product "github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/agent/driver/docker"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/agent/remote"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
)

// Machine configures an agent of the product (kind machine). Without a server it connects
// to the database itself.
type Machine struct {
	// Dir is its folder; the processes that it starts have the folder's name in their
	// PATH. Its log is beside it.
	Dir    string
	Bucket string
	// Server, CA and Join are for the connection to a server.
	Server, CA, Join string
	// Docker is the address of an engine; empty means processes only.
	Docker string
	// Loose removes the leash from its work, and Blind makes it ignore refusals: it
	// continues with whatever it finds. Both are broken builds.
	Loose, Blind bool
}

// LogFile returns the log file of the machine, over all its processes.
func (m *Machine) LogFile() string { return m.Dir + ".log" }

// runMachine runs an agent of the product, with a short lease.
func runMachine(ctx context.Context, o Orders) error {
	m := o.Machine
	if err := os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+m.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(m.Dir, 0o711); err != nil { // #nosec G301 -- a container may run as another user
		return err
	}
	file, err := os.OpenFile(m.LogFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	log := slog.New(slog.NewTextHandler(file, nil))
	log.Info("a life begins", "machine", o.Name)
	transport, end, err := m.transport(ctx, o, log)
	for err != nil && pause(ctx, 100*time.Millisecond) { // a supervisor would restart it
		log.Warn("it cannot begin", "error", err)
		transport, end, err = m.transport(ctx, o, log)
	}
	if err != nil {
		return err
	}
	defer end()
	drivers := map[string]driver.Driver{"exec": exec.New(exec.Options{Dir: product.Attempts(m.Dir)})}
	if m.Docker != "" {
		containers, err := docker.New(docker.Config{Host: m.Docker, Agent: o.Name + "@" + m.Dir, Pull: docker.PullNever, Log: log})
		if err != nil {
			return err
		}
		drivers["docker"] = containers
	}
	if m.Loose {
		for name, d := range drivers {
			drivers[name] = loose{d}
		}
	}
	if m.Blind {
		transport = blind{transport}
	}
	capacity := map[string]int{}
	for _, service := range o.Services {
		capacity[service] = o.Slots
	}
	err = product.New(product.Config{
		Transport: transport, Info: node.Info{Name: o.Name, Capacity: capacity}, Drivers: drivers, Dir: m.Dir, Log: log,
		Lease: o.Lease, Beat: 2 * time.Second, Grace: 500 * time.Millisecond, Poll: 2 * time.Second,
	}).Run(ctx)
	if err != nil {
		log.Error("a life ends", "error", err)
	}
	return err
}

// transport is SQL or HTTPS.
func (m *Machine) transport(ctx context.Context, o Orders, log *slog.Logger) (_ product.Transport, end func(), err error) {
	if m.Server != "" {
		t, err := remote.Open(ctx, remote.Config{Server: m.Server, Node: o.Name, CA: m.CA, Version: "chaos", Log: log}, filepath.Join(m.Dir, "credential.json"), m.Join)
		if err != nil {
			return nil, nil, fmt.Errorf("join: %w", err)
		}
		return t, t.Close, nil
	}
	pool, err := pg.Open(ctx, o.URL, pg.Options{Name: "chaos " + o.Name, MaxConns: 6})
	if err != nil {
		return nil, nil, err
	}
	bucket, err := blob.Open(ctx, m.Bucket)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	hear, deaf := context.WithCancel(context.WithoutCancel(ctx))
	listener := listen.New(pool.Config().ConnConfig, log)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = listener.Run(hear) // its error is that we end
	}()
	hints := node.NewHints(pool, listener)
	return node.NewDesk(pool, o.Name, node.Options{Bucket: bucket, Hints: hints, Log: log}), func() {
		deaf()
		<-over
		hints.Close()
		pool.Close()
	}, nil
}

// loose is a driver whose work lives on when its lease is lost.
type loose struct{ driver.Driver }

func (d loose) Start(ctx context.Context, w driver.Work, out driver.Output) (driver.Running, error) {
	w.Leash = time.Time{}
	work, err := d.Driver.Start(ctx, w, out)
	if err != nil {
		return nil, err
	}
	return struct{ driver.Running }{work}, nil // without its leash
}

// blind is a transport that never reports that a lease is lost.
type blind struct{ product.Transport }

func (t blind) Renew(ctx context.Context, leases []node.Lease, length time.Duration) ([]node.Refusal, error) {
	_, err := t.Transport.Renew(ctx, leases, length)
	return nil, err
}
