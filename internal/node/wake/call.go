package wake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"syscall"

	"github.com/weirhq/weir/internal/node/ssrf"
	"github.com/weirhq/weir/internal/problem"
)

// call asks another service to wake the node: a POST with the node's name.
func (w *Waker) call(ctx context.Context, node string, m Method) (said string, err error) {
	target, err := w.allowed(m.URL)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"node": node})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "weir")
	client := http.Client{
		Transport: &http.Transport{
			// No proxy is used, because it would resolve the name without the check.
			DialContext:            (&net.Dialer{Control: guard(target.Hostname())}).DialContext,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		// The client's error contains the address, which may contain a token.
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return "", fmt.Errorf("call %s: %w", target.Host, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, outputLimit)) // the text is only informative
	said = clean(text)
	switch {
	case answer.StatusCode/100 == 3:
		return said, fmt.Errorf("%s answered %s, and redirects are not followed", target.Host, answer.Status)
	case answer.StatusCode/100 != 2:
		return said, fmt.Errorf("%s answered %s", target.Host, answer.Status)
	}
	return said, nil
}

// allowed parses an address and compares it with the prefixes of the operator: scheme and
// host must be equal, and the path must begin with whole segments of theirs.
func (w *Waker) allowed(address string) (*url.URL, error) {
	refuse := func(format string, args ...any) (*url.URL, error) {
		return nil, problem.Refuse("url", "give an address that begins with one of the server's wake_urls", format, args...)
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return refuse("is not an address")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Opaque != "":
		return refuse("must begin with http:// or https:// and a host")
	case u.User != nil:
		return refuse("must not hold a user or a password")
	case !plain(u):
		return refuse("the path must be plain: no dots for folders, no encoded or doubled slashes")
	}
	for _, prefix := range w.config.URLs {
		p, err := url.Parse(prefix)
		if err != nil || p.Host == "" || !strings.EqualFold(p.Scheme, u.Scheme) || !strings.EqualFold(p.Hostname(), u.Hostname()) || port(p) != port(u) {
			continue
		}
		rest, found := strings.CutPrefix(u.Path, strings.TrimSuffix(p.Path, "/"))
		if found && (rest == "" && !strings.HasSuffix(p.Path, "/") || strings.HasPrefix(rest, "/")) {
			return u, nil
		}
	}
	return refuse("%s is not among the addresses that this server may call", u.Host)
}

// plain reports whether every server reads a path in the same way.
func plain(u *url.URL) bool {
	escaped := strings.ToLower(u.EscapedPath())
	for _, trick := range []string{"%2f", "%5c", "%2e", "%00", "\\", ";", "//"} {
		if strings.Contains(escaped, trick) {
			return false
		}
	}
	return u.Path == "" || path.Clean(u.Path) == strings.TrimSuffix(u.Path, "/") || u.Path == "/"
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	default:
		return "80"
	}
}

// guard checks the address that a connection really goes to. A host given as an address
// is what the operator allowed; a name may lead to any machine, but not back to this one,
// nor to where a cloud keeps a machine's secrets.
func guard(host string) func(network, address string, _ syscall.RawConn) error {
	literal, err := netip.ParseAddr(host)
	isLiteral := err == nil
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("cannot read the address %q", address)
		}
		at := to.Addr().Unmap().WithZone("")
		switch {
		case isLiteral && at == literal.Unmap().WithZone("") && !at.IsUnspecified() && !at.IsMulticast():
			return nil
		case at.IsLoopback() && strings.EqualFold(host, "localhost"):
			return nil
		case isLiteral, !ssrf.Allowed(at):
			return fmt.Errorf("%s leads to %s, where no wake call may go", host, at)
		}
		return nil
	}
}
