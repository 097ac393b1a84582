package pagetest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/web/webtest"
)

// stream reads the events of a live page.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

func follow(t *testing.T, s *webtest.Server, c *webtest.Client, path, have string) *stream {
	t.Helper()
	// A stream that says nothing must not hold up the tests for ever.
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/live?"+url.Values{"path": {path}, "have": {have}}.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() }) // the test is over
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	st := &stream{t, lines}
	if event, _ := st.next(); event != "hello" {
		t.Fatalf("the stream begins with %q", event)
	}
	return st
}

// next is the next event.
func (s *stream) next() (event, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = name
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok {
			data = text
		}
		if line == "" && event != "" {
			return event, data
		}
	}
	s.t.Fatalf("the stream ended: %v", s.lines.Err())
	return "", ""
}

func (s *stream) fragment() ui.Fragment {
	s.t.Helper()
	event, data := s.next()
	var f ui.Fragment
	if event != "fragment" || json.Unmarshal([]byte(data), &f) != nil {
		s.t.Fatalf("%s %s is no fragment", event, data)
	}
	return f
}

// A stream sends what the browser lacks, and then only what changed.
func TestLiveSendsOnlyWhatChanged(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	st := follow(t, s, c, "/users", "")
	nav, users := st.fragment(), st.fragment()
	if nav.ID != "live-nav" || users.ID != "live-users" || !strings.Contains(users.HTML, "ada") {
		t.Fatalf("%+v\n%+v", nav, users)
	}
	s.User(t, "bob", auth.Viewer)
	changed := st.fragment()
	if changed.ID != "live-users" || !strings.Contains(changed.HTML, "bob") || changed.Hash == users.Hash {
		t.Fatalf("%+v", changed)
	}
	// Who has it all gets the first fragment only when there is news.
	have := nav.ID + ":" + nav.Hash + "," + changed.ID + ":" + changed.Hash
	again := follow(t, s, c, "/users", have)
	s.User(t, "cleo", auth.Viewer)
	if f := again.fragment(); f.ID != "live-users" || !strings.Contains(f.HTML, "cleo") {
		t.Fatalf("%+v", f)
	}
}

// What a page has as its hash is what the stream compares with.
func TestLiveHashesAgree(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	page := c.Get(t, "/users")
	st := follow(t, s, c, "/users", "")
	for range 2 {
		f := st.fragment()
		page.Has(t, `id="`+f.ID+`" data-live="`+f.Hash+`"`)
	}
}

// Rights that are taken away end the stream.
func TestLiveEndsWithTheRight(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	s.User(t, "root", auth.Admin)
	st := follow(t, s, c, "/users", "")
	st.fragment()
	if err := s.Auth.SetRole(t.Context(), auth.System("test"), "ada", auth.Viewer); err != nil {
		t.Fatal(err)
	}
	untilGone(t, st)
	st = follow(t, s, c, "/account", "")
	st.fragment()
	if err := s.Auth.Disable(t.Context(), auth.System("test"), "ada"); err != nil {
		t.Fatal(err)
	}
	untilGone(t, st)
}

func untilGone(t *testing.T, st *stream) {
	t.Helper()
	for {
		if event, _ := st.next(); event == "gone" {
			return
		}
	}
}

// A stream shows nothing that its page would not.
func TestLiveRefuses(t *testing.T) {
	s := webtest.Start(t)
	viewer := s.Login(t, "eve", auth.Viewer)
	for _, path := range []string{"//evil.example", "https://evil.example/", ""} {
		viewer.Get(t, "/live?path="+url.QueryEscape(path)).Is(t, http.StatusBadRequest)
	}
	for _, path := range []string{"/users", "/nothing", "/live", "/logout"} {
		st := follow(t, s, viewer, path, "")
		if event, data := st.next(); event != "gone" {
			t.Errorf("%q: %s %s", path, event, data)
		}
	}
	a := s.Nobody(t).Get(t, "/live?path=/account")
	if strings.Contains(a.Body, "fragment") {
		t.Errorf("nobody gets %s", a.Body)
	}
}
