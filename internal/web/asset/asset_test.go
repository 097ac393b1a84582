package asset

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/web/picture"
)

func load(t *testing.T) *Set {
	t.Helper()
	s, err := Load(picture.CSS)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(s *Set, path, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestServe(t *testing.T) {
	s := load(t)
	for _, name := range []string{"weir.css", "weir.js", "theme.js", "icon.svg"} {
		plain, packed := get(s, s.URL(name), ""), get(s, s.URL(name), "br, gzip")
		if plain.Code != 200 || !strings.Contains(plain.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, cache %q", name, plain.Code, plain.Header().Get("Cache-Control"))
		}
		if packed.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s is not packed", name)
		}
		unpack, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(unpack)
		if err != nil || !bytes.Equal(data, plain.Body.Bytes()) {
			t.Errorf("%s: packed and plain differ (%v)", name, err)
		}
	}
	for _, path := range []string{"/assets/", "/assets/weir.css", "/assets/weir-000000000000.css", "/assets/../asset.go"} {
		if w := get(s, path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
}

// A page stays small: the budget is for what people read, before it is packed.
func TestBudget(t *testing.T) {
	s := load(t)
	size := func(name string) int { return len(s.items[s.URL(name)].plain) }
	if n := size("weir.css"); n >= 54_000 {
		t.Errorf("the stylesheet has %d bytes, want under 54,000", n)
	}
	if n := size("weir.js") + size("theme.js"); n >= 25_000 {
		t.Errorf("the scripts have %d bytes, want under 25,000", n)
	}
}

// A colour that is no token would be wrong in one of the themes.
func TestColoursAreTokens(t *testing.T) {
	css, err := Stylesheet(picture.CSS)
	if err != nil {
		t.Fatal(err)
	}
	tokens, rest, found := strings.Cut(string(css), "/* Base:")
	if !found {
		t.Fatal("the stylesheet has no base")
	}
	if n := len(token.FindAllString(tokens, -1)); n < 30 {
		t.Fatalf("%d tokens were read", n)
	}
	for _, m := range regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|rgb\(`).FindAllString(rest, -1) {
		if m != "#808a98" {
			t.Errorf("%s stands outside of the tokens", m)
		}
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z0-9-]+)`).FindAllStringSubmatch(string(css), -1) {
		if !strings.Contains(string(css), m[1]+":") {
			t.Errorf("%s is used and never set", m[1])
		}
	}
}
