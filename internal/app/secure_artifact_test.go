package app

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node/wire"
)

// upload sends an artifact of a lease.
func (m *machine) upload(l wire.Lease, name, kind, body string, more ...string) reply {
	m.t.Helper()
	query := url.Values{"name": {name}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	path := fmt.Sprintf("%s/agent/artifacts/%s/%d?%s", apiPrefix, l.Task, l.Attempt, query.Encode())
	return m.ask("PUT", path, m.who, header(wire.Fence, l.Token), sending(kind, body))
}

// attachments are files that a browser would run if it were let.
var attachments = map[string]struct{ kind, body string }{
	"page.html":       {"text/html; charset=utf-8", `<script>x()</script>`},
	"picture.svg":     {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>`},
	"code.js":         {"text/javascript", `x()`},
	"data.xml":        {"text/xml", `<?xml-stylesheet type="text/xsl" href="x"?><x/>`},
	"liar.png":        {"image/png", `<script>x()</script>`},
	"typeless":        {"", `<!doctype html><script>x()</script>`},
	"split":           {"text/html\t;x=\"", `<script>x()</script>`},
	`quote";x=.html`:  {"text/html", `<script>x()</script>`},
	hostileName:       {"text/html", `<script>x()</script>`},
	"manual.pdf":      {"application/pdf", "%PDF-1.7 <script>x()</script>"},
	"multipart.mixed": {"multipart/x-mixed-replace;boundary=x", "--x\r\nContent-Type: text/html\r\n\r\n<script>x()</script>"},
}

const hostileName = `<img src=x onerror=x()>"'.html`

// What a task has made never runs as a page of ours, whatever it is and is
// called, on the API and on the dashboard.
func TestSecureArtifactContent(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := with(f.person(auth.Admin))
	m := f.machine("n1")
	f.exec(`select weir.submit_job('[{"service": "work", "key": "a"}]', 'j')`)
	lease := m.claim(firstClaim).Lease
	for name, a := range attachments {
		if got := m.upload(lease, name, a.kind, a.body); got.StatusCode != http.StatusNoContent {
			t.Fatalf("%s: status %d: %s", name, got.StatusCode, got.body)
		}
		id := f.text(`select id::text from weir.artifacts where name = $1`, name)
		for _, path := range []string{apiPrefix + "/artifacts/" + id + "/content", apiPrefix + "/artifacts/" + id + "/content?through=true", "/artifacts/" + id + "/content", "/artifacts/" + id + "/content?inline"} {
			got := f.wants(http.StatusOK, "GET", path, admin)
			h := got.Header
			if got.body != a.body {
				t.Errorf("%s of %s is %q", path, name, got.body)
			}
			if !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("X-Content-Type-Options") != "nosniff" || len(h.Values("Content-Disposition")) != 1 ||
				!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s of %s: %v", path, name, h)
			}
			if kind := h.Get("Content-Type"); !strings.HasPrefix(path, apiPrefix) && kind != "application/octet-stream" {
				t.Errorf("%s of %s has the type %s", path, name, kind)
			}
		}
		for _, what := range dangers(f.wants(http.StatusOK, "GET", "/artifacts/"+id, admin).body) {
			t.Errorf("the page of %s holds %s", name, what)
		}
	}
	job := f.text(`select job::text from weir.artifacts limit 1`)
	for _, path := range []string{"/jobs/" + job + "/artifacts", "/jobs/" + job, "/tasks/" + lease.Task.String(), "/timeline"} {
		for _, what := range dangers(f.wants(http.StatusOK, "GET", path, admin).body) {
			t.Errorf("%s holds %s", path, what)
		}
	}
}

// A name is a path below the folder of its attempt that people can read. What is
// too large, not whole or not what was said is not kept.
func TestSecureArtifactUpload(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	f := besiege(t, func(c *Config, _ *Options) { c.Data = data })
	m := f.machine("n1")
	f.exec(`select weir.submit('work')`)
	lease := m.claim(firstClaim).Lease
	for _, name := range []string{
		"", ".", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", "./a", "a/./b", "a\x00b", "a\nb", "a\rb", "\x1b[31mred", "a\u0085b", "\u202egnp.exe", "a\u2066b", "\xff\xfe",
		strings.Repeat("x", 300), strings.Repeat("x/", 600) + "x",
	} {
		if got := m.upload(lease, name, "text/plain", "x"); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q: status %d: %.200s", name, got.StatusCode, got.body)
		}
	}
	wrong := sha256.Sum256([]byte("y"))
	for what, more := range map[string][]string{
		"wrong sum": {"sha256", hex.EncodeToString(wrong[:])}, "no sum": {"sha256", "abc"}, "kind": {"kind", "timeline"}, "log": {"kind", "log"},
	} {
		if got := m.upload(lease, "good.txt", "text/plain", "x", more...); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d: %.200s", what, got.StatusCode, got.body)
		}
	}
	if got := m.rawUpload(lease, "Content-Length: 6000000000\r\n"); got != http.StatusRequestEntityTooLarge {
		t.Errorf("6 GB: status %d", got)
	}
	if got := m.rawUpload(lease, "Transfer-Encoding: chunked\r\n\r\n0\r\n"); got != http.StatusLengthRequired {
		t.Errorf("no length: status %d", got)
	}
	if n := f.text(`select count(*)::text from weir.artifacts`); n != "0" {
		t.Errorf("%s artifacts were recorded", n)
	}
	for _, folder := range []string{"outputs", "inputs", "logs"} {
		_ = filepath.WalkDir(filepath.Join(data, "bucket", folder), func(path string, e os.DirEntry, _ error) error {
			if e != nil && e.Type().IsRegular() {
				t.Errorf("%s was kept", path)
			}
			return nil
		})
	}
	large := map[string]any{"task": lease.Task, "attempt": lease.Attempt, "token": lease.Token}
	if got := m.ask("POST", apiPrefix+"/agent/logs", m.who, object("lease", large, "seq", 0, "lines", strings.Repeat("QUFB", 9<<20/3))); got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a piece of log of 9 MiB: status %d: %.200s", got.StatusCode, got.body)
	}
}

