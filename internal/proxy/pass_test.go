package proxy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/testwait"
)

// seen is the request that a workspace received.
type seen struct {
	Host, URI, Proto string
	Header           http.Header
}

// mirror answers with the request that it received.
var mirror = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_ = json.NewEncoder(w).Encode(seen{r.Host, r.RequestURI, r.Proto, r.Header})
})

func (a answer) seen(t *testing.T) (s seen) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		t.Fatalf("%v: %d %s", err, a.StatusCode, a.body)
	}
	return s
}

// A workspace gets nothing of Weir's, no hop-by-hop header, and the client that the proxy
// found.
func TestWhatAWorkspaceGets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", mirror)
	ann.enter(id)
	a := ann.ask("GET", r.at.URL(id)+"/a%2fb/c?x=%zz&y=1;2",
		header{"Authorization", "Bearer weir_pat_canary"}, header{"Proxy-Authorization", "Basic canary"},
		header{"Cookie", "theirs=1; weir_session=canary; __Host-weir_session=canary; WEIR_OIDC=canary; also=2; __host-weir_workspace=canary; =weir_session=canary; __Secure-weir_x=canary"},
		header{"X-Forwarded-For", "6.6.6.6"}, header{"X-Forwarded-Host", "evil.example"}, header{"X-Forwarded-Proto", "gopher"}, header{"X-Forwarded-Port", "66"}, header{"Forwarded", "for=6.6.6.6"}, header{"X-Real-Ip", "6.6.6.6"}, header{"X-Weir-User", "root"}, header{"X-Original-Url", "/admin"},
		header{"Connection", "keep-alive, X-Hop, X-Forwarded-For"}, header{"X-Hop", "canary"}, header{"Keep-Alive", "1"}, header{"Te", "gzip"}, header{"Proxy-Connection", "x"},
		header{"X-Theirs", "stays"})
	s := a.seen(t)
	if text := fmt.Sprint(s); strings.Contains(text, "canary") || strings.Contains(text, "6.6.6.6") || strings.Contains(text, "evil") || strings.Contains(text, ann.cookie(id).Value) {
		t.Errorf("it got %+v", s)
	}
	for name, want := range map[string]string{
		"Cookie": "theirs=1; also=2", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": strings.TrimPrefix(r.at.URL(id), "http://"), "X-Forwarded-Proto": "http", "X-Theirs": "stays",
		"X-Forwarded-Port": "", "Forwarded": "", "X-Real-Ip": "", "X-Weir-User": "", "X-Original-Url": "", "Keep-Alive": "", "Te": "", "Authorization": "", "Accept-Encoding": "gzip",
	} {
		if got := strings.Join(s.Header[name], "|"); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if s.Host != strings.TrimPrefix(r.at.URL(id), "http://") || s.URI != "/a%2fb/c?x=%zz&y=1;2" {
		t.Errorf("it got %s %s", s.Host, s.URI)
	}
}

// Behind trusted proxies, the address is the one that the first of them saw; an address
// that the client has written itself does not count.
func TestClientBehindAProxy(t *testing.T) {
	t.Parallel()
	for networks, want := range map[string]string{"127.0.0.0/8": "203.0.113.9", "10.0.0.0/8": "127.0.0.1"} {
		r := newRig(t, func(s *setup) {
			s.client = func(q *http.Request) string { return door.Through([]netip.Prefix{netip.MustParsePrefix(networks)}, q) }
		})
		ann := r.user("ann", auth.Operator)
		id := r.made(ann, "first", "RUNNING", mirror)
		ann.enter(id)
		seen := ann.ask("GET", r.at.URL(id)+"/", header{"X-Forwarded-For", "6.6.6.6, 203.0.113.9"}).seen(t)
		if got := strings.Join(seen.Header["X-Forwarded-For"], "|"); got != want {
			t.Errorf("behind %s: %q", networks, got)
		}
	}
}

