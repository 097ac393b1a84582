package http

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/weirhq/weir/internal/problem"
)

// names is a name server that returns the addresses of the test, and others at the next
// lookup.
type names struct {
	conn net.PacketConn
	mu   sync.Mutex
	// leads are the addresses of the name, one set for each lookup; the last set stays.
	leads [][]string
}

// nameServer starts a name server that returns the given addresses for every name.
func nameServer(t *testing.T, leads ...[]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn, leads: leads}
	over := make(chan struct{})
	go func() {
		defer close(over)
		n.serve()
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-over
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	packet := make([]byte, 4096)
	for {
		size, from, err := n.conn.ReadFrom(packet)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(packet[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Additionals = true, nil
		for _, text := range n.next(m.Questions[0].Type) {
			header := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET}
			address := netip.MustParseAddr(text)
			if address.Is4() && m.Questions[0].Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: address.As4()}})
			}
			if address.Is6() && m.Questions[0].Type == dnsmessage.TypeAAAA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}})
			}
		}
		answer, err := m.Pack()
		if err != nil {
			continue
		}
		_, _ = n.conn.WriteTo(answer, from) // the client repeats its question
	}
}

// next returns the set for this question. A lookup asks for both kinds of addresses at
// once; the question for IPv4 addresses advances to the next set.
func (n *names) next(kind dnsmessage.Type) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.leads[0]
	if kind == dnsmessage.TypeA && len(n.leads) > 1 {
		n.leads = n.leads[1:]
	}
	return now
}

// A name of the list does not lead to an address that must be listed itself, whatever
// server answers for the name. Nothing listens at most of these addresses: the point is
// that no connection is attempted.
func TestANameLeadsNowhereItShouldNot(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "169.254.169.254", "::ffff:169.254.169.254", "169.254.0.1", "fe80::1",
		"fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "224.0.0.1", "ff02::1", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "::7f00:1",
	} {
		for _, entry := range []string{"api.example.org", "api.example.org:80"} {
			d, err := New(Config{Allow: []string{entry, "10.0.0.0/8"}})
			if err != nil {
				t.Fatal(err)
			}
			d.resolver = nameServer(t, []string{address})
			refused(t, d, "api.example.org:80", address)
		}
	}
}

// refused fails the test unless the driver itself refuses to connect.
func refused(t *testing.T, d *Driver, target, why string) {
	t.Helper()
	conn, err := d.dial(t.Context(), "tcp", target)
	if err == nil {
		_ = conn.Close()
	}
	if p := new(problem.Problem); !errors.As(err, &p) || p.Kind != problem.Forbidden || !strings.Contains(p.Next, "must be listed") {
		t.Errorf("%s: %v", why, err)
	}
}

// A name whose address changes from one moment to the next is checked each time.
func TestRebinding(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// The address is on the list itself, so the name may lead there.
	d, err := New(Config{Allow: []string{"api.example.org", "127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	d.resolver = nameServer(t, []string{"127.0.0.1"}, []string{"127.0.0.2"}, []string{"169.254.169.254", "127.0.0.2"})
	conn, err := d.dial(t.Context(), "tcp", "api.example.org:"+port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	refused(t, d, "api.example.org:"+port, "the second time")
	refused(t, d, "api.example.org:"+port, "the third time")
}

// Numbers that some programs accept as addresses are names here, and lead only where
// names may: nowhere, or to an address that is checked. Listing them does not change
// that, however the machine looks up names.
func TestNumbersAreNames(t *testing.T) {
	for _, host := range []string{"2130706433", "0177.0.0.1", "0x7f.1", "127.1", "2852039166"} {
		d, err := New(Config{Allow: []string{host}})
		if err != nil {
			t.Fatal(err)
		}
		for _, d.resolver = range []*net.Resolver{nil, {PreferGo: true}, nameServer(t, []string{"127.0.0.1", "169.254.169.254"})} {
			conn, err := d.dial(t.Context(), "tcp", host+":80")
			if err == nil {
				_ = conn.Close()
			}
			if !errors.As(err, new(*problem.Problem)) && !errors.As(err, new(*net.DNSError)) {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
}

// The addresses of a cloud must be listed explicitly: a wide range does not include them.
func TestGuardedAddresses(t *testing.T) {
	tests := []struct {
		allow, address string
		want           bool
	}{
		{"169.254.169.254", "169.254.169.254", true},
		{"169.254.169.254", "::ffff:169.254.169.254", true},
		{"169.254.0.0/16", "169.254.169.254", true},
		{"fd00:ec2::254", "fd00:ec2::254", true},
		{"100.100.100.200", "100.100.100.200", true},
		{"0.0.0.0/0", "169.254.169.254", false},
		{"0.0.0.0/0", "8.8.8.8", true},
		{"100.64.0.0/10", "100.100.100.200", false},
		{"100.64.0.0/10", "100.100.100.201", true},
		{"fd00::/8", "fd00:ec2::254", false},
		{"fd00::/8", "fd00:ec2::255", true},
		{"::/0", "fe80::1", false},
		{"fe80::/10", "fe80::1", true},
		{"fe80::/10", "fe80::1%lo", false},
		{"::ffff:10.0.0.1", "10.0.0.1", true},
	}
	for _, test := range tests {
		l, err := newList([]string{test.allow})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.host(test.address, "80"); got != test.want {
			t.Errorf("%s allows %s: %v", test.allow, test.address, got)
		}
	}
}
