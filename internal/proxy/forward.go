package proxy

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/proxy/activity"
	"github.com/weirhq/weir/internal/workspace/provider"
)

const (
	dialWithin = 5 * time.Second
	idleFor    = 30 * time.Second
	idleEach   = 32
)

type routeKey struct{}

// route is the destination of a request, and its guest.
type route struct {
	*guest
	*state
}

// target names the workspace, its provider and its start for the transport, which keys
// connections by it: connections to an earlier start are never used for a later one.
func (r *route) target() string {
	return fmt.Sprintf("%s.%d.%s", r.ID, r.Mounts, r.Provider)
}

// forward forwards a request to a workspace.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, g *guest, s *state) {
	// A guest has no deadline, in both directions.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})  // not every connection has a deadline
	_ = control.SetWriteDeadline(time.Time{}) // the same
	if !upgrades(r) {
		p.config.Meter.Request(s.ID, r)
	}
	ctx, release := p.guests.hold(context.WithValue(r.Context(), routeKey{}, &route{g, s}), g)
	defer release()
	p.forwards.ServeHTTP(quiet{w}, r.WithContext(ctx))
}

func (p *Proxy) newForwards() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: p.transport, ModifyResponse: p.modify, ErrorHandler: p.unreached, BufferPool: new(buffers),
		ErrorLog: log.New(io.Discard, "", 0), // a side that disconnects in the middle is not worth a log line
	}
}

// newTransport connects to workspaces, each through its provider, and to nothing else.
func (p *Proxy) newTransport() *http.Transport {
	return &http.Transport{
		Proxy: nil, DisableCompression: true, MaxIdleConnsPerHost: idleEach, IdleConnTimeout: idleFor,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			name, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			parts := strings.SplitN(name, ".", 3)
			if len(parts) != 3 {
				return nil, fmt.Errorf("%q is no workspace", name)
			}
			id, err := weir.ParseID(parts[0])
			if err != nil {
				return nil, err
			}
			return p.dial(ctx, id, parts[2])
		},
	}
}

func (p *Proxy) dial(ctx context.Context, id weir.ID, name string) (net.Conn, error) {
	by := p.providers[name]
	if by == nil {
		return nil, fmt.Errorf("this server has no provider %q: %w", name, provider.ErrNotRunning)
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	return by.Dial(ctx, id)
}

// withheld are headers that a workspace must not see, or that only a proxy may set.
var withheld = []string{"Authorization", "Proxy-Authorization", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "X-Original-Url", "X-Rewrite-Url"}

// rewrite makes the request that the workspace gets. The name of the host stays, because
// the program inside compares it with Origin.
func (p *Proxy) rewrite(pr *httputil.ProxyRequest) {
	to, _ := pr.In.Context().Value(routeKey{}).(*route)
	pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.URL.RawQuery = "http", to.target(), pr.In.URL.RawQuery
	pr.Out.Host = pr.In.Host
	h := pr.Out.Header
	keepTheirs(h)
	for _, name := range withheld {
		h.Del(name)
	}
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "X-Weir-") {
			delete(h, name)
		}
	}
	h.Set("X-Forwarded-For", p.config.Client(pr.In))
	h.Set("X-Forwarded-Host", pr.In.Host)
	h.Set("X-Forwarded-Proto", p.config.Address.Scheme)
}

// overreaching are headers of an answer that act beyond the workspace's own host: on the
// data of the whole site, on the route of its traffic, or on a proxy in front.
var overreaching = []string{"Clear-Site-Data", "Alt-Svc", "Public-Key-Pins", "X-Accel-Redirect", "X-Sendfile", "X-Lighttpd-Send-File", "X-Reproxy-Url"}

// modify removes such headers from the answer of a workspace, and watches a WebSocket
// that begins.
func (p *Proxy) modify(answer *http.Response) error {
	tame(answer.Header)
	for _, name := range overreaching {
		answer.Header.Del(name)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return nil
	}
	to, _ := answer.Request.Context().Value(routeKey{}).(*route)
	line, both := answer.Body.(io.ReadWriteCloser)
	if !both {
		return fmt.Errorf("the workspace cannot speak both ways")
	}
	answer.Body = &watched{line, p.config.Meter.Conn(to.ID, answer.Header.Get("Sec-Websocket-Protocol"))}
	return nil
}

// watched is a WebSocket to a workspace whose frames are watched.
type watched struct {
	io.ReadWriteCloser
	conn *activity.Conn
}

func (w *watched) Write(b []byte) (int, error) {
	w.conn.Passed(b)
	return w.ReadWriteCloser.Write(b)
}

// unreached answers if the workspace does not.
func (p *Proxy) unreached(w http.ResponseWriter, r *http.Request, err error) {
	to, _ := r.Context().Value(routeKey{}).(*route)
	if r.Context().Err() != nil {
		w.WriteHeader(http.StatusBadGateway) // the client has gone
		return
	}
	p.config.Log.Debug("a workspace does not answer", "workspace", to.ID, "error", err)
	s, err := p.guests.fresh(r.Context(), to.ID)
	if err == nil && s.passable() && wakes(r) {
		// The workspace was observed running and does not answer, so the controller
		// should look at once.
		err = p.config.Store.Nudge(r.Context(), to.ID)
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.explain(w, r, to.guest, s)
}

// quiet blocks early hints, because they would carry headers past modify.
type quiet struct{ http.ResponseWriter }

func (q quiet) WriteHeader(code int) {
	if code >= 200 || code == http.StatusSwitchingProtocols {
		q.ResponseWriter.WriteHeader(code)
	}
}

func (q quiet) Unwrap() http.ResponseWriter { return q.ResponseWriter }

// buffers are reused by later requests.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return *kept
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put(&buffer) }
