package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	processes "github.com/weirhq/weir/internal/workspace/provider/process"
)

const (
	// workspaceFolder is where workspaces of this machine have their homes.
	workspaceFolder = "workspaces"
	// workspaceInside is the command of ours that runs inside of workspaces.
	workspaceInside = "workspace-inside"
	// onDocker is the provider that runs containers.
	onDocker = "docker"
)

// providers are all that there are.
var providers = []string{workspace.OnThisMachine, onDocker}

var domainForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func (c Config) validateWorkspaces(f *faults) {
	for _, name := range c.WorkspaceProviders {
		if !slices.Contains(providers, name) {
			f.add("workspace_providers", "%q is neither process nor docker", name)
		}
	}
	if c.WorkspaceDomain != "" && !domainForm.MatchString(c.WorkspaceDomain) {
		f.add("workspace_domain", "%q is not a domain such as ws.example.org", c.WorkspaceDomain)
	}
	if d := c.WorkspaceStandbyTTL; d != 0 && d < 10*time.Second {
		f.add("workspace_standby_ttl", "%s is under 10 seconds", d)
	}
	if d := c.WorkspaceArchiveTTL; d != 0 && d < 10*time.Second {
		f.add("workspace_archive_ttl", "%s is under 10 seconds", d)
	}
}

// newWorkspaceHost makes the providers that are set. Nothing is started.
func newWorkspaceHost(ctx context.Context, c Config, private bool, pool *pgxpool.Pool, bucket blob.Bucket, at workspace.Address, log *slog.Logger) (*workspace.Host, error) {
	h := &workspace.Host{Store: workspace.New(pool), Users: auth.New(pool, auth.Options{Log: log}), Bucket: bucket, Address: at}
	if bucket == nil {
		return h, nil // nothing could be archived
	}
	var install string
	if err := pool.QueryRow(ctx, `select p.install::text from weir.workspace_policy p`).Scan(&install); err != nil {
		return nil, fmt.Errorf("read which installation this is: %w", err)
	}
	for _, name := range c.workspaceProviders(private) {
		p, err := newProvider(name, install, c, private, log)
		if err != nil {
			return nil, err
		}
		h.Providers, h.Offered = append(h.Providers, p), append(h.Offered, name)
	}
	return h, nil
}

// commandHost is the host of a command on a database. It looks for providers, bucket and
// address, as far as the settings here tell, only when something needs them.
func commandHost(pool *pgxpool.Pool, t Target) *workspace.Host {
	h := &workspace.Host{Store: workspace.New(pool), Users: auth.New(pool, auth.Options{}), Offered: t.config.workspaceProviders(t.private())}
	h.At = func(ctx context.Context, do func(*workspace.Host) error) (err error) {
		var bucket blob.Bucket
		if at := t.config.bucketURL(t.private()); at != "" {
			if bucket, err = blob.Open(ctx, at); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, blob.Close(bucket)) }()
		}
		at, err := newWorkspaceHost(ctx, t.config, t.private(), pool, bucket, workspaceAddress(t.config, t.Dashboard), nil)
		if err != nil {
			return err
		}
		return errors.Join(do(at), closeProviders(at))
	}
	return h
}

func (c Config) workspaceProviders(private bool) []string {
	if len(c.WorkspaceProviders) == 0 && private {
		return []string{workspace.OnThisMachine}
	}
	return c.WorkspaceProviders
}

func newProvider(name, install string, c Config, private bool, log *slog.Logger) (provider.Provider, error) {
	if name == onDocker {
		return docker.New(docker.Config{
			Install: install, Host: c.DockerHost, Program: c.WorkspaceProgram, Args: []string{workspaceInside}, Images: c.WorkspaceImages, Network: c.WorkspaceNetwork,
			CPU: float64(c.WorkspaceCPUs), Memory: int64(c.WorkspaceMemory) << 20, Log: log,
		})
	}
	if !private {
		return nil, problem.Refuse("workspace_providers", "use docker, or weir up", "process keeps homes in the data folder, and weir server has none")
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	return processes.New(processes.Config{Dir: filepath.Join(data, workspaceFolder), Program: program, Args: []string{workspaceInside, "serve"}}), nil
}

// workspaceAddress is where browsers find workspaces: below a domain, at the port of the
// dashboard. dashboard is the dashboard's own address.
func workspaceAddress(c Config, dashboard string) workspace.Address {
	u, err := url.Parse(dashboard)
	if err != nil {
		return workspace.Address{}
	}
	at := workspace.Address{Scheme: u.Scheme, Domain: c.WorkspaceDomain, Port: u.Port()}
	if ip := net.ParseIP(u.Hostname()); at.Domain == "" && (ip != nil && ip.IsLoopback() || u.Hostname() == "localhost") {
		at.Domain = "localhost"
	}
	return at
}

// rest stops what runs as processes of this machine: nobody would look after them. What is
// wanted stays, so that the next start brings them back.
func (h *houses) rest(ctx context.Context) (string, error) {
	p, err := h.Provider(workspace.OnThisMachine)
	if err != nil {
		return "", nil // there are none here
	}
	seen, err := p.Look(ctx)
	if err != nil {
		return "", err
	}
	for id := range seen.Containers {
		err = errors.Join(err, p.Stop(ctx, id))
	}
	if len(seen.Containers) == 0 {
		return "none ran", nil
	}
	return fmt.Sprintf("%d stopped; they come back with the next start", len(seen.Containers)), err
}

// closeProviders lets go of what they hold. What runs, runs on.
func closeProviders(h *workspace.Host) (err error) {
	for _, p := range h.Providers {
		if c, ok := p.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// said is one line about the providers, for the start.
func (h *houses) said(ctx context.Context) string {
	if len(h.Providers) == 0 {
		return "none: set workspace_providers, and bucket for their archives"
	}
	var parts []string
	for _, p := range h.Providers {
		part := p.Name()
		if err := p.Check(ctx); err != nil {
			part += " (does not answer yet: " + err.Error() + ")"
		}
		parts = append(parts, part)
	}
	at := "no host names: set workspace_domain"
	if h.Address.Domain != "" {
		at = "*." + h.Address.Domain
	}
	return strings.Join(parts, ", ") + ", " + at
}
