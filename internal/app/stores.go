package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/forward"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/vault"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workspace"
)

// bucketFolder and secretFile are where a server with a data folder keeps what
// nobody told it to keep elsewhere.
const (
	bucketFolder = "bucket"
	secretFile   = "secret.key"
	// exportToBucket is the value of events_export that means the bucket.
	exportToBucket = "bucket"
)

// stores are what a server knows beside the engine: workflows, objects, secrets
// and sleeping nodes. bucket and vault are nil where they were not set up.
type stores struct {
	work     *work.Store
	flows    *workflow.Store
	rollouts *rollout.Store
	fleets   *fleet.Store
	bucket   blob.Bucket
	vault    *vault.Vault
	waker    *wake.Waker
	// hints wake the desks of agents that wait for work.
	hints *node.Hints
	// ends gathers what their nodes end at the same moment.
	ends node.Ends
	// forwards carries forwards to devices.
	forwards *forward.Broker
}

// bucketURL is where artifacts and logs go; empty: nowhere.
func (s *Server) bucketURL() string { return s.config.bucketURL(s.private) }

func (c Config) bucketURL(private bool) string {
	if c.Bucket != "" || !private {
		return c.Bucket
	}
	if data, err := filepath.Abs(c.Data); err == nil {
		return "folder://" + filepath.Join(data, bucketFolder)
	}
	return ""
}

// exportURL is where old partitions of the timeline go before they are dropped.
func (c Config) exportURL(private bool) string {
	if c.EventsExport == exportToBucket {
		return c.bucketURL(private)
	}
	return c.EventsExport
}

// openStores opens the bucket and the vault. A bucket that cannot be used is
// told now, not when the first task has ended. One that does not answer may
// later: nothing else has to wait for it.
func (s *Server) openStores(ctx context.Context, p *parts) (string, error) {
	p.waker = wake.New(p.pool, wake.Config{Scripts: s.config.WakeScripts, URLs: s.config.WakeURLs, Broadcast: s.config.WakeBroadcast, Log: s.log})
	keys, err := s.config.secretKeys(s.private)
	switch {
	case err == nil:
		p.vault = vault.New(p.pool, keys, s.log).Follow(s.config.keyFile(s.private))
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	p.flows = workflow.New(p.pool, workflow.Options{Log: s.log, Vault: p.vault})
	p.rollouts = newRollouts(p.pool, p.vault, s.log)
	p.fleets = fleet.New(p.pool)
	at := s.bucketURL()
	if at == "" {
		return "none: artifacts and logs of agents are not kept; set bucket", nil
	}
	if p.bucket, err = blob.Open(ctx, at); err != nil {
		return "", err
	}
	switch err = blob.Check(ctx, p.bucket); {
	case err == nil:
		return p.bucket.Name(), nil
	case problem.Explain(err).Kind == problem.Unreachable:
		s.log.Warn("the bucket does not answer; what needs it waits", "error", err)
		return p.bucket.Name() + ", which does not answer: what needs it waits", nil
	}
	return "", err
}

// secretKeys are the keys that seal secrets. fs.ErrNotExist: there are none.
func (c Config) secretKeys(private bool) (vault.Keys, error) {
	file := c.keyFile(private)
	if file == "" {
		return vault.Keys{}, fs.ErrNotExist
	}
	return vault.LoadKeys(file, true)
}

// keyFile is where these keys are; "" if that is not known.
func (c Config) keyFile(private bool) string {
	if c.SecretKeyFile == "" && private {
		return filepath.Join(c.Data, secretFile)
	}
	return c.SecretKeyFile
}

// desk speaks for a node to whoever proved to be it.
func (p *parts) desk(name string) *node.Desk {
	options := node.Options{Bucket: p.bucket, Hints: p.hints, Ends: &p.ends}
	if p.vault != nil {
		options.Vault = p.vault
	}
	return node.NewDesk(p.reads, name, options)
}

// operations carries them out on the stores of this server, for who asks.
func (p *parts) operations() op.Local {
	secrets := p.vault
	if secrets == nil {
		why := problem.New(problem.NotFound, "start the server with a secret key: secret_key_file", "this server has no key for secrets")
		secrets = vault.New(p.reads, vault.NoKeys(why), nil)
	}
	house := p.workspaces()
	return op.Local{Stores: []any{p.work, p.flows, p.rollouts, p.fleets, secrets, p.waker, house, house.Users}}
}

// workspaces is where they are, for those who ask.
func (p *parts) workspaces() *workspace.Host {
	h := *p.houses.Host
	h.Store, h.Users = workspace.New(p.reads), auth.New(p.reads, auth.Options{})
	return &h
}

// apiConfig adds to the API what agents and workflows need. A part that is not
// there stays nil, and its routes say so.
func (s *Server) apiConfig(p *parts, c httpapi.Config) httpapi.Config {
	c.Operations = p.operations()
	c.Desks = func(name string) httpapi.Desk { return p.desk(name) }
	c.Bucket, c.Forwards, c.Deliver = p.bucket, p.forwards, p.flows.Deliver
	if p.vault != nil {
		c.Follow = func(ctx context.Context, link string, payload json.RawMessage) (int, error) {
			return work.Follow(ctx, p.vault, p.work.Client, link, payload)
		}
	}
	return c
}

// webConfig adds the same to the dashboard.
func (s *Server) webConfig(p *parts, c site.Config) site.Config {
	c.Operations, c.Rollouts, c.Fleets = p.operations(), p.rollouts, p.fleets
	c.Workspaces = p.workspaces()
	c.Workflows, c.Secrets, c.Bucket = p.flows, p.vault, p.bucket
	return c
}
