package door

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/auth"
)

type clientKey struct{}

// ClientOf is where a request comes from. Behind [Door.Wrap] it looks through
// the proxies that are trusted, and through no other.
func ClientOf(r *http.Request) auth.Client {
	if c, ok := r.Context().Value(clientKey{}).(auth.Client); ok {
		return c
	}
	return auth.Client{Address: peer(r), Agent: r.UserAgent()}
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return address
}

func (d *Door) client(r *http.Request) auth.Client {
	return auth.Client{Address: Through(d.config.Proxies, r), Agent: r.UserAgent()}
}

// Through is the address that a request comes from, seen through proxies. It walks
// X-Forwarded-For from its end, for each proxy adds to the end, and stops at the
// first address that is no proxy of ours: what stands before it, the client may
// have written itself.
func Through(proxies []netip.Prefix, r *http.Request) string {
	address := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && trusts(proxies, address); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		address = hop.Unmap().WithZone("").String()
	}
	return address
}

func trusts(proxies []netip.Prefix, address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
}
