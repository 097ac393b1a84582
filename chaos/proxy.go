package chaos

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Proxy is between an agent and PostgreSQL, or a server, and loses what it is configured
// to lose.
type Proxy struct {
	proxy *toxiproxy.Proxy
	url   string
	mu    sync.Mutex
}

// NewProxy starts to forward connections to target.
func NewProxy(name, target string) (*Proxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &Proxy{proxy: toxiproxy.NewProxy(server, name, "127.0.0.1:0", u.Host)}
	if err := p.proxy.Start(); err != nil {
		return nil, fmt.Errorf("start proxy %s: %w", name, err)
	}
	u.Host = p.proxy.Listen
	p.url = u.String()
	return p, nil
}

// URL returns the target's address through the proxy.
func (p *Proxy) URL() string { return p.url }

// LoseReplies drops everything that the server sends.
func (p *Proxy) LoseReplies() error { return p.lose("downstream") }

// Partition drops everything in both directions.
func (p *Proxy) Partition() error {
	if err := p.lose("upstream"); err != nil {
		return err
	}
	return p.lose("downstream")
}

// lose adds a toxic that lets no byte pass and keeps the connections open.
func (p *Proxy) lose(stream string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proxy.Toxics.GetToxic("timeout_"+stream) != nil {
		return nil
	}
	_, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"type": "timeout", "stream": %q, "attributes": {"timeout": 0}}`, stream)))
	return err
}

// Slow delays everything, in both directions.
func (p *Proxy) Slow(by time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"type": "latency", "stream": %q, "attributes": {"latency": %d, "jitter": %d}}`, stream, by.Milliseconds(), by.Milliseconds()/2)
		if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
			return err
		}
	}
	return nil
}

// Heal lets everything pass again. Connections that lost something are closed.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxy.Toxics.ResetToxics(context.Background())
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.Heal()
	p.proxy.Stop()
}
