package app

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
)

// faces are one address of each face.
func (f *fort) faces() []string {
	return append([]string{"/", "/login", "/setup?code=x", "/users", "/live?path=/", "/metrics", "/nothing", apiPrefix + "/version", apiPrefix + "/me", apiPrefix + "/events", apiPrefix + "/docs", apiPrefix + "/openapi.json", "/api/v2"}, f.assets()...)
}

var assetPath = regexp.MustCompile(`/assets/[^"]+`)

// assets are the files that the login page loads.
func (f *fort) assets() []string {
	f.t.Helper()
	found := assetPath.FindAllString(f.wants(http.StatusOK, "GET", "/login").body, -1)
	if len(found) < 3 {
		f.t.Fatalf("only the assets %v were found", found)
	}
	return found
}

// A page of another site makes its own name lead to this machine. The browser
// then sends that name as Host, with no cookie of ours, and would let the page
// read the answer: no face gives one.
func TestSecureRebinding(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config, *Options){
		"local":        func(*Config, *Options) {},
		"open metrics": func(c *Config, _ *Options) { c.MetricsOpen = true },
		"public":       func(c *Config, _ *Options) { c.PublicURL = "http://weir.example.org" },
	} {
		t.Run(name, func(t *testing.T) {
			f := besiege(t, change)
			admin := f.person(auth.Admin)
			secret, _ := f.token("the-admin", "*:*")
			wrong := misspelt(secret)
			_, port, _ := net.SplitHostPort(f.listen)
			for _, host := range []string{"evil.example", "evil.example:" + port, "127.0.0.1.evil.example:" + port, "localhost.evil.example", "weir.example.org.evil.example", "0.0.0.0:" + port, "169.254.169.254", "127.0.0.1:" + port + ".evil.example"} {
				for _, path := range f.faces() {
					for _, who := range []way{with(admin), header("X-Forwarded-Host", f.listen)} {
						if got := f.ask("GET", path, calling(host), who); got.StatusCode != http.StatusMisdirectedRequest && got.StatusCode != http.StatusBadRequest {
							t.Errorf("%s as %s: status %d: %.80q", path, host, got.StatusCode, got.body)
						}
					}
					// Such a page can send the header, but has nothing to put there.
					for _, who := range []way{bearer(wrong), bearer(""), header("Authorization", "x"), header("Authorization", "")} {
						if got := f.ask("GET", path, calling(host), who, with(admin)); got.StatusCode < 300 || len(got.body) > 1000 {
							t.Errorf("%s as %s with a wrong token: status %d: %.80q", path, host, got.StatusCode, got.body)
						}
					}
				}
			}
			f.wants(http.StatusOK, "GET", apiPrefix+"/me", calling("evil.example"), bearer(secret))
		})
	}
}

// Every answer of every face says that it is no HTML but where it is, that it is
// not kept, and what a page may load.
func TestSecureHeaders(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	x := f.furnish("thing")
	seen := 0
	check := func(path string, got reply) {
		h := got.Header
		seen++
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: status %d: policy %q", path, got.StatusCode, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") == "" && got.body != "" {
			t.Errorf("%s: status %d: type %q, sniffing %q", path, got.StatusCode, h.Get("Content-Type"), h.Get("X-Content-Type-Options"))
		}
		if cache := h.Get("Cache-Control"); !strings.Contains(cache, "no-store") && !open(path) {
			t.Errorf("%s: status %d: cache %q", path, got.StatusCode, cache)
		}
		if h.Get("Access-Control-Allow-Origin") != "" || h.Get("Server") != "" || h.Get("X-Powered-By") != "" {
			t.Errorf("%s: %v", path, h)
		}
		if !strings.HasPrefix(path, apiPrefix) && (h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer") {
			t.Errorf("%s: status %d: frames %q, referrer %q", path, got.StatusCode, h.Get("X-Frame-Options"), h.Get("Referrer-Policy"))
		}
	}
	for _, e := range f.entrances(x) {
		if e.method == "GET" && e.path != apiPrefix+"/events" && e.path != "/live" && !strings.HasPrefix(e.path, "/login/oidc") {
			check(e.path, f.ask("GET", e.path, with(admin), header("Origin", "https://evil.example")))
			check(e.path, f.ask("GET", e.path))
		}
	}
	for _, path := range append(f.faces(), "/nothing/at/all", apiPrefix+"/nothing") {
		check(path, f.ask("GET", path))
	}
	for _, e := range f.entrances(x) {
		if e.method == "POST" {
			check(e.path, f.ask("POST", e.path, with(admin), header("Sec-Fetch-Site", "cross-site")))
		}
	}
	if seen < 200 {
		t.Errorf("only %d answers were looked at", seen)
	}
}

