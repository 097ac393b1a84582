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

// ClientOf returns the origin of a request. Behind [Door.Wrap] it looks through the
// trusted proxies, and through no other.
func ClientOf(r *http.Request) auth.Client {
	if c, ok := r.Context().Value(clientKey{}).(auth.Client); ok {
		return c
	}
	return auth.Client{Address: peer(r), Agent: r.UserAgent()}
}

// peer returns the address at the other end of the connection.
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

// Through returns the client address of a request, seen through proxies. It walks
// X-Forwarded-For from its end, because each proxy appends to the end, and stops at the
// first address that is not a trusted proxy: the client may have written everything
// before it.
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
