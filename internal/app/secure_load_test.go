package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/loop"
)

// What is too large or too deep is refused on every face, as the client's fault,
// and the server goes on.
func TestSecureSizes(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	x := f.furnish("thing")
	large := strings.Repeat("x", 17<<20)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	bodies := map[string]way{
		"large form": sending("application/x-www-form-urlencoded", "name="+large), "large JSON": sending("application/json", `{"name": "`+large+`"}`),
		"deep JSON": sending("application/json", `{"params": `+deep+`}`), "deep form": form("service", "x", "params", deep, "task", `{"service": "x", "params": `+deep+`}`),
		"many fields": sending("application/x-www-form-urlencoded", strings.Repeat("a&", 20_000)),
		"parts":       sending("multipart/form-data; boundary=x", strings.Repeat("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n", 10_000)+"--x--"),
	}
	// How large a body may be is said for each entrance, so each gets one that fits it and is
	// too large. All are read by the same parsers, so they take turns with the rest.
	turns := slices.Sorted(maps.Keys(bodies))
	for i, e := range f.entrances(x) {
		if e.method == "GET" || e.path == "/logout" || strings.HasSuffix(e.path, "/logout") {
			continue
		}
		fits := "large form"
		if e.api {
			fits = "large JSON"
		}
		for _, name := range []string{fits, turns[i%len(turns)]} {
			got, err := f.try(e.method, e.path, with(admin), bodies[name])
			// A page takes no JSON: to it that is an empty form.
			empty := !e.api && (strings.HasSuffix(name, "JSON") || name == "parts")
			if err == nil && (got.StatusCode < 300 && !empty || got.StatusCode >= 500) {
				t.Errorf("%s to %s %s: status %d: %.200s", name, e.method, e.path, got.StatusCode, got.body)
			}
		}
	}
	// A size that is not declared is found out by reading.
	for path, name := range map[string]string{"/new-user": "large form", apiPrefix + "/users": "large JSON", apiPrefix + "/tasks": "large JSON"} {
		got, err := f.try("POST", path, with(admin), bodies[name], func(r *http.Request) { r.ContentLength = -1 })
		if err == nil && got.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s to %s, in chunks: status %d: %.200s", name, path, got.StatusCode, got.body)
		}
	}
	for _, path := range []string{"/login", "/", apiPrefix + "/me", "/healthz"} {
		got, err := f.try("GET", path, header("Cookie", "a="+strings.Repeat("x", 100<<10)))
		if err == nil && got.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a large header to %s: status %d", path, got.StatusCode)
		}
		got, err = f.try("GET", path+"?"+strings.Repeat("x", 100<<10))
		if err == nil && got.StatusCode != http.StatusRequestHeaderFieldsTooLarge && got.StatusCode != http.StatusRequestURITooLong {
			t.Errorf("a long address of %s: status %d", path, got.StatusCode)
		}
	}
	f.wants(http.StatusOK, "GET", "/pools", with(admin))
	nested := func(levels int) way {
		return sending("application/json", `{"service": "x", "params": {"a": `+strings.Repeat("[", levels)+strings.Repeat("]", levels)+`}}`)
	}
	f.wants(http.StatusCreated, "POST", apiPrefix+"/tasks", with(admin), nested(60))
	f.wants(http.StatusBadRequest, "POST", apiPrefix+"/tasks", with(admin), nested(70))
}

// try is ask where the server may hang up before it has read everything.
func (f *fort) try(method, path string, ways ...way) (reply, error) {
	r, err := http.NewRequestWithContext(f.t.Context(), method, "http://"+f.listen+path, nil)
	if err != nil {
		return reply{}, err
	}
	for _, w := range ways {
		w(r)
	}
	response, err := f.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response, string(body)}, err
}

// Clients that send a byte now and then are cut off, whatever they say about
// themselves, and do not keep others from being served.
func TestSecureSlowloris(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes as long as the server's patience: 30 s")
	}
	f := besiege(t)
	f.add("ada", auth.Viewer)
	begin := "Host: " + f.listen + "\r\nContent-Type: application/x-www-form-urlencoded\r\n"
	starts := map[string]string{
		"headers":              "GET / HTTP/1.1\r\n" + begin + "X-Slow: ",
		"no request":           "G",
		"headers of a stream":  "GET /api/v1/events HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "X-Slow: ",
		"form":                 "POST /login HTTP/1.1\r\n" + begin + "Content-Length: 5000\r\n\r\nname=",
		"form as a stream":     "POST /login HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "Content-Length: 5000\r\n\r\nname=",
		"chunks as a stream":   "POST /login HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "Transfer-Encoding: chunked\r\n\r\nffff\r\nname=",
		"set-up as a stream":   "POST /setup HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "Content-Length: 5000\r\n\r\ncode=",
		"GET with a body":      "GET /live?path=/ HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "Content-Length: 5000\r\n\r\nx",
		"API":                  "POST /api/v1/login HTTP/1.1\r\n" + strings.Replace(begin, "x-www-form-urlencoded", "json", 1) + "Content-Length: 5000\r\n\r\n{",
		"API as a stream":      "POST /api/v1/join HTTP/1.1\r\nAccept: text/event-stream\r\n" + strings.Replace(begin, "x-www-form-urlencoded", "json", 1) + "Content-Length: 5000\r\n\r\n{",
		"probe with a body":    "GET /healthz HTTP/1.1\r\n" + begin + "Content-Length: 5000\r\n\r\nx",
		"stream with a body":   "GET /api/v1/events HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "Content-Length: 5000\r\n\r\nx",
		"host of a workspace":  "GET / HTTP/1.1\r\nHost: ws-" + noID + ".localhost\r\nX-Slow: ",
		"body of a workspace":  "POST / HTTP/1.1\r\nHost: ws-" + noID + ".localhost\r\nContent-Length: 5000\r\n\r\nx",
		"a body nobody awaits": "POST /nothing HTTP/1.1\r\nAccept: text/event-stream\r\n" + begin + "Content-Length: 5000\r\n\r\nx",
	}
	var group sync.WaitGroup
	for name, text := range starts {
		for range 10 {
			group.Go(func() {
				if err := dribble(f.listen, text); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	// Meanwhile people work.
	for range 20 {
		f.login("ada")
	}
	group.Wait()
}

// dribble sends a byte now and then until the server hangs up.
func dribble(address, begin string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, begin); err != nil {
		return err
	}
	over, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, bufio.NewReader(conn)) // it ends when the server does
	}()
	const patience = 45 * time.Second // the server's is 30 s
	for began := time.Now(); loop.Wait(over, 500*time.Millisecond, nil); {
		if _, err := io.WriteString(conn, "x"); err != nil {
			return nil
		}
		if time.Since(began) > patience {
			return fmt.Errorf("the server still listens after %v", patience)
		}
	}
	return nil
}