// open says that an address holds nothing that is anybody's.
func open(path string) bool {
	return strings.HasPrefix(path, "/assets/") || strings.HasPrefix(path, apiPrefix+"/docs") || strings.HasPrefix(path, apiPrefix+"/openapi.") || strings.HasPrefix(path, apiPrefix+"/schemas/")
}

// outside are addresses that look like one of ours and lead elsewhere, to some
// browser.
var outside = []string{
	"https://evil.example/", "http:evil.example", "//evil.example", "//evil.example/x", "///evil.example", `/\evil.example`, `\\evil.example`, `/\/evil.example`, "/\t/evil.example", "/\n/evil.example", "\t//evil.example",
	"https:evil.example", "javascript:alert(1)", "data:text/html,x", " //evil.example", "/%09/evil.example", "/%2f/evil.example", "/%5cevil.example", "//evil.example@127.0.0.1", "http://127.0.0.1@evil.example",
	"evil.example", "..//evil.example", "/..//evil.example", "/.//evil.example", "/\x00/evil.example", "/\r\nSet-Cookie: a=b", "ſ//evil.example", "//[::1]@evil.example", "?next=//evil.example", "/login?next=//evil.example",
}

// leadsAway says that a browser that gets this Location leaves the site.
func leadsAway(location, listen string) bool {
	// A browser drops tabs and line breaks and reads a backslash as a slash.
	location = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(strings.TrimSpace(location))
	base, _ := url.Parse("http://" + listen + "/login")
	to, err := base.Parse(location)
	return err != nil || to.Scheme != "http" || to.Host != listen || to.User != nil
}

func TestSecureOpenRedirect(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("ada", auth.Admin)
	here := f.login("ada")
	for _, next := range outside {
		link, err := f.people.NewLink(t.Context(), system, "ada", 0)
		if err != nil {
			t.Fatal(err)
		}
		q := "?next=" + url.QueryEscape(next)
		for name, got := range map[string]reply{
			"login by form":    f.ask("POST", "/login", form("name", "ada", "password", goodPassword, "next", next)),
			"login by address": f.ask("POST", "/login"+q, form("name", "ada", "password", goodPassword)),
			"logged in":        f.ask("GET", "/login"+q, with(here)),
			"link":             f.ask("POST", "/setup"+q, form("code", link, "next", next)),
		} {
			if got.StatusCode != http.StatusSeeOther || leadsAway(got.to(), f.listen) {
				t.Errorf("%s with %q: status %d to %q", name, next, got.StatusCode, got.to())
			}
			if got.Header.Get("Set-Cookie") == "a=b" {
				t.Errorf("%s with %q: a header was planted", name, next)
			}
		}
	}
	// The page that asks to log in says where it leads, too.
	for _, path := range []string{"//evil.example/", "/%2f%2fevil.example", "/jobs?next=//evil.example"} {
		if got := f.raw("GET " + path + " HTTP/1.1\r\nHost: " + f.listen + "\r\nAccept: text/html\r\n\r\n"); got.to() != "" && leadsAway(got.to(), f.listen) {
			t.Errorf("%s leads to %q", path, got.to())
		}
	}
	// And the pages of nobody do not carry the address on.
	for _, next := range outside {
		page := f.ask("GET", "/login?next="+url.QueryEscape(next)).body
		if strings.Contains(page, `value="//evil`) || strings.Contains(page, `="javascript:`) || strings.Contains(page, `value="https://evil`) {
			t.Errorf("the login page carries %q on", next)
		}
	}
}

// raw sends bytes and reads one answer.
func (f *fort) raw(text string) reply {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.listen)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, text); err != nil {
		f.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		f.t.Fatalf("%.60q: %v", text, err)
	}
	defer response.Body.Close()
	var body strings.Builder
	_, _ = bufio.NewReader(response.Body).WriteTo(&body) // what came is what counts
	return reply{response, body.String()}
}

// No path leads out of the assets, and a path says nothing about the disk.
func TestSecureTraversal(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	for _, path := range []string{
		"/assets/../../../../etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets//etc/passwd", "/assets/....//....//etc/passwd", `/assets/..\..\etc\passwd`,
		"/assets/%00", "/assets/", "/assets", "/assets/weir.css%00.html", "/assets/files/weir.js", "/assets/./weir.js", "/..%2f..%2fetc%2fpasswd", "/api/v1/../../etc/passwd", "/api/v1/docs/..%2f..%2f..%2fetc%2fpasswd", "/api/v1/docs.css/../../../etc/passwd",
	} {
		got := f.raw("GET " + path + " HTTP/1.1\r\nHost: " + f.listen + "\r\nConnection: close\r\n\r\n")
		if got.StatusCode == http.StatusOK || strings.Contains(got.body, "root:") || strings.Contains(got.body, "<pre>") || strings.Contains(got.body, "no such file") || strings.Contains(got.body, "/files/") {
			t.Errorf("%s: status %d: %.100q", path, got.StatusCode, got.body)
		}
	}
}