// A browser gets no cookie for others, none of ours, and nothing that acts beyond the
// host.
func TestWhatABrowserGets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/" {
			return
		}
		if q.URL.Path == "/early" {
			w.Header().Set("Set-Cookie", "weir_session=early; Domain=localhost")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Set-Cookie")
		}
		for _, line := range []string{
			"a=1; Domain=localhost; Path=/x; HttpOnly", "b=2; domain = example.com", "c=3;DOMAIN=.localhost;Secure", "d=4",
			"weir_workspace=evil", "__Host-weir_workspace=evil; Path=/; Secure", "__HOST-WEIR_SESSION=evil; Secure", "weir_session=evil; Domain=localhost", "=weir_session=evil", "weir_session", " weir_workspace =evil", "__Secure-weir_oidc=evil",
		} {
			w.Header().Add("Set-Cookie", line)
		}
		for name, value := range map[string]string{"Clear-Site-Data": `"cookies"`, "Alt-Svc": `h3=":443"`, "X-Accel-Redirect": "/internal/secret", "X-Sendfile": "/etc/passwd", "Connection": "X-Hop", "X-Hop": "x", "X-Theirs": "stays"} {
			w.Header().Set(name, value)
		}
		_, _ = io.WriteString(w, "fine")
	}))
	ann.enter(id)
	before := ann.cookie(id).Value
	for _, path := range []string{"/set", "/early"} {
		a := ann.once("GET", r.at.URL(id)+path)
		if want := []string{"a=1; Path=/x; HttpOnly", "b=2", "c=3;Secure", "d=4"}; !slices.Equal(a.Header["Set-Cookie"], want) {
			t.Errorf("cookies: %q", a.Header["Set-Cookie"])
		}
		for _, name := range []string{"Clear-Site-Data", "Alt-Svc", "X-Accel-Redirect", "X-Sendfile", "X-Hop"} {
			if a.Header.Get(name) != "" {
				t.Errorf("%s went through", name)
			}
		}
		if a.Header.Get("X-Theirs") != "stays" || a.body != "fine" {
			t.Errorf("%+v %s", a.Header, a.body)
		}
	}
	if ann.cookie(id).Value != before {
		t.Error("the workspace has set our cookie")
	}
	// Early hints would carry headers past all of this.
	hints := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error {
		hints++
		return nil
	}})
	q, err := http.NewRequestWithContext(ctx, "GET", r.at.URL(id)+"/early", nil)
	r.ok(err)
	a, err := ann.browser.Do(q)
	r.ok(err)
	if r.ok(a.Body.Close()); hints != 0 {
		t.Errorf("%d hints came through", hints)
	}
}

// The proxy follows no redirect of a workspace, and no request chooses its target.
func TestNoOtherTarget(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	hit := make(chan string, 10)
	inner := r.made(ann, "inner", "RUNNING", http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { hit <- q.RequestURI }))
	secret := r.stage.reach[inner]
	id := r.made(ann, "first", "RUNNING", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/away" {
			http.Redirect(w, q, "http://"+secret+"/", http.StatusFound)
		}
	}))
	ann.enter(id)
	if a := ann.once("GET", r.at.URL(id)+"/away"); a.StatusCode != http.StatusFound || a.Header.Get("Location") != "http://"+secret+"/" {
		t.Errorf("%d %s", a.StatusCode, a.Header.Get("Location"))
	}
	// A target in the request line, in the host, in headers: the host's name decides.
	for name, text := range map[string]string{
		"absolute":  "GET http://" + secret + "/x HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\n",
		"connect":   "CONNECT " + secret + " HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\n",
		"trace":     "TRACE / HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\n",
		"two hosts": "GET /x HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\nHost: " + secret + "\r\n",
		"smuggled":  "POST /x HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"forwarded": "GET /x HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\nX-Forwarded-Host: " + secret + "\r\n",
		"h2c":       "GET /x HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
		"two ups":   "GET /x HTTP/1.1\r\nHost: " + r.at.Host(id) + "\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n",
	} {
		conn, err := net.Dial("tcp", r.server.Listener.Addr().String())
		r.ok(err)
		_, err = io.WriteString(conn, text+"Cookie: weir_workspace="+ann.cookie(id).Value+"\r\nConnection: close\r\n\r\n0\r\n\r\n")
		r.ok(err)
		a, err := http.ReadResponse(bufio.NewReader(conn), nil)
		r.ok(err)
		if status := a.StatusCode; status == http.StatusSwitchingProtocols || (name == "connect" || name == "trace" || name == "two hosts" || name == "h2c" || name == "two ups") && status < 400 {
			t.Errorf("%s: %d", name, status)
		}
		r.ok(conn.Close())
	}
	select {
	case uri := <-hit:
		t.Errorf("another workspace was reached: %s", uri)
	default:
	}
	// A provider that this server does not have leads nowhere.
	r.exec(`update weir.workspaces set provider = 'elsewhere' where id = $1`, id)
	testwait.Until(t, "the proxy to look again", func() bool {
		return ann.once("GET", r.at.URL(id)+"/x").StatusCode == http.StatusServiceUnavailable
	})
}

