package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace"
)

// Whatever a workspace sets, a parser, here that of the standard library, finds no domain
// and no cookie of ours in it.
func FuzzSetCookie(f *testing.F) {
	for _, seed := range []string{"a=1; Domain=x.example", "a=1;domain\t=x", "=weir_session=1", "weir_session", "__Host-weir_workspace=x; Path=/", "a=1; ; domain=x;", "WEIR_x=1", " weir_session=1", "a=1; Domain", "a\x00=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h := http.Header{"Set-Cookie": {line, "theirs=1"}}
		tame(h)
		for _, c := range (&http.Response{Header: h}).Cookies() {
			if c.Domain != "" || ours(c.Name) || c.Name == "" {
				t.Errorf("%q became %q", line, h["Set-Cookie"])
			}
		}
		if last := h["Set-Cookie"]; len(last) == 0 || last[len(last)-1] != "theirs=1" {
			t.Errorf("%q took another cookie along: %q", line, last)
		}
	})
}

// Whatever a browser sends, no cookie of ours is left in it.
func FuzzCookie(f *testing.F) {
	for _, seed := range []string{"weir_session=a; b=c", `b="; weir_session=a`, "__Host-weir_workspace=x", ";;weir_session=1", " =weir_session=1", "WEIR_SESSION=1", "b=1;weir_workspace=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := &http.Request{Header: http.Header{"Cookie": {line, "theirs=1"}}}
		keepTheirs(r.Header)
		for _, c := range r.Cookies() {
			if ours(c.Name) {
				t.Errorf("%q became %q", line, r.Header["Cookie"])
			}
		}
		if text := strings.ToLower(r.Header.Get("Cookie")); strings.Contains(text, "weir_session") || strings.Contains(text, "weir_workspace") || !strings.HasSuffix(text, "theirs=1") {
			t.Errorf("%q became %q", line, text)
		}
	})
}

// A host's name stands for a workspace in one spelling only.
func FuzzHost(f *testing.F) {
	at := workspace.Address{Scheme: "https", Domain: "ws.example.com"}
	id := weir.ID{1, 2, 3}
	for _, seed := range []string{at.Host(id), at.Host(id) + ":443", "WS-" + id.String() + ".ws.example.com", "ws-x.ws.example.com", at.Host(id) + ".", at.Host(id) + ":443:1", "[" + at.Host(id) + "]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		id, ok := at.Workspace(header)
		if !ok {
			return
		}
		name, _, _ := strings.Cut(header, ":")
		if !strings.EqualFold(name, at.Host(id)) {
			t.Errorf("%q stands for %s", header, id)
		}
	})
}
