package inside_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/workspace/inside"
)

// bench is a workspace with a secret beside its home.
type bench struct {
	*testing.T
	home, secret string
	server       *httptest.Server
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{T: t, home: filepath.Join(dir, "home"), secret: filepath.Join(dir, "secret")}
	b.ok(os.Mkdir(b.home, 0o700))
	b.ok(os.WriteFile(b.secret, []byte("s3cret"), 0o600))
	handler, err := inside.New(inside.Config{Home: b.home, Shell: []string{"/bin/sh"}})
	b.ok(err)
	b.server = httptest.NewServer(handler)
	t.Cleanup(func() {
		b.ok(handler.Close())
		b.server.Close()
	})
	return b
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// ask sends a path as it is: a client would tidy it up.
func (b *bench) ask(method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, b.server.URL, body)
	b.ok(err)
	path, request.URL.RawQuery, _ = strings.Cut(path, "?")
	request.URL.Opaque = path
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	// A redirect would lead to the tidied path.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	b.ok(err)
	text, err := io.ReadAll(answer.Body)
	b.ok(errors.Join(err, answer.Body.Close()))
	return answer, string(text)
}

func (b *bench) want(code int, method, path, body string, headers ...string) string {
	b.Helper()
	answer, text := b.ask(method, path, strings.NewReader(body), headers...)
	if answer.StatusCode != code {
		b.Fatalf("%s %s: %s %q, and not %d", method, path, answer.Status, text, code)
	}
	return text
}

func TestFiles(t *testing.T) {
	b := newBench(t)
	b.want(http.StatusNoContent, "PUT", "/files/a/b.txt", "one")
	if text := b.want(http.StatusOK, "GET", "/files/a/b.txt", ""); text != "one" {
		t.Errorf("%q", text)
	}
	b.want(http.StatusNoContent, "PUT", "/files/"+strings.Repeat("n", 255), "a long name")
	b.want(http.StatusNoContent, "POST", "/files/a/z?make=folder", "")
	b.ok(os.Symlink("b.txt", filepath.Join(b.home, "a/link")))
	b.ok(syscall.Mkfifo(filepath.Join(b.home, "a/pipe"), 0o600))
	b.want(http.StatusNoContent, "PUT", "/files/a/%ED%95%9C%20%EA%B8%80", "")
	var folder struct {
		Path    string
		Entries []struct{ Name, Kind string }
	}
	b.ok(json.Unmarshal([]byte(b.want(http.StatusOK, "GET", "/files/a/", "")), &folder))
	var got []string
	for _, e := range folder.Entries {
		got = append(got, e.Kind+" "+e.Name)
	}
	if want := []string{"folder z", "file b.txt", "link link", "other pipe", "file 한 글"}; folder.Path != "a" || !slices.Equal(got, want) {
		t.Errorf("%s: %q, and not %q", folder.Path, got, want)
	}
	b.want(http.StatusNoContent, "POST", "/files/a/b.txt?move=c/d.txt", "", "X-None", "")
	b.want(http.StatusNotFound, "GET", "/files/a/b.txt", "")
	b.want(http.StatusNoContent, "DELETE", "/files/a", "")
	b.want(http.StatusNotFound, "DELETE", "/files/a", "")
	b.want(http.StatusConflict, "DELETE", "/files/", "")
	b.want(http.StatusConflict, "PUT", "/files/c", "a folder has that name")
	b.want(http.StatusUnprocessableEntity, "POST", "/files/c?do=what", "")
}