// rawUpload sends the head of an upload, whose last lines are given, and returns
// the status, which must come before any of the body.
func (m *machine) rawUpload(l wire.Lease, size string) (status int) {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), "PUT", "http://"+m.listen, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	m.who(request)
	conn, err := net.Dial("tcp", m.listen)
	if err != nil {
		m.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		m.t.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s/agent/artifacts/%s/%d?name=x HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n%s: %s\r\n%s\r\n", apiPrefix, l.Task, l.Attempt, m.listen, request.Header.Get("Authorization"), wire.Fence, l.Token, size)
	answer, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// Artifacts and logs are for those who may read them, and a record leads to
// nothing but objects of its own task.
func TestSecureArtifactForeign(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	f := besiege(t, func(c *Config, _ *Options) { c.Data = data })
	admin := with(f.person(auth.Admin))
	f.add("reader", auth.Viewer)
	narrow, _ := f.token("reader", "task:read", "job:read")
	m, other := f.machine("n1"), f.machine("n2")
	f.exec(`select weir.submit('work')`)
	lease := m.claim(firstClaim).Lease
	if got := m.upload(lease, "a.txt", "text/plain", "mine"); got.StatusCode != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.StatusCode, got.body)
	}
	if got := other.upload(lease, "a.txt", "text/plain", "evil"); got.StatusCode != http.StatusGone {
		t.Errorf("the upload of another node: status %d", got.StatusCode)
	}
	id := f.text(`select id::text from weir.artifacts`)
	task := lease.Task.String()
	for _, path := range []string{"/artifacts/" + id, "/artifacts/" + id + "/content", "/tasks/" + task + "/artifacts", "/tasks/" + task + "/log"} {
		f.wants(http.StatusUnauthorized, "GET", apiPrefix+path)
		f.wants(http.StatusForbidden, "GET", apiPrefix+path, bearer(narrow))
		f.wants(http.StatusForbidden, "GET", apiPrefix+path, other.who)
	}
	// A worker with the database may say of its own task that an object lies anywhere.
	bucket := filepath.Join(data, "bucket")
	if err := os.MkdirAll(filepath.Join(bucket, "timeline"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bucket, "timeline", "events.jsonl"), []byte("the audit"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"timeline/events.jsonl", "../secret.key", "/etc/passwd", "outputs/-/" + noID + "/1/x", "outputs/" + noID + "/a/1/x", "logs/-/" + task + "/1/00000000.jsonl", "outputs/-/" + task + "/2/x"} {
		name := fmt.Sprint("evil-", i)
		f.exec(`select weir.record_artifact($1, $2, $3, 'output', $4, $5, $6, 9)`, lease.Task, lease.Attempt, lease.Token, name, "folder://"+bucket, key)
		evil := f.text(`select id::text from weir.artifacts where name = $1`, name)
		for _, path := range []string{apiPrefix + "/artifacts/" + evil + "/content?through=true", "/artifacts/" + evil + "/content", "/artifacts/" + evil} {
			got := f.ask("GET", path, admin)
			if strings.Contains(got.body, "the audit") || strings.HasSuffix(path, "/content") && got.StatusCode != http.StatusNotFound || got.StatusCode >= 500 {
				t.Errorf("%s is %s: status %d: %.200s", path, key, got.StatusCode, got.body)
			}
		}
	}
}

// What work prints is text: no page runs it, and no terminal obeys it.
func TestSecureLogText(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := with(f.person(auth.Admin))
	m := f.machine("n1")
	f.exec(`select weir.submit('work')`)
	lease := m.claim(firstClaim).Lease
	line := `{"at":"2026-11-15T09:00:00Z","stream":"stdout","text":"<script>x()</script><img src=x onerror=x()>\u001b]8;;http://evil\u0007\u001b[2J\u202e"}` + "\n"
	raw := "no JSON <svg onload=x()> \x1b[31m\xff\n" + `{"stream":"<script>x()</script>","text":"y"}` + "\n"
	lines := wire.LogOf(lease.Node(), wire.Log{Lines: []byte(line + raw)}.Node())
	m.wants(http.StatusNoContent, "POST", apiPrefix+"/agent/logs", m.who, object("lease", lines.Lease, "seq", 0, "lines", lines.Lines))
	task := lease.Task.String()
	got := f.wants(http.StatusOK, "GET", apiPrefix+"/tasks/"+task+"/log", admin)
	if got.Header.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(got.Header.Get("Content-Type"), "html") || strings.ContainsAny(got.body, "\x1b\x07") {
		t.Errorf("the log is %v %q", got.Header, got.body)
	}
	for _, path := range []string{"/tasks/" + task, "/tasks/" + task + "/output", "/tasks/" + task + "/log"} {
		got := f.ask("GET", path, admin)
		if got.StatusCode >= 500 || strings.ContainsAny(got.body, "\x1b\x07") {
			t.Errorf("%s: status %d: %.300q", path, got.StatusCode, got.body)
		}
		if strings.Contains(got.Header.Get("Content-Type"), "html") {
			for _, what := range dangers(got.body) {
				t.Errorf("%s holds %s", path, what)
			}
		} else if got.StatusCode == http.StatusOK && got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, got.Header)
		}
	}
}