// The name of a host stands for one workspace, in one spelling.
func TestHosts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says("one"))
	text := id.String()
	for host, want := range map[string]bool{
		r.at.Host(id): true, r.at.Host(id) + ":" + r.at.Port: true, r.at.Host(id) + ":1": true, strings.ToUpper(r.at.Host(id)): true,
		"localhost": false, "ws-" + text + ".localhost.": false, "ws-" + text + ".localhost.evil.example": false, "ws-" + text: false, "x.ws-" + text + ".localhost": false,
		"ws-" + strings.ReplaceAll(text, "-", "") + ".localhost": false, "ws-" + text + "x.localhost": false, "ws-.localhost": false, "ws-" + text + ".localhost:": false, "ws-" + text + ".localhost:x": false,
		"ws-{" + text + "}.localhost": false, "": false, "ws-" + text + "@localhost": false, "evil.example": false,
	} {
		if r.proxy.Owns(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
	// A foreign name is refused by every handler.
	q, err := http.NewRequestWithContext(t.Context(), "GET", r.at.URL(id)+"/", nil)
	r.ok(err)
	q.Host = "ws-" + text + ".evil.example"
	a, err := ann.browser.Do(q)
	r.ok(err)
	r.ok(a.Body.Close())
	if a.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("rebound: %d", a.StatusCode)
	}
}

// Pages of other origins may link a person here, and do nothing else, with any cookie.
func TestOtherOrigins(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id, other := r.made(ann, "first", "RUNNING", says("one")), r.made(ann, "second", "RUNNING", nil)
	ann.enter(id)
	own, neighbour := r.at.URL(id), r.at.URL(other)
	fetch := func(site, mode, dest string) []header {
		return []header{{"Sec-Fetch-Site", site}, {"Sec-Fetch-Mode", mode}, {"Sec-Fetch-Dest", dest}}
	}
	for name, test := range map[string]struct {
		method  string
		headers []header
		want    int
	}{
		"own page":                       {"POST", fetch("same-origin", "cors", "empty"), 200},
		"typed":                          {"GET", fetch("none", "navigate", "document"), 200},
		"a link on the dashboard":        {"GET", fetch("cross-site", "navigate", "document"), 200},
		"a link of a neighbour":          {"GET", fetch("same-site", "navigate", "document"), 200},
		"a form of a neighbour":          {"POST", fetch("same-site", "navigate", "document"), 403},
		"a script of a neighbour":        {"GET", fetch("same-site", "cors", "empty"), 403},
		"a script of a neighbour, blind": {"GET", fetch("same-site", "no-cors", "script"), 403},
		"a picture elsewhere":            {"GET", fetch("cross-site", "no-cors", "image"), 403},
		"a frame of a neighbour":         {"GET", fetch("same-site", "navigate", "iframe"), 403},
		"an object elsewhere":            {"GET", fetch("cross-site", "navigate", "object"), 403},
		"a script that writes":           {"PUT", fetch("same-site", "cors", "empty"), 403},
		"an old browser's own page":      {"POST", []header{{"Origin", own}}, 200},
		"an old browser's neighbour":     {"POST", []header{{"Origin", neighbour}}, 403},
		"an old browser elsewhere":       {"DELETE", []header{{"Origin", "https://evil.example"}}, 403},
		"a sandbox":                      {"POST", []header{{"Origin", "null"}}, 403},
		"another scheme":                 {"POST", []header{{"Origin", strings.Replace(own, "http:", "https:", 1)}}, 403},
		"another port":                   {"POST", []header{{"Origin", "http://" + r.at.Host(id) + ":1"}}, 403},
		"two origins":                    {"POST", []header{{"Origin", own}, {"Origin", "https://evil.example"}}, 403},
		"a program":                      {"POST", nil, 200},
		"the stream, elsewhere":          {"GET", append(fetch("cross-site", "cors", "empty"), header{"Accept", "text/event-stream"}), 403},
	} {
		path := "/x"
		if strings.HasPrefix(name, "the stream") {
			path = "/_weir/live"
		}
		r.wants(name, ann.once(test.method, own+path, test.headers...), test.want)
	}
}

// echo echoes messages.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/ws" {
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"weir.terminal"}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	for {
		kind, text, err := conn.Read(r.Context())
		if err != nil || conn.Write(r.Context(), kind, text) != nil {
			return
		}
	}
})

// dial opens a WebSocket as a browser does, with its cookies.
func (p *person) dial(id weir.ID, h http.Header, protocols ...string) (*websocket.Conn, int, error) {
	p.Helper()
	if h == nil {
		h = http.Header{"Origin": {p.at.URL(id)}}
	}
	conn, a, err := websocket.Dial(p.rig.Context(), "ws"+strings.TrimPrefix(p.at.URL(id), "http")+"/ws", &websocket.DialOptions{HTTPClient: p.browser, HTTPHeader: h, Subprotocols: protocols})
	status := 0
	if a != nil {
		status = a.StatusCode
	}
	return conn, status, err
}