// Whoever writes over what another has written since is told.
func TestTwoEditors(t *testing.T) {
	b := newBench(t)
	b.want(http.StatusNoContent, "PUT", "/files/run.sh", "first")
	b.ok(os.Chmod(filepath.Join(b.home, "run.sh"), 0o755))
	answer, _ := b.ask("GET", "/files/run.sh", nil)
	tag := answer.Header.Get("ETag")
	b.want(http.StatusNoContent, "PUT", "/files/run.sh", "second", "If-Match", tag)
	b.want(http.StatusPreconditionFailed, "PUT", "/files/run.sh", "third", "If-Match", tag)
	b.want(http.StatusPreconditionFailed, "PUT", "/files/gone", "third", "If-Match", tag)
	b.want(http.StatusPreconditionFailed, "PUT", "/files/run.sh", "fourth", "If-None-Match", "*")
	b.want(http.StatusNoContent, "PUT", "/files/new", "fifth", "If-None-Match", "*")
	if text := b.want(http.StatusOK, "GET", "/files/run.sh", ""); text != "second" {
		t.Errorf("%q", text)
	}
	if info, err := os.Stat(filepath.Join(b.home, "run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the file has lost its mode: %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(filepath.Join(b.home, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// Whoever writes to a link writes to what it leads to.
func TestWriteThroughALink(t *testing.T) {
	b := newBench(t)
	b.want(http.StatusNoContent, "PUT", "/files/real/deep/file", "old")
	b.ok(os.Symlink("real/deep", filepath.Join(b.home, "folder")))
	b.ok(os.Symlink("deep/file", filepath.Join(b.home, "real/second")))
	b.ok(os.Symlink("folder/../second", filepath.Join(b.home, "first")))
	b.ok(os.Symlink("not/there/yet", filepath.Join(b.home, "dangling")))
	b.want(http.StatusNoContent, "PUT", "/files/first", "new")
	b.want(http.StatusNoContent, "PUT", "/files/dangling", "made")
	for name, want := range map[string]string{"real/deep/file": "new", "not/there/yet": "made"} {
		if text, err := os.ReadFile(filepath.Join(b.home, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"first", "real/second", "dangling"} {
		if info, err := os.Lstat(filepath.Join(b.home, name)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", name, info, err)
		}
	}
}

// No path and no link leads out of the home.
func TestNothingLeadsOut(t *testing.T) {
	b := newBench(t)
	for name, target := range map[string]string{"absolute": b.secret, "relative": "../secret", "up": "..", "root": "/", "self": "self"} {
		b.ok(os.Symlink(target, filepath.Join(b.home, name)))
	}
	b.ok(os.Mkdir(filepath.Join(b.home, "deep"), 0o700))
	b.ok(os.Symlink("../..", filepath.Join(b.home, "deep/twice")))
	beside, err := os.ReadDir(filepath.Dir(b.home))
	b.ok(err)
	for _, path := range []string{
		"../secret", "%2e%2e/secret", "..%2fsecret", "%2e%2e%2fsecret", "./../secret", "deep/../../secret", "deep/..%2f..%2fsecret", "/../secret", "//../secret",
		"absolute", "relative", "up/secret", "root" + b.secret, "deep/twice/secret", "up/../secret", "self", "up/new", "root/tmp/new", "..%00/secret", "secret%00",
		b.secret, "%2f" + b.secret[1:], `..\secret`,
	} {
		for method, body := range map[string]string{"GET": "", "PUT": "written", "POST?make=folder": "", "DELETE": ""} {
			verb, query, _ := strings.Cut(method, "?")
			answer, text := b.ask(verb, "/files/"+path+"?"+query, strings.NewReader(body))
			if strings.Contains(text, "s3cret") {
				t.Errorf("%s %s reads the secret", method, path)
			}
			if answer.StatusCode >= 500 {
				t.Errorf("%s %s: %s", method, path, answer.Status)
			}
		}
		b.want(http.StatusNoContent, "PUT", "/files/mine", "x")
		for _, move := range []string{"/files/mine?move=" + path, "/files/" + path + "?move=stolen"} {
			b.ask("POST", move, nil)
		}
		if _, text := b.ask("GET", "/files/stolen", nil); strings.Contains(text, "s3cret") {
			t.Errorf("%s was moved into the home", path)
		}
		text, err := os.ReadFile(b.secret)
		if err != nil || string(text) != "s3cret" {
			t.Fatalf("%s has changed what is outside: %q, %v", path, text, err)
		}
	}
	after, err := os.ReadDir(filepath.Dir(b.home))
	if err != nil || len(after) != len(beside) {
		t.Errorf("beside the home there is %v, and was %v", after, beside)
	}
}

func TestBigFiles(t *testing.T) {
	b := newBench(t)
	big := make([]byte, 40<<20)
	_, _ = rand.Read(big) // never fails
	answer, text := b.ask("PUT", "/files/big", bytes.NewReader(big))
	if answer.StatusCode != http.StatusNoContent {
		t.Fatalf("%s %s", answer.Status, text)
	}
	if _, text := b.ask("GET", "/files/big", nil); text != string(big) {
		t.Errorf("%d bytes came back of %d", len(text), len(big))
	}
	answer, text = b.ask("GET", "/files/big", nil, "Range", "bytes=1000-1009")
	if answer.StatusCode != http.StatusPartialContent || text != string(big[1000:1010]) {
		t.Errorf("a part: %s, %d bytes", answer.Status, len(text))
	}
	// One that is too long changes nothing, and leaves nothing.
	answer, _ = b.ask("PUT", "/files/big", io.LimitReader(zeros{}, 64<<20+1))
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too much: %s", answer.Status)
	}
	if info, err := os.Stat(filepath.Join(b.home, "big")); err != nil || info.Size() != int64(len(big)) {
		t.Errorf("it is another file now: %v", err)
	}
	if all, err := os.ReadDir(b.home); err != nil || len(all) != 1 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A file that hangs whoever reads it does not hang the workspace.
func TestFilesThatAreNone(t *testing.T) {
	b := newBench(t)
	b.ok(syscall.Mkfifo(filepath.Join(b.home, "pipe"), 0o600))
	b.want(http.StatusUnprocessableEntity, "GET", "/files/pipe", "")
	b.want(http.StatusNoContent, "PUT", "/files/pipe", "a file takes its place")
	if text := b.want(http.StatusOK, "GET", "/files/pipe", ""); text != "a file takes its place" {
		t.Errorf("%q", text)
	}
}

// What is in a file cannot become a page of the workspace, and no other site uses it.
func TestThePageIsGuarded(t *testing.T) {
	b := newBench(t)
	b.want(http.StatusNoContent, "PUT", "/files/evil.html", "<script>alert(1)</script>")
	answer, _ := b.ask("GET", "/files/evil.html", nil)
	if kind := answer.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a file is served as %q", kind)
	}
	b.want(http.StatusForbidden, "PUT", "/files/x", "x", "Origin", "https://evil.example")
	b.want(http.StatusForbidden, "DELETE", "/files/evil.html", "", "Sec-Fetch-Site", "cross-site")
	answer, text := b.ask("GET", "/", nil)
	policy := answer.Header.Get("Content-Security-Policy")
	if answer.StatusCode != http.StatusOK || !strings.Contains(text, "workspace.js") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%s, policy %q", answer.Status, policy)
	}
}
