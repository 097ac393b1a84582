package door

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// host is the name by which a client calls the server. An empty port matches any port.
type host struct{ name, port string }

// parseHost reads a Host header strictly: a value that no browser would send is invalid.
func parseHost(text string) (host, bool) {
	h := host{name: text}
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") == 1 {
		name, port, err := net.SplitHostPort(text)
		switch {
		case err == nil:
			n, err := strconv.ParseUint(port, 10, 16)
			if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
				return host{}, false
			}
			h = host{name, port}
		case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
			h.name = text[1 : len(text)-1]
		default:
			return host{}, false
		}
	}
	if ip, err := netip.ParseAddr(h.name); err == nil {
		// An IPv6 address stands in brackets, an IPv4 address and a name do not.
		if ip.Zone() != "" || ip.Is4() == strings.HasPrefix(text, "[") {
			return host{}, false
		}
		h.name = ip.Unmap().String()
		return h, true
	}
	h.name = strings.TrimSuffix(strings.ToLower(h.name), ".")
	return h, !strings.HasPrefix(text, "[") && isName(h.name)
}

// isName reports whether s is a host name: labels of letters, digits, hyphens and
// underscores. The last label must not be a number, because some programs read "1.2.3" as
// an address.
func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}

// knows reports whether a client may call the server by this name. A page of another site
// can point its name at our address (DNS rebinding), and the browser would then treat our
// answers as that site's; but the page cannot change the Host header.
func (d *Door) knows(header string) bool {
	h, ok := parseHost(header)
	if !ok {
		return false
	}
	if len(d.hosts) == 0 {
		ip, err := netip.ParseAddr(h.name)
		return h.name == "localhost" || (err == nil && ip.IsLoopback())
	}
	return slices.ContainsFunc(d.hosts, func(known host) bool {
		return known.name == h.name && (known.port == "" || known.port == h.port)
	})
}

func misdirected(header string) *problem.Problem {
	p := problem.New(problem.Failed, "call it by its own name, or allow this one: allowed_hosts", "this server is not called %q", header)
	p.Err = errMisdirected
	return p
}
