package http

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/node/ssrf"
	"github.com/weirhq/weir/internal/problem"
)

// loopback are the hosts that the driver may talk to by default.
var loopback = []string{"localhost", "127.0.0.0/8", "::1"}

// list is the operator's list of allowed hosts.
type list struct {
	text  []string
	rules []rule
}

// rule is one entry: a name or a range of addresses, on one port or on all.
type rule struct {
	name   string
	prefix netip.Prefix
	port   string
}

func newList(entries []string) (list, error) {
	l := list{text: entries}
	for _, entry := range entries {
		r, err := newRule(entry)
		if err != nil {
			return l, err
		}
		l.rules = append(l.rules, r)
	}
	return l, nil
}

func newRule(entry string) (rule, error) {
	var r rule
	host := entry
	if h, port, err := net.SplitHostPort(entry); err == nil {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return r, problem.Refuse("allow", "give a port between 1 and 65535", "%q has no port like that", entry)
		}
		host, r.port = h, port
	}
	if prefix, err := netip.ParsePrefix(host); err == nil {
		r.prefix = prefix.Masked()
		return r, nil
	}
	if address, err := netip.ParseAddr(host); err == nil {
		address = ssrf.Unmap(address)
		r.prefix = netip.PrefixFrom(address, address.BitLen())
		return r, nil
	}
	if host == "" || strings.ContainsAny(host, "/:*?@ ") {
		return r, problem.Refuse("allow", "give a name, an address or a range, such as render.lan, 10.0.0.7:8080 or 10.0.0.0/24", "%q is none", entry)
	}
	r.name = canonical(host)
	return r, nil
}

// canonical returns the canonical form of a name.
func canonical(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// url parses the address of a service and checks that the driver may talk to it.
func (l list) url(text string) (*url.URL, error) {
	if text == "" {
		return nil, problem.Refuse("url", "give one, such as http://127.0.0.1:8080/run", "the step names no address")
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		// The address may contain a password, so the message does not repeat it.
		return nil, problem.Refuse("url", "give one, such as http://127.0.0.1:8080/run", "it is no address of a service")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, problem.Refuse("url", "use http or https", "%q is no way to talk to a service", u.Scheme)
	case u.User != nil:
		return nil, problem.Refuse("url", "give a password by a header from a secret", "it has a user or a password in it")
	case !l.host(u.Hostname(), portOf(u)):
		return nil, l.refusal(u.Host)
	}
	return u, nil
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func (l list) refusal(host string) error {
	return &problem.Problem{
		Kind: problem.Forbidden, Field: "url",
		What: "url: this node may not talk to " + host,
		Next: "use a service that its operator allows: " + strings.Join(l.text, ", ") + "; an address of the machine itself or of its network must be listed as such",
	}
}

// host reports whether a step may name this host: literally an address of the list, or a
// name of it.
func (l list) host(host, port string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return l.address(host, address, port)
	}
	return slices.ContainsFunc(l.rules, func(r rule) bool { return r.name == canonical(host) && r.on(port) })
}

// address reports whether the driver may connect to the address that was found for the
// host. The party that controls where a name leads need not be the one that put it on the
// list, so a name alone leads neither back to this machine nor to addresses that only
// machines of its own network or cloud should reach: such an address must be on the list
// itself. localhost means only this machine.
func (l list) address(host string, address netip.Addr, port string) bool {
	if address.Zone() != "" {
		return false
	}
	address = ssrf.Unmap(address)
	name := canonical(host)
	for _, r := range l.rules {
		switch {
		case !r.on(port):
		case r.name == "":
			// A wide range is not meant to include the addresses of the cloud.
			if r.prefix.Contains(address) && (!ssrf.Guarded(address) || ssrf.Guarded(r.prefix.Addr())) {
				return true
			}
		case r.name != name:
		case name == "localhost":
			if address.IsLoopback() {
				return true
			}
		case ssrf.Allowed(address):
			return true
		}
	}
	return false
}

func (r rule) on(port string) bool { return r.port == "" || r.port == port }
