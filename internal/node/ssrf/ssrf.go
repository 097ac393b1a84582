package ssrf

import (
	"net/netip"
	"slices"
)

// metadata are addresses at which clouds give a machine its secrets, besides the
// link-local ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
}

// wrapped are ranges whose last four bytes are an IPv4 address, to which a gateway leads:
// the range of NAT64, and the old form with nothing before it.
var wrapped = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("::/96")}

// Unmap returns the address without its IPv6 wrapping.
func Unmap(address netip.Addr) netip.Addr {
	address = address.Unmap()
	if address == netip.IPv6Loopback() || address == netip.IPv6Unspecified() {
		return address
	}
	if slices.ContainsFunc(wrapped, func(p netip.Prefix) bool { return p.Contains(address) }) {
		bytes := address.As16()
		return netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return address
}

// Guarded reports whether an address is one by which a machine finds out about itself:
// such an address must be named explicitly.
func Guarded(address netip.Addr) bool {
	return address.IsLinkLocalUnicast() || slices.Contains(metadata, address.WithZone(""))
}

// Allowed reports whether a name may lead to an address: neither back to this machine,
// nor where no service is, nor to a guarded address.
func Allowed(address netip.Addr) bool {
	address = Unmap(address)
	return !address.IsLoopback() && !address.IsUnspecified() && !address.IsMulticast() && !Guarded(address)
}
