package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/metrics"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/requestinfo"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/weirotel"
)

const (
	// linkFor is how long a link to log in works.
	linkFor = 15 * time.Minute
	// readWithin ends a query of a page or a list, so that a bad one cannot take
	// the database from the others.
	readWithin = 20 * time.Second
)

// open makes the dashboard and the API, and a link to log in.
func (s *Server) open(ctx context.Context, p *parts) (_ string, err error) {
	// Pages have connections of their own: a rush of them must not keep the
	// loops waiting.
	configure := func(config *pgxpool.Config) {
		p.tracing.Database(config)
		s.writes.Watch(config)
	}
	if p.reads, err = pg.Open(ctx, p.url, pg.Options{Name: "weir http", StatementTimeout: readWithin, Configure: configure}); err != nil {
		return "", err
	}
	if p.client, err = weir.New(p.reads, &weir.Config{Logger: s.log, Tracer: weirotel.New(p.tracing.Provider())}); err != nil {
		return "", err
	}
	people := auth.New(p.reads, auth.Options{Log: s.log})
	entrance, err := s.door(people)
	if err != nil {
		return "", err
	}
	p.work = work.New(p.reads, p.client).Checked(p.flows.CheckRun, fleet.CheckScheduled)
	store := p.work.View
	measured := metrics.New(metrics.Config{
		Source: store, Fleet: fleet.New(p.reads), Workspaces: workspace.New(p.reads), Version: s.options.Version, Log: s.log,
		Loops:       func() []loop.Stats { return p.coordinator.Status().Loops },
		Leader:      func() int64 { return p.coordinator.Status().Epoch },
		Connections: p.connections,
	})
	hub := timeline.NewHub(p.reads, p.grown(), timeline.Options{Mark: stream.Ends, Log: s.log})
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	s.group.Go(func() { hub.Run(life) })
	s.group.Go(func() { p.houses.watch(life, s) })
	streams := stream.New(stream.Config{Hub: hub, Subject: entrance.Subject, Count: measured.Streams(), Log: s.log})
	dashboard, err := web.New(s.webConfig(p, site.Config{
		Store: store, Auth: people, Door: entrance, Hub: hub,
		Health: s.webHealth, Settings: s.webSettings, Version: s.options.Version, Log: s.log,
	}))
	if err != nil {
		end()
		return "", err
	}
	api := httpapi.New(s.apiConfig(p, httpapi.Config{Store: store, Auth: people, Door: entrance, Stream: streams, Hub: hub, Version: s.options.Version, Log: s.log}))
	p.shut = func() {
		api.Close()
		streams.Close()
		dashboard.Close()
		p.houses.close()
		end()
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", api.Handler())
	mux.Handle("GET /metrics", s.metrics(entrance, measured))
	mux.Handle("/", dashboard.Handler())
	p.face = requestinfo.Wrap(measured.HTTP(p.tracing.HTTP(mux)))
	if p.link, err = s.logIn(ctx, people); err != nil {
		return "", err
	}
	return s.url(), nil
}

// door says by which names and from where the server may be called.
func (s *Server) door(people *auth.Store) (*door.Door, error) {
	config := door.Config{Secure: s.config.TLSCert != "", Log: s.log}
	if s.config.PublicURL != "" {
		public, err := url.Parse(s.config.PublicURL)
		if err != nil {
			return nil, fmt.Errorf("read public_url: %w", err)
		}
		config.Secure = public.Scheme == "https"
		config.Hosts = []string{public.Host, s.listener.Addr().String()}
	} else {
		config.Hosts = ownNames(s.listener.Addr().String())
	}
	if len(s.config.AllowedHosts) > 0 {
		config.Hosts = append(config.Hosts, s.config.AllowedHosts...)
		config.Hosts = append(config.Hosts, "localhost", "127.0.0.1", "[::1]")
	}
	config.Proxies = s.config.trusted()
	if s.config.OIDC.Issuer != "" {
		roles := map[string]auth.Role{}
		for group, role := range s.config.OIDC.Roles {
			roles[group] = auth.Role(role)
		}
		provider, err := auth.NewOIDC(auth.OIDCConfig{
			Issuer: s.config.OIDC.Issuer, ClientID: s.config.OIDC.ClientID, ClientSecret: s.config.OIDC.ClientSecret,
			RedirectURL: s.url() + "/login/oidc/return", RoleClaim: s.config.OIDC.RoleClaim, Roles: roles, DefaultRole: auth.Role(s.config.OIDC.DefaultRole),
		}, people)
		if err != nil {
			return nil, err
		}
		config.OIDC = provider
	}
	return door.New(people, config)
}

// trusted are the networks whose X-Forwarded-For counts.
func (c Config) trusted() (networks []netip.Prefix) {
	for _, network := range c.TrustedProxies {
		networks = append(networks, netip.MustParsePrefix(network)) // Validate has read it
	}
	return networks
}

// ownNames are the names of this machine as far as it answers to them; none for
// a server that is for this machine alone.
func ownNames(listen string) []string {
	host, _, err := net.SplitHostPort(listen)
	ip, parsed := netip.ParseAddr(host)
	switch {
	case err != nil || parsed != nil || ip.IsLoopback():
		return nil
	case !ip.IsUnspecified():
		return []string{bracketed(net.ParseIP(host)), "localhost"}
	}
	names := []string{"localhost", "127.0.0.1", "[::1]", hostname()}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return names
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok {
			names = append(names, bracketed(network.IP))
		}
	}
	return names
}

