package wake

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"
)

// parsePacket returns the MAC address that a magic packet wakes, read by the rules of the
// packet and not by the code that writes it.
func parsePacket(t *testing.T, p []byte) string {
	t.Helper()
	if len(p) != 102 || !bytes.Equal(p[:6], []byte("\xff\xff\xff\xff\xff\xff")) {
		t.Fatalf("not a magic packet: %d bytes, % x…", len(p), p[:min(len(p), 12)])
	}
	for i := range 16 {
		if !bytes.Equal(p[6+6*i:12+6*i], p[6:12]) {
			t.Fatalf("repetition %d of the address differs: % x", i, p)
		}
	}
	return net.HardwareAddr(p[6:12]).String()
}

// hear listens on loopback and returns its address and a function for the next packet.
func hear(t *testing.T) (address string, next func() []byte) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.LocalAddr().String(), func() []byte {
		t.Helper()
		p := make([]byte, 2000)
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(p)
		if err != nil {
			t.Fatalf("no packet: %v", err)
		}
		return p[:n]
	}
}

// TestMagicPacket wakes a node by a real packet, from the row to the heartbeat.
func TestMagicPacket(t *testing.T) {
	t.Parallel()
	r := start(t)
	address, next := hear(t)
	w := New(r.Pool, Config{Broadcast: address})
	r.sleeper("gpu-1", `{"gpu": "true"}`, `{"renderer": 2}`)
	if err := w.SetWake(t.Context(), "ann", "gpu-1", Method{Kind: WOL, MAC: "52:54:00:12:34:56", SleepAfter: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	if err := w.Wake(t.Context(), "ann", "gpu-1"); err != nil {
		t.Fatal(err)
	}
	for range copies {
		if mac := parsePacket(t, next()); mac != "52:54:00:12:34:56" {
			t.Errorf("it wakes %s", mac)
		}
	}
	if got := one[string](r, `select wake_method || ' ' || wake_state || ' ' || sleep_after from weir.node`); got != "wol waking 00:10:00" {
		t.Errorf("the node is %s", got)
	}
	if err := w.Wake(t.Context(), "ann", "gpu-1"); err != nil {
		t.Errorf("waking it again meanwhile: %v", err)
	}
	r.worker("w", "gpu-1", "renderer")
	r.wantPlan("it is awake", 0)
	r.wantEvents("gpu-1", "wake_set", "waking", "wake_called", "awake")
	if said := r.events("gpu-1")[2]; !strings.Contains(said, "52:54:00:12:34:56") || !strings.Contains(said, address) {
		t.Errorf("the event says %q", said)
	}
	if by := one[string](r, `select string_agg(distinct source, ',') from weir.events where kind = 'node' and type in ('wake_set', 'waking')`); by != "ann" {
		t.Errorf("done by %s", by)
	}
	if err := w.Wake(t.Context(), "ann", "gpu-1"); err != nil {
		t.Errorf("waking a node that is awake: %v", err)
	}
	r.wantEvents("gpu-1", "wake_set", "waking", "wake_called", "awake")
}

// TestPacketTargets checks that packets go only to local networks and to the operator's
// address.
func TestPacketTargets(t *testing.T) {
	t.Parallel()
	w := New(nil, Config{Broadcast: "127.0.0.1:4000"})
	for broadcast, ok := range map[string]bool{
		"": true, "127.0.0.1:4000": true, "255.255.255.255:9": true, "192.168.1.255:9": true, "10.1.255.255:7": true, "[ff02::1]:9": true, "[fd12::1]:9": true,
		"127.0.0.1:9": false, "192.168.1.255:53": false, "8.8.8.8:9": false, "169.254.169.254:9": false, "0.0.0.0:9": false, "example.com:9": false, "192.168.1.255": false, "x": false,
	} {
		err := w.Check(Method{Kind: WOL, MAC: "52-54-00-12-34-56", Broadcast: broadcast})
		if (err == nil) != ok {
			t.Errorf("%q: %v", broadcast, err)
		}
	}
	for _, mac := range []string{"", "52:54:00:12:34", "52:54:00:12:34:56:78:90", "x", "52:54:00:12:34:zz"} {
		if w.Check(Method{Kind: WOL, MAC: mac}) == nil {
			t.Errorf("%q passes for an address", mac)
		}
	}
	to, err := broadcastOf("lo")
	if err != nil || to.String() != "127.255.255.255:9" {
		t.Skipf("SKIPPED: this machine has no usual loopback: %v, %v", to, err)
	}
	if w.Check(Method{Kind: WOL, MAC: "52:54:00:12:34:56", Interface: "lo"}) != nil || w.Check(Method{Kind: WOL, MAC: "52:54:00:12:34:56", Interface: "nowhere0"}) == nil {
		t.Error("the interface does not count")
	}
}
