package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	prefix = "/api/v1"
	// tries is how often a safe call is sent.
	tries = 4
	// firstPause doubles with each further try, up to lastPause.
	firstPause, lastPause = 100 * time.Millisecond, 2 * time.Second
	// callTimeout is a little more than the server's own timeout.
	callTimeout = 35 * time.Second
	// answerLimit is the most bytes of an answer that are read.
	answerLimit = 256 << 20
)

// Config holds the address of the server and the credential.
type Config struct {
	// Server is its address, such as https://weir.example.org.
	Server string
	// Token is the secret of an API token. If empty, log in, or stay anonymous.
	Token string
	// TLS sets the trusted certificates. Nil means those of the machine.
	TLS *tls.Config
	// HTTP replaces the HTTP client, which then also handles TLS.
	HTTP *http.Client
	// Version is the version of the program, for the User-Agent.
	Version string
}

// Client talks to one server. It is safe for use by many goroutines.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
	agent string
}

// New makes a client. It does not connect.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.Server)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, problem.Refuse("server", "for example https://weir.example.org", "%q is not the address of a server", c.Server)
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	client := &Client{base: base, token: c.Token, agent: "weir/" + c.Version}
	if c.Version == "" {
		client.agent = "weir"
	}
	if c.HTTP != nil {
		own := *c.HTTP
		client.http = &own
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = c.TLS
		client.http = &http.Client{Transport: transport}
	}
	// The API never redirects, so a server that does is another one, and must not get a
	// token.
	client.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if client.http.Jar == nil {
		if client.http.Jar, err = cookiejar.New(nil); err != nil {
			return nil, fmt.Errorf("keep cookies: %w", err)
		}
	}
	return client, nil
}

// Server returns the address of the server.
func (c *Client) Server() string { return c.base.String() }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call is one request.
type call struct {
	method string
	path   []string
	query  url.Values
	header http.Header
	body   any
	// once means that the client must not retry it by itself.
	once bool
}

// safe reports whether sending it twice has the same effect as once.
func (k *call) safe() bool {
	return !k.once && k.method != http.MethodPost || k.header.Get("Idempotency-Key") != ""
}

// do sends a call and reads the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, k call, out any) (http.Header, error) {
	header, _, err := c.ask(ctx, k, out)
	return header, err
}

func (c *Client) ask(ctx context.Context, k call, out any) (header http.Header, status int, err error) {
	var body []byte
	if k.body != nil {
		if body, err = json.Marshal(k.body); err != nil {
			return nil, 0, problem.New(problem.Invalid, "", "it does not become JSON: %s", err)
		}
	}
	for try, lost := 1, false; ; try++ {
		header, status, again, err := c.once(ctx, k, body, out)
		if lost && k.method == http.MethodDelete && kindOf(err) == problem.NotFound {
			return header, status, nil // the earlier try, whose answer was lost, has done it
		}
		lost = lost || !neverSent(err)
		if err == nil || !again || try == tries || ctx.Err() != nil {
			return header, status, err
		}
		if !loop.Wait(ctx, pause(try), nil) {
			return nil, 0, errors.Join(err, ctx.Err())
		}
	}
}

// pause returns how long to wait after a try, with jitter, so that clients that lost the
// same server do not come back together.
func pause(try int) time.Duration {
	longest := min(firstPause<<min(try-1, 10), lastPause)
	return longest/2 + rand.N(longest/2+1) // #nosec G404 -- spreads clients, guards nothing
}

// once sends a call once. again reports that sending it again may help and does no harm.
func (c *Client) once(ctx context.Context, k call, body []byte, out any) (header http.Header, status int, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.send(ctx, k, body)
	if err != nil {
		return nil, 0, (k.safe() || neverSent(err)) && !untrusted(err), c.unreachable(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return nil, 0, k.safe(), c.unreachable(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		p := c.refused(response, text)
		return response.Header, response.StatusCode, k.safe() && p.Kind == problem.Unreachable, p
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return nil, 0, false, problem.New(problem.Failed, "is it a Weir server, and not older than this program?", "the answer of %s is not understood: %s", c.Server(), err)
		}
	}
	return response.Header, response.StatusCode, false, nil
}

// send makes the request.
func (c *Client) send(ctx context.Context, k call, body []byte) (*http.Response, error) {
	target, err := url.Parse(c.base.String() + prefix + "/" + strings.Join(escaped(k.path), "/"))
	if err != nil {
		return nil, err
	}
	target.RawQuery = k.query.Encode()
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, k.method, target.String(), reader)
	if err != nil {
		return nil, err
	}
	for name, values := range k.header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", c.agent)
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json")
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	// A client that has logged in acts as a person, not as its token.
	if c.token != "" && len(c.http.Jar.Cookies(target)) == 0 {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.http.Do(r)
}

func escaped(parts []string) []string {
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = url.PathEscape(part)
	}
	return out
}

// untrusted reports whether the certificate of the server is not trusted; a retry does
// not help.
func untrusted(err error) bool {
	var cause *tls.CertificateVerificationError
	return errors.As(err, &cause)
}

// neverSent reports whether no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
