package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/proxy"
	"github.com/weirhq/weir/internal/proxy/activity"
	"github.com/weirhq/weir/internal/workspace"
)

// houses are what a server needs for workspaces: where they run, who uses them, and the
// way in.
type houses struct {
	*workspace.Host
	meter *activity.Meter
	proxy *proxy.Proxy
	// wanted hears that something else is wanted, used that somebody asks who is used.
	wanted, used *listen.Subscription
}

// openWorkspaces makes what workspaces need. A provider that does not answer yet is told
// and tried again.
func (s *Server) openWorkspaces(ctx context.Context, p *parts) (_ string, err error) {
	h := &houses{}
	if h.Host, err = newWorkspaceHost(ctx, s.config, s.private, p.pool, p.bucket, workspaceAddress(s.config, s.url()), s.log); err != nil {
		return "", err
	}
	p.houses = h
	if err := s.setTTLs(ctx, h.Store); err != nil {
		return "", err
	}
	if h.meter, err = activity.New(activity.Config{Store: h.Store, RedisURL: s.config.RedisURL, Log: s.log}); err != nil {
		return "", err
	}
	if h.Address.Domain != "" && len(h.Providers) > 0 {
		trusted := s.config.trusted()
		if h.proxy, err = proxy.New(proxy.Config{
			Store: h.Store, Providers: h.Providers, Address: h.Address, Dashboard: s.url(), Meter: h.meter, Log: s.log,
			Client: func(r *http.Request) string { return door.Through(trusted, r) },
		}); err != nil {
			return "", err
		}
	}
	return h.said(ctx), nil
}

// setTTLs writes what the settings say into the policy.
func (s *Server) setTTLs(ctx context.Context, store *workspace.Store) error {
	var c workspace.PolicyChange
	if d := op.Wait(s.config.WorkspaceStandbyTTL); d > 0 {
		c.StandbyTTL = &d
	}
	if d := op.Wait(s.config.WorkspaceArchiveTTL); d > 0 {
		c.ArchiveTTL = &d
	}
	if c == (workspace.PolicyChange{}) {
		return nil
	}
	if _, err := store.SetPolicy(ctx, "settings", c); err != nil {
		return fmt.Errorf("set the policy of workspaces: %w", err)
	}
	return nil
}

// listenTo hears of workspaces.
func (h *houses) listenTo(hints *listen.Listener) {
	h.wanted, h.used = hints.Listen(workspace.Channel), hints.Listen(workspace.UseChannel)
}

// loops are what the leader does for workspaces.
func (h *houses) loops(s *Server, p *parts, t *coordinator.Term) []loop.Loop {
	if len(h.Providers) == 0 {
		return nil
	}
	return workspace.Loops(workspace.Config{Pool: p.pool, Providers: h.Providers, Bucket: h.Bucket, Wake: h.wanted.C(), Flush: h.meter.Ask, Log: s.log}, t)
}

// watch runs what every server does for workspaces, until ctx ends.
func (h *houses) watch(ctx context.Context, s *Server) {
	loops := h.meter.Loops(h.used.C())
	if h.proxy != nil {
		loops = append(loops, h.proxy.Loops()...)
	}
	runner := loop.Runner{Log: s.log}
	runner.Run(ctx, loops...)
}

// close ends streams.
func (h *houses) close() {
	if h.proxy != nil {
		h.proxy.Close()
	}
}

// leave writes down what is known of the use of workspaces, and closes the providers.
// Nothing is asked of them any more.
func (h *houses) leave() error {
	err := closeProviders(h.Host)
	if h.meter == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	_ = h.meter.Store(ctx) // without it one is stopped a minute too soon, and the database may be gone
	return errors.Join(err, h.meter.Close())
}

// firstAdmin is an admin that may log in; zero: there is none yet.
func (p *parts) firstAdmin(ctx context.Context) (id weir.ID, err error) {
	people := auth.New(p.pool, auth.Options{})
	name, err := anAdmin(ctx, people)
	if name == "" || err != nil {
		return id, err
	}
	u, err := people.User(ctx, name)
	if err != nil {
		return id, err
	}
	return weir.ParseID(u.ID)
}

// byHost lets requests for hosts of workspaces go there, and to nothing else: a workspace
// must never be on the dashboard's origin, nor the other way round.
func (s *Server) byHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := s.parts.Load()
		if p != nil && p.houses.proxy != nil && !s.stopping.Load() && p.houses.proxy.Owns(r.Host) {
			p.houses.proxy.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
