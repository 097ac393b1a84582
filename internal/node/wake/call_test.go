package wake

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// TestCall wakes a node by a real HTTP call, and checks that redirects are not followed.
func TestCall(t *testing.T) {
	t.Parallel()
	r := start(t)
	var elsewhere atomic.Int64
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer secret.Close()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		asked <- in.Method + " " + in.URL.String() + " " + in.Header.Get("Content-Type") + " " + string(body)
		switch in.URL.Path {
		case "/wake/moved":
			http.Redirect(out, in, secret.URL, http.StatusTemporaryRedirect)
		case "/wake/broken":
			http.Error(out, "no power", http.StatusBadGateway)
		default:
			_, _ = out.Write([]byte("woken"))
		}
	}))
	defer server.Close()
	w := New(r.Pool, Config{URLs: []string{server.URL + "/wake/"}})
	wake := func(path string) error {
		t.Helper()
		r.exec(`delete from weir.events where kind = 'node'`)
		r.sleeper("gpu-1", `{}`, `{}`)
		r.exec(`update weir.nodes set wake_state = 'unknown', wake_tries = 0`)
		if err := w.SetWake(t.Context(), "ann", "gpu-1", Method{Kind: HTTP, URL: server.URL + path}); err != nil {
			t.Fatal(err)
		}
		return w.Wake(t.Context(), "ann", "gpu-1")
	}
	if err := wake("/wake/gpu-1?force=1"); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != `POST /wake/gpu-1?force=1 application/json {"node":"gpu-1"}` {
		t.Errorf("it was asked %s", got)
	}
	if got := r.events("gpu-1")[2]; got != "wake_called: woken" {
		t.Errorf("the event says %q", got)
	}
	if err := wake("/wake/broken"); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("a server that cannot: %v", err)
	}
	r.wantEvents("gpu-1", "wake_set", "waking", "wake_failed")
	if err := wake("/wake/moved"); err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
		t.Errorf("a redirect: %v", err)
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("it was followed %d times", n)
	}
	// A row that was written by hand is checked again.
	r.exec(`select weir.set_wake('gpu-1', 'http', jsonb_build_object('url', $1::text))`, secret.URL+"/wake/x")
	if err := w.Wake(t.Context(), "ann", "gpu-1"); err == nil || elsewhere.Load() != 0 {
		t.Errorf("an address that is not allowed is called: %v", err)
	}
	server.Close()
	if err := wake("/wake/token-4711"); err == nil || strings.Contains(err.Error(), "4711") {
		t.Errorf("a server that is not there: %v", err)
	}
}

// TestAddresses compares addresses with the prefixes of the operator.
func TestAddresses(t *testing.T) {
	t.Parallel()
	w := New(nil, Config{URLs: []string{"https://power.example.com/api/wake", "http://10.0.0.5:8080", "http://[fd12::1]/on/"}})
	for address, ok := range map[string]bool{
		"https://power.example.com/api/wake":             true,
		"https://power.example.com/api/wake/gpu-1?x=y":   true,
		"HTTPS://Power.Example.com:443/api/wake/gpu-1":   true,
		"http://10.0.0.5:8080/anything":                  true,
		"http://10.0.0.5:8080":                           true,
		"http://[fd12::1]/on/gpu":                        true,
		"http://[fd12::1]/on":                            false,
		"http://power.example.com/api/wake":              false,
		"https://power.example.com/api/wakeful":          false,
		"https://power.example.com/api":                  false,
		"https://power.example.com/api/wake/../secret":   false,
		"https://power.example.com/api/wake/%2e%2e/x":    false,
		"https://power.example.com/api/wake%2f..":        false,
		"https://power.example.com/api/wake/..;/x":       false,
		"https://power.example.com/api/wake//x":          false,
		"https://power.example.com:8443/api/wake":        false,
		"https://power.example.com.evil.org/api/wake":    false,
		"https://power.example.com@evil.org/api/wake":    false,
		"https://evil.org/https://power.example.com/":    false,
		"https://user:pw@power.example.com/api/wake":     false,
		"http://10.0.0.5/":                               false,
		"http://10.0.0.5:80801/":                         false,
		"http://0x0a000005:8080/":                        false,
		"http://169.254.169.254/latest/meta-data":        false,
		"file:///etc/passwd":                             false,
		"gopher://10.0.0.5:8080/":                        false,
		"//power.example.com/api/wake":                   false,
		"http:10.0.0.5:8080":                             false,
		"":                                               false,
		"https://power.example.com/api/wake\\..\\secret": false,
	} {
		if err := w.Check(Method{Kind: HTTP, URL: address}); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if New(nil, Config{}).Check(Method{Kind: HTTP, URL: "http://10.0.0.5/"}) == nil {
		t.Error("a server without a list calls anybody")
	}
}

// TestWhereANameLeads checks the address behind a name, which the owner of the name can
// change at any time.
func TestWhereANameLeads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, address string
		ok            bool
	}{
		{"power.example.com", "93.184.216.34:443", true},
		{"power.example.com", "10.0.0.5:80", true},
		{"power.example.com", "127.0.0.1:80", false},
		{"power.example.com", "[::1]:80", false},
		{"power.example.com", "[::ffff:127.0.0.1]:80", false},
		{"power.example.com", "0.0.0.0:80", false},
		{"power.example.com", "169.254.169.254:80", false},
		{"power.example.com", "[fe80::1%eth0]:80", false},
		{"power.example.com", "[fd00:ec2::254]:80", false},
		{"power.example.com", "[fd20:ce::254]:80", false},
		{"power.example.com", "[64:ff9b::a9fe:a9fe]:80", false},
		{"power.example.com", "[64:ff9b::5db8:d822]:80", true},
		{"power.example.com", "224.0.0.1:80", false},
		{"localhost", "127.0.0.1:80", true},
		{"localhost", "169.254.169.254:80", false},
		{"127.0.0.1", "127.0.0.1:80", true},
		{"127.0.0.1", "127.0.0.2:80", false},
		{"10.0.0.5", "10.0.0.6:80", false},
		{"power.example.com", "what", false},
	} {
		if err := guard(c.host)("tcp", c.address, nil); (err == nil) != c.ok {
			t.Errorf("%s at %s: %v", c.host, c.address, err)
		}
	}
}

// FuzzAddress checks that an accepted address has the operator's scheme, host and path,
// also when another parser reads it.
func FuzzAddress(f *testing.F) {
	for _, address := range []string{"https://power.example.com/api/wake/x", "https://power.example.com/api/wake/../x", "https://a@power.example.com/api/wake", "https://power.example.com/api/wake%00"} {
		f.Add(address)
	}
	w := New(nil, Config{URLs: []string{"https://power.example.com/api/wake/"}})
	f.Fuzz(func(t *testing.T, address string) {
		u, err := w.allowed(address)
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || !strings.EqualFold(again.Hostname(), "power.example.com") || again.Scheme != "https" || port(again) != "443" || !strings.HasPrefix(again.Path, "/api/wake/") ||
			strings.Contains(again.Path+"/", "/../") {
			t.Errorf("%q passes as %q", address, u)
		}
	})
}