// bracketed is an address as it stands in a URL.
func bracketed(ip net.IP) string {
	if ip.To4() == nil {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

// metrics are for those who may read them, unless they are open.
func (s *Server) metrics(entrance *door.Door, measured *metrics.Metrics) http.Handler {
	if s.config.MetricsOpen {
		return entrance.Guard(measured.Handler())
	}
	return entrance.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := auth.Allow(auth.From(r.Context()), auth.Read, auth.Object{Kind: "metrics"}); err != nil {
			p := problem.Explain(err)
			http.Error(w, p.What+"\n"+p.Advice(), door.Status(p))
			return
		}
		measured.Handler().ServeHTTP(w, r)
	}))
}

// logIn makes a link for whoever started the server. Before there are users it
// makes the first one. Later it logs an admin in, but only where the server is
// somebody's own: the output of a server among many is read by more people.
func (s *Server) logIn(ctx context.Context, people *auth.Store) (string, error) {
	first, err := people.NeedsSetup(ctx)
	if err != nil {
		return "", err
	}
	name := ""
	if !first {
		if !s.private {
			return "", nil
		}
		if name, err = anAdmin(ctx, people); name == "" || err != nil {
			return "", err
		}
	}
	secret, err := people.NewLink(ctx, auth.System("weir up"), name, linkFor)
	if err != nil {
		return "", err
	}
	return Target{Dashboard: s.url()}.LinkURL(secret), nil
}

// anAdmin is the first admin that may log in.
func anAdmin(ctx context.Context, people *auth.Store) (string, error) {
	for page := (auth.Page{Limit: 1000}); ; {
		users, err := people.Users(ctx, page)
		if err != nil || len(users) == 0 {
			return "", err
		}
		for _, u := range users {
			if u.Role == auth.Admin && !u.Disabled() {
				return u.Name, nil
			}
		}
		page.After = users[len(users)-1].Name
	}
}

func (p *parts) connections() map[string]metrics.Connections {
	return map[string]metrics.Connections{"loops": p.pool.Stat(), "leader": p.terms.Stat(), "http": p.reads.Stat()}
}

func (s *Server) webHealth(ctx context.Context) site.Health {
	h := site.Health{}
	checks := s.checks(ctx)
	if p := s.parts.Load(); p != nil {
		status := p.coordinator.Status()
		h.Epoch, h.Loops = status.Epoch, status.Loops
		checks = append(checks, checkLoops(ctx, p, time.Now()))
	}
	for _, c := range checks {
		h.Checks = append(h.Checks, site.Check{Name: c.Name, OK: c.OK, Detail: c.detail})
	}
	return h
}

func (s *Server) webSettings() []site.Setting {
	out := make([]site.Setting, len(s.options.Values))
	for i, v := range s.options.Values {
		out[i] = site.Setting{Name: v.Name, Variable: v.Variable, Help: v.Help, Value: v.Value, Default: v.Default, Origin: v.Origin}
	}
	return out
}
