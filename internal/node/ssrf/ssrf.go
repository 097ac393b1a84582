package ssrf

import (
	"net/netip"
	"slices"
)

// metadata are addresses at which clouds tell a machine its secrets, beside the
// link-local ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
}

// wrapped are ranges whose last four bytes are an address of IPv4, to which a
// gateway leads: of NAT64, and of the old form with nothing before it.
var wrapped = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("::/96")}

// Unmap is the address that is meant, without the clothes of IPv6.
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

// Guarded are the addresses by which a machine finds out about itself: only who
// names them means them.
func Guarded(address netip.Addr) bool {
	return address.IsLinkLocalUnicast() || slices.Contains(metadata, address.WithZone(""))
}

// Allowed tells whether a name may lead to an address: neither back to this
// machine, nor where no service is, nor to one that is guarded.
func Allowed(address netip.Addr) bool {
	address = Unmap(address)
	return !address.IsLoopback() && !address.IsUnspecified() && !address.IsMulticast() && !Guarded(address)
}
