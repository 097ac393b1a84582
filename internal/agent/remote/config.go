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

// Config says where the server is and which node is calling.
type Config struct {
	// Server is the server's address, such as https://weir.example.org.
	Server string
	// Node is the name of this machine, and Credential is what it got for its join token:
	// see [Open].
	Node, Credential string
	// CA is a file with certificates to trust in addition to the machine's own.
	CA string
	// Plain allows sending the credential unencrypted over a network. Without it, http is
	// only for this machine.
	Plain bool
	// Version is the version of the program.
	Version string
	Log     *slog.Logger
}

const (
	// tryFor is how long one try of a call may take.
	tryFor = 15 * time.Second
	// dialFor is the timeout for connecting to a server that does not answer at all.
	dialFor = 5 * time.Second
	// silentFor is how long a connection may be silent before it is pinged, and how long
	// the answer to the ping may take.
	silentFor = 5 * time.Second
	// firstPause doubles with each further try, up to lastPause.
	firstPause, lastPause = 100 * time.Millisecond, 5 * time.Second
	// connections are enough for a waiting claim, renewals at the same time, and a few
	// transfers of objects.
	connections = 8
)

// address parses the server's address.
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

// local reports whether a host is this machine.
func local(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// transport returns the HTTP transport for requests. It is not shared.
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
		// Calls share a connection, so a dead one must be detected.
		HTTP2:               &http.HTTP2Config{SendPingTimeout: silentFor, PingTimeout: silentFor},
		MaxConnsPerHost:     connections,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     time.Minute,
	}, nil
}

// trust returns the machine's certificates and the file's, or nil for only the machine's.
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
