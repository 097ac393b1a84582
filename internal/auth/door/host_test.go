package door

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// A foreign name belongs to a page of another site whose name points to this server.
func TestHost(t *testing.T) {
	for name, c := range map[string]struct {
		hosts      []string
		fine, evil []string
	}{
		"this machine": {nil, []string{"localhost", "LOCALHOST:8080", "127.0.0.1:80", "127.8.8.8", "[::1]", "[::1]:8080", "localhost."}, []string{
			"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[2001:db8::1]", "localhost:", "localhost:x", "localhost:99999", "localhost:080",
			"127.1", "2130706433", "0x7f.1", "local host", "localhost/", "evil@localhost", "[::1%25lo]", "[127.0.0.1]", "[localhost]", "xn--", "-localhost",
		}},
		"named": {[]string{"weir.example.com", "192.0.2.1:8080", "[2001:db8::1]"}, []string{
			"weir.example.com", "Weir.Example.COM:8443", "192.0.2.1:8080", "[2001:DB8::1]:99", "weir.example.com.",
		}, []string{
			"localhost", "127.0.0.1", "192.0.2.1", "192.0.2.1:8081", "example.com", "evil.weir.example.com", "weir.example.com.evil.example", "weir.example.com:0", "weir.example.com..",
		}},
	} {
		h := open(t, func(config *Config) { config.Hosts = c.hosts })
		for _, host := range c.fine {
			h.wants(name+" "+host, h.ask("GET", "/", nil, called(host)), http.StatusOK)
		}
		for _, host := range c.evil {
			if strings.ContainsAny(host, " /@%") {
				if h.door.knows(host) {
					t.Errorf("%s: %q is known", name, host)
				}
				continue // Go's client does not send it
			}
			h.wants(name+" "+host, h.ask("GET", "/", nil, called(host)), http.StatusMisdirectedRequest)
		}
		h.wants("forwarded host", h.ask("GET", "/", nil, called("evil.example"), header("X-Forwarded-Host", "localhost"), header("Forwarded", "host=localhost")), http.StatusMisdirectedRequest)
	}
	// A request without any Host.
	h := open(t, nil)
	conn, err := net.Dial("tcp", h.Listener.Addr().String())
	must(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
	must(t, err)
	answer := make([]byte, 12)
	if _, err := conn.Read(answer); err != nil || string(answer) != "HTTP/1.0 421" {
		t.Errorf("no host: %q, %v", answer, err)
	}
	if _, err := New(nil, Config{Hosts: []string{"https://weir.example.com"}}); err == nil {
		t.Error("a URL was taken for a host")
	}
}

// FuzzHost: an accepted host is a plain name or address, and parses the same when it is
// written again.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"", "localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:8080", "a.b.c.", "[", "]", ":", ":80", "[]:1", "a:b:c", "::1", "x\x00y", "[::ffff:127.0.0.1]", "1.2.3", "é.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, ok := parseHost(s)
		if !ok {
			return
		}
		if h.name == "" || strings.ContainsAny(h.name, " /\\@?#%[]\t\r\n\x00") || h.name != strings.ToLower(h.name) {
			t.Fatalf("%q has the name %q", s, h.name)
		}
		text := h.name
		if strings.Contains(text, ":") {
			text = "[" + text + "]"
		}
		if h.port != "" {
			text += ":" + h.port
		}
		if again, ok := parseHost(text); !ok || again != h {
			t.Fatalf("%q is %+v, but %q is %+v, %v", s, h, text, again, ok)
		}
	})
}
