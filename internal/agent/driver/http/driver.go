package http

import (
	"context"
	"net"
	nethttp "net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
)

// Config is set by the operator of the machine. The zero value works.
type Config struct {
	// Allow lists the hosts that steps may talk to: names, addresses and ranges of
	// addresses, each with or without a port. Empty means only this machine.
	Allow []string
	// MaxResult is the size of the largest result in bytes (1 MiB).
	MaxResult int64
	// Delete says that services accept DELETE url?task=…&attempt=… as the request to
	// stop. They have the grace period to answer the original request; then it is
	// aborted.
	Delete bool
	// Connect is the timeout of a connection (10 s), and of the DELETE.
	Connect time.Duration
}

// Driver posts work to services.
type Driver struct {
	cfg    Config
	allow  list
	client *nethttp.Client
	pool   *nethttp.Transport
	// resolver finds the addresses of names. Nil means the resolver of the machine.
	resolver *net.Resolver

	mu sync.Mutex
	// live contains the calls that have not ended, by task and attempt.
	live map[string]*call
	busy sync.WaitGroup
}

// New returns the driver.
func New(cfg Config) (*Driver, error) {
	if len(cfg.Allow) == 0 {
		cfg.Allow = loopback
	}
	if cfg.MaxResult == 0 {
		cfg.MaxResult = 1 << 20
	}
	if cfg.Connect == 0 {
		cfg.Connect = 10 * time.Second
	}
	allow, err := newList(cfg.Allow)
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, allow: allow, live: map[string]*call{}}
	d.pool = &nethttp.Transport{
		// A proxy from the environment is not used, because it would connect to addresses
		// without the check.
		Proxy:                  nil,
		DialContext:            d.dial,
		TLSHandshakeTimeout:    cfg.Connect,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        time.Minute,
		// Compression is off because a result could unpack to a thousand times its size.
		DisableCompression: true,
	}
	d.client = &nethttp.Client{
		Transport:     d.pool,
		CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse },
	}
	return d, nil
}

// Close aborts the calls that are left.
func (d *Driver) Close() error {
	d.mu.Lock()
	for _, c := range d.live {
		c.cut()
	}
	d.mu.Unlock()
	d.busy.Wait()
	d.pool.CloseIdleConnections()
	return nil
}

// Name returns the name of the driver in definitions.
func (d *Driver) Name() string { return "http" }

// Check returns nil, because only a call shows whether a service is there.
func (d *Driver) Check(context.Context) error { return nil }

// Adopt finds nothing because a call ends with the agent that makes it.
func (d *Driver) Adopt(context.Context) ([]driver.Found, error) { return nil, nil }

// Start posts the work to the address that its step names.
func (d *Driver) Start(_ context.Context, work driver.Work, out driver.Output) (driver.Running, error) {
	return d.Call(work, work.Run.URL, out)
}

// Call posts the work to an address. It is for drivers that start a service
// first.
func (d *Driver) Call(work driver.Work, address string, out driver.Output) (driver.Running, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := work.Task + "#" + strconv.Itoa(work.Attempt)
	if c := d.live[name]; c != nil {
		return c, nil
	}
	target, err := d.allow.url(address)
	if err != nil {
		return nil, err
	}
	c, err := newCall(d, work, target, out)
	if err != nil {
		return nil, err
	}
	d.live[name] = c
	d.busy.Go(func() {
		defer close(c.done)
		c.exit = c.run()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.live, name)
	})
	return c, nil
}

// Reach returns an error unless a service listens at an address that steps may talk to.
func (d *Driver) Reach(ctx context.Context, address string) error {
	target, err := d.allow.url(address)
	if err != nil {
		return err
	}
	conn, err := d.dial(ctx, "tcp", net.JoinHostPort(target.Hostname(), portOf(target)))
	if err != nil {
		return err
	}
	return conn.Close()
}

// dial connects only to addresses that the list allows, wherever the name leads.
func (d *Driver) dial(ctx context.Context, network, target string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{
		Timeout:  d.cfg.Connect,
		Resolver: d.resolver,
		// Control sees each address just before the connection is made, after every
		// lookup, so no other lookup can come in between.
		Control: func(_, found string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(found)
			if err != nil || !d.allow.address(host, at.Addr(), strconv.Itoa(int(at.Port()))) {
				return d.allow.refusal(host + " at " + found)
			}
			return nil
		},
	}
	return dialer.DialContext(ctx, network, target)
}
