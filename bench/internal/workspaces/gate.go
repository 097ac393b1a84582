package workspaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/proxy"
	"github.com/weirhq/weir/internal/proxy/activity"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// gate is the input and the output of the process with the two proxies.
type gate struct {
	DatabaseURL string `json:"database_url,omitempty"`
	// Backend is the address that both proxies lead to.
	Backend string `json:"backend,omitempty"`
	// Bare and Weir are the addresses of the proxies.
	Bare string `json:"bare,omitempty"`
	Weir string `json:"weir,omitempty"`
}

// stage is a provider whose one container is the backend of the benchmark. It only dials.
type stage struct {
	provider.Provider
	backend string
}

const staged = "stage"

func (*stage) Name() string { return staged }

func (s *stage) Dial(ctx context.Context, _ weir.ID) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", s.backend)
}

// serveGate serves both proxies until its input ends.
func serveGate(ctx context.Context, spec json.RawMessage, in io.Reader, out io.Writer) (err error) {
	var g gate
	if err := json.Unmarshal(spec, &g); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pool, err := pg.Open(ctx, g.DatabaseURL, pg.Options{Name: "bench gate"})
	if err != nil {
		return err
	}
	defer pool.Close()
	ours, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	store := workspace.New(pool)
	meter, err := activity.New(activity.Config{Store: store})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, meter.Close()) }()
	p, err := proxy.New(proxy.Config{Store: store, Providers: []provider.Provider{&stage{backend: g.Backend}}, Address: addressOf(ours.Addr().String()), Dashboard: "http://" + ours.Addr().String(), Meter: meter})
	if err != nil {
		return err
	}
	defer p.Close()
	hints := listen.New(pool.Config().ConnConfig, nil)
	used := hints.Listen(workspace.UseChannel)
	go func() { _ = hints.Run(ctx) }() // until ctx ends
	go (&loop.Runner{}).Run(ctx, append(meter.Loops(used.C()), p.Loops()...)...)
	go func() { _ = newServer(p).Serve(ours) }()
	go func() { _ = newServer(bareProxy(g.Backend)).Serve(bare) }()
	if err := json.NewEncoder(out).Encode(gate{Bare: bare.Addr().String(), Weir: ours.Addr().String()}); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in) // until the benchmark is done or dead
	return nil
}

// bareProxy returns a reverse proxy of the standard library without any check. It keeps
// as many connections as there are concurrent requests.
func bareProxy(backend string) http.Handler {
	to := &url.URL{Scheme: "http", Host: backend}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.SetXForwarded() }, ErrorLog: log.New(io.Discard, "", 0),
		Transport: &http.Transport{MaxIdleConnsPerHost: manyMost, DisableCompression: true},
	}
}

// newServer returns a server with the limits of the product's.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
}

func addressOf(listen string) workspace.Address {
	_, port, _ := net.SplitHostPort(listen) // it was listened on
	return workspace.Address{Scheme: "http", Domain: "localhost", Port: port}
}

// running puts a running workspace on the stage into the database.
func (b *Base) running(ctx context.Context, name string) (id weir.ID, err error) {
	err = b.Pool.QueryRow(ctx, `insert into weir.workspaces (id, owner, name, provider, created_at, desired, desired_at, last_access_at, phase, phase_changed_at, had_home)
		values (gen_random_uuid(), $1, $2, $3, now(), 'RUNNING', now(), now(), 'RUNNING', now(), true) returning id`, b.Owner, name, staged).Scan(&id)
	if err != nil {
		return id, fmt.Errorf("make a workspace: %w", err)
	}
	return id, nil
}
