package blob

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// stall is how long a connection may be silent while we wait for it; after that the
// bucket counts as gone. A transfer as a whole may take any time.
const stall = time.Minute

func transport(secure bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &impatient{conn}, nil
		},
		MaxIdleConns: 64, MaxIdleConnsPerHost: 16, IdleConnTimeout: stall / 2,
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: 10 * time.Second,
		// An object is stored as it is, so its size must equal the bytes that arrive.
		DisableCompression: true,
	}
	if secure {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return t
}

// impatient ends a read or a write that makes no progress.
type impatient struct{ net.Conn }

func (c *impatient) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *impatient) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
