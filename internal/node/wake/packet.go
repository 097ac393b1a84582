package wake

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/weirhq/weir/internal/problem"
)

// copies is how often a packet is sent, because packets are not confirmed and some get
// lost.
const copies = 3

// discard is the port that magic packets are usually sent to.
const discard = 9

// packet returns 102 bytes: six times 0xff, then sixteen times the address.
func packet(mac string) ([]byte, error) {
	address, err := net.ParseMAC(mac)
	if err != nil || len(address) != 6 {
		return nil, problem.Refuse("mac", "give six bytes, for example 52:54:00:12:34:56", "%q is not the address of a network card", mac)
	}
	return append(bytes.Repeat([]byte{0xff}, 6), bytes.Repeat(address, 16)...), nil
}

// send sends a magic packet.
func (w *Waker) send(ctx context.Context, m Method) (said string, err error) {
	text, err := packet(m.MAC)
	if err != nil {
		return "", err
	}
	to, err := w.target(m)
	if err != nil {
		return "", err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", to.String())
	if err != nil {
		return "", fmt.Errorf("send a magic packet: %w", err)
	}
	defer conn.Close()
	for range copies {
		if _, err = conn.Write(text); err != nil {
			return "", fmt.Errorf("send a magic packet: %w", err)
		}
	}
	return fmt.Sprintf("magic packet for %s sent to %s", m.MAC, to), nil
}

// target returns where the packet goes: the address of the row if that is a local network
// and a port for magic packets, else the network of its interface, else the server's
// setting.
func (w *Waker) target(m Method) (netip.AddrPort, error) {
	switch {
	case m.Broadcast != "" && m.Broadcast == w.config.Broadcast, m.Broadcast == "" && m.Interface == "":
		to, err := netip.ParseAddrPort(w.config.Broadcast)
		if err != nil {
			return to, problem.Refuse("broadcast", "give an address and a port, for example 192.168.1.255:9", "%q is not an address", w.config.Broadcast)
		}
		return to, nil
	case m.Broadcast != "":
		to, err := netip.ParseAddrPort(m.Broadcast)
		if err != nil {
			return to, problem.Refuse("broadcast", "give an address and a port, for example 192.168.1.255:9", "%q is not an address", m.Broadcast)
		}
		at := to.Addr().Unmap()
		local := at.IsPrivate() || at.IsLinkLocalMulticast() || at == netip.AddrFrom4([4]byte{255, 255, 255, 255})
		if !local || !slices.Contains([]uint16{7, discard}, to.Port()) {
			return to, problem.Refuse("broadcast", "give an address of a local network, with port 7 or 9, or none: then it goes where the server sends all of them",
				"%s is no place for a magic packet", to)
		}
		return to, nil
	default:
		return broadcastOf(m.Interface)
	}
}

// broadcastOf returns the broadcast address of the network of an interface.
func broadcastOf(name string) (netip.AddrPort, error) {
	card, err := net.InterfaceByName(name)
	if err != nil {
		return netip.AddrPort{}, problem.Refuse("interface", "give the name of a network card of the server", "there is no %q here", name)
	}
	addresses, err := card.Addrs()
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("read the addresses of %s: %w", name, err)
	}
	for _, a := range addresses {
		own, ok := a.(*net.IPNet)
		if !ok || own.IP.To4() == nil || len(own.Mask) != net.IPv4len {
			continue
		}
		var all [4]byte
		for i, b := range own.IP.To4() {
			all[i] = b | ^own.Mask[i]
		}
		return netip.AddrPortFrom(netip.AddrFrom4(all), discard), nil
	}
	return netip.AddrPort{}, problem.Refuse("interface", "choose one with an IPv4 address, or give broadcast", "%q has no IPv4 network", name)
}