// User and origin are checked before a WebSocket begins; then data passes both ways.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann, bob := r.user("ann", auth.Operator), r.user("bob", auth.Operator)
	upgraded := 0
	id := r.made(ann, "first", "RUNNING", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/ws" {
			upgraded++
		}
		echo(w, q)
	}))
	bobs := r.made(bob, "second", "RUNNING", echo)
	ann.enter(id)
	bob.enter(bobs)
	for name, test := range map[string]struct {
		who  *person
		h    http.Header
		want int
	}{
		"nobody":               {&person{rig: r, browser: r.browser()}, nil, 401},
		"somebody else":        {bob, nil, 401},
		"another site":         {ann, http.Header{"Origin": {"https://evil.example"}}, 403},
		"the dashboard":        {ann, http.Header{"Origin": {r.server.URL}}, 403},
		"a neighbour":          {ann, http.Header{"Origin": {r.at.URL(bobs)}}, 403},
		"a sandbox":            {ann, http.Header{"Origin": {"null"}}, 403},
		"a prefix of the name": {ann, http.Header{"Origin": {r.at.URL(id) + ".evil.example"}}, 403},
		"another's cookie":     {&person{rig: r, browser: r.browser()}, http.Header{"Origin": {r.at.URL(id)}, "Cookie": {"weir_workspace=" + bob.cookie(bobs).Value}}, 401},
	} {
		conn, status, err := test.who.dial(id, test.h)
		if err == nil {
			_ = conn.CloseNow()
		}
		if err == nil || status != test.want {
			t.Errorf("%s: %d %v", name, status, err)
		}
	}
	if upgraded != 0 {
		t.Errorf("%d reached the workspace", upgraded)
	}
	for name, h := range map[string]http.Header{"a browser": nil, "a program": {}} {
		conn, _, err := ann.dial(id, h)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		conn.SetReadLimit(1 << 20)
		for _, size := range []int{0, 1, 125, 126, 70_000} {
			text := strings.Repeat("x", size)
			r.ok(conn.Write(t.Context(), websocket.MessageText, []byte(text)))
			_, back, err := conn.Read(t.Context())
			if r.ok(err); string(back) != text {
				t.Errorf("%s: %d bytes came back as %d", name, size, len(back))
			}
		}
		r.ok(conn.Close(websocket.StatusNormalClosure, ""))
	}
	// The connection is cut when the visit ends.
	conn, _, err := ann.dial(id, nil)
	r.ok(err)
	r.ok(r.users.Logout(t.Context(), ann.secret))
	r.ok(r.proxy.Look(t.Context()))
	if _, _, err := conn.Read(t.Context()); err == nil {
		t.Error("it is still open")
	}
	_ = conn.CloseNow()
}

// Streamed data of a workspace arrives as it is sent, over HTTP/1.1 and HTTP/2.
func TestStreams(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"HTTP/1.1": nil, "HTTP/2.0": {secure}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options...)
			ann := r.user("ann", auth.Operator)
			next, arrived := make(chan string), make(chan string)
			id := r.made(ann, "first", "RUNNING", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path == "/" {
					return
				}
				if q.URL.Path == "/upload" {
					for part := make([]byte, 1); ; {
						if n, err := q.Body.Read(part); n > 0 {
							arrived <- string(part)
						} else if err != nil {
							return
						}
					}
				}
				if q.URL.Path == "/events" {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				_ = http.NewResponseController(w).Flush()
				for line := range next {
					_, _ = fmt.Fprintf(w, "data: %s\n", line)
					_ = http.NewResponseController(w).Flush()
					if line == "end" {
						return
					}
				}
			}))
			ann.enter(id)
			for _, path := range []string{"/events", "/plain"} {
				q, err := http.NewRequestWithContext(t.Context(), "GET", r.at.URL(id)+path, nil)
				r.ok(err)
				a, err := ann.browser.Do(q)
				r.ok(err)
				if a.Proto != name {
					t.Errorf("the browser speaks %s", a.Proto)
				}
				lines := textproto.NewReader(bufio.NewReader(a.Body))
				for _, want := range []string{"one", "two", "end"} {
					next <- want // each is read before the next is sent
					if got, err := lines.ReadLine(); err != nil || got != "data: "+want {
						t.Fatalf("%s: %q, %v", path, got, err)
					}
				}
				r.ok(a.Body.Close())
			}
			// Streamed data of a browser arrives as it is sent, too.
			body, write := io.Pipe()
			q, err := http.NewRequestWithContext(t.Context(), "POST", r.at.URL(id)+"/upload", body)
			r.ok(err)
			done := make(chan error, 1)
			go func() {
				a, err := ann.browser.Do(q)
				if err == nil {
					_, err = io.Copy(io.Discard, a.Body)
					_ = a.Body.Close()
				}
				done <- err
			}()
			for _, part := range []string{"a", "b", "c"} {
				_, err := io.WriteString(write, part)
				if r.ok(err); <-arrived != part {
					t.Error("something else arrived")
				}
			}
			r.ok(write.Close())
			r.ok(<-done)
		})
	}
}
