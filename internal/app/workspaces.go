package app

import (
	"context"
	"encoding/json"
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

	"github.com/weirhq/weir"
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

// workspaceHost is where workspaces run, and how one gets in.
type workspaceHost struct {
	store  *workspace.Store
	bucket blob.Bucket
	// providers are in the order of the setting, the usual one first.
	providers []provider.Provider
	// address is where they are reached; without a domain they are not.
	address workspace.Address
}

// newWorkspaceHost makes the providers that are set. Nothing is started.
func newWorkspaceHost(ctx context.Context, c Config, private bool, pool *pgxpool.Pool, bucket blob.Bucket, at workspace.Address, log *slog.Logger) (*workspaceHost, error) {
	h := &workspaceHost{store: workspace.New(pool), bucket: bucket, address: at}
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
		h.providers = append(h.providers, p)
	}
	return h, nil
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

// Providers are the names of the ways to run, the usual one first.
func (h *workspaceHost) Providers() []string {
	names := make([]string, len(h.providers))
	for i, p := range h.providers {
		names[i] = p.Name()
	}
	return names
}

func (h *workspaceHost) provider(name string) (provider.Provider, error) {
	for _, p := range h.providers {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, problem.New(problem.Conflict, "ask the server that runs it, or set workspace_providers", "this server does not run workspaces on %s", name)
}

// Image refuses an image that a workspace may not have. The built-in one is everywhere,
// also with a provider that this server does not offer.
func (h *workspaceHost) Image(provider, image string) error {
	if image == "" {
		return nil
	}
	p, err := h.provider(provider)
	if err != nil {
		return err
	}
	return workspace.RefusedImage(p.Image(image))
}

// Open is an address that opens a workspace for who asks, once.
func (h *workspaceHost) Open(ctx context.Context, by auth.Subject, id weir.ID, next string) (string, error) {
	if h.address.Domain == "" {
		return "", problem.New(problem.Conflict, "set workspace_domain to a domain whose names all lead to this server, such as ws.example.org", "workspaces cannot be opened: they have no host names")
	}
	return h.store.Open(ctx, by, id, h.address, next)
}

// Logs writes what the container printed last.
func (h *workspaceHost) Logs(ctx context.Context, w workspace.Workspace, lines int, to io.Writer) error {
	p, err := h.provider(w.Provider)
	if err != nil {
		return err
	}
	return p.Logs(ctx, w.ID, lines, to)
}

// Import takes over rows of an earlier installation.
func (h *workspaceHost) Import(ctx context.Context, by string, owner weir.ID, name string, rows []json.RawMessage) ([]workspace.Imported, error) {
	if h.bucket == nil {
		return nil, problem.New(problem.Conflict, "set bucket to where the archives are", "there is no bucket, so there are no archives to take over")
	}
	return workspace.Importer{Store: h.store, Bucket: h.bucket, Provider: name, Owner: owner}.Import(ctx, by, rows)
}

// rest stops what runs as processes of this machine: nobody would look after them. What is
// wanted stays, so that the next start brings them back.
func (h *workspaceHost) rest(ctx context.Context) (string, error) {
	p, err := h.provider(workspace.OnThisMachine)
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
func (h *workspaceHost) closeProviders() (err error) {
	for _, p := range h.providers {
		if c, ok := p.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// said is one line about the providers, for the start.
func (h *workspaceHost) said(ctx context.Context) string {
	if len(h.providers) == 0 {
		return "none: set workspace_providers, and bucket for their archives"
	}
	var parts []string
	for _, p := range h.providers {
		part := p.Name()
		if err := p.Check(ctx); err != nil {
			part += " (does not answer yet: " + err.Error() + ")"
		}
		parts = append(parts, part)
	}
	at := "no host names: set workspace_domain"
	if h.address.Domain != "" {
		at = "*." + h.address.Domain
	}
	return strings.Join(parts, ", ") + ", " + at
}
