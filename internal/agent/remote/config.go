package remote

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// Config says where the server is and who asks.
type Config struct {
	// Server is its address, such as https://weir.example.org.
	Server string
	// Node is the name of this machine, Credential what it got for its join
	// token: see [Open].
	Node, Credential string
	// CA is a file with the certificates to trust beside the machine's own.
	CA string
	// Plain lets the credential go unencrypted over a network. Without it, http
	// is for this machine alone.
	Plain bool
	// Version is that of the program.
	Version string
	Log     *slog.Logger
}

const (
	// tryFor is how long one try of a call may take.
	tryFor = 15 * time.Second
	// dialFor bounds the way to a server that does not answer at all.
	dialFor = 5 * time.Second
	// silentFor is how long a connection may say nothing before it is asked
	// whether it lives, and how long it may take to answer.
	silentFor = 5 * time.Second
	// firstPause doubles with each further try, up to lastPause.
	firstPause, lastPause = 100 * time.Millisecond, 5 * time.Second
	// connections are enough for a claim that waits, renewals beside it, and a
	// few objects on their way.
	connections = 8
)

// address reads the server's address.
func (c Config) address() (*url.URL, error) {
	base, err := url.Parse(c.Server)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, problem.Refuse("server", "for example https://weir.example.org", "%q is not the address of a server", c.Server)
	}
	if base.Scheme == "http" && !c.Plain && !local(base.Hostname()) {
		return nil, problem.Refuse("server", "use https; or, on a network where nobody listens, say that plain http is meant",
			"%s would get the node's credential unencrypted", base.Host)
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	return base, nil
}

// local says that a host is this machine.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// transport is what requests go through. It is not shared with anybody.
func (c Config) transport() (*http.Transport, error) {
	trust, err := c.trust()
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialFor, KeepAlive: silentFor}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust},
		TLSHandshakeTimeout:   dialFor,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		// A connection shared by all calls must not stay when it is dead.
		HTTP2:               &http.HTTP2Config{SendPingTimeout: silentFor, PingTimeout: silentFor},
		MaxConnsPerHost:     connections,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     time.Minute,
	}, nil
}

// trust are the machine's certificates and the file's. Nil: the machine's alone.
func (c Config) trust() (*x509.CertPool, error) {
	if c.CA == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, problem.Refuse("ca", "give a file with certificates in PEM", "it cannot be read: %s", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, problem.Refuse("ca", "give a file with certificates in PEM", "%s holds no certificate", c.CA)
	}
	return pool, nil
}
