package app

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/weirhq/weir/internal/auth"
)

// hostile is text that would be more than text in HTML, in an attribute, in a
// script, in a template, in a terminal or in a stream.
const hostile = `"'><script>x()</script><img src=x onerror=x()><svg onload=x()></svg></textarea></title><a href=javascript:x()>{{7*7}}` + "\u202e\x1b[31mred\x1b]8;;http://evil\x07"

// dangers are what a page holds that our own pages never do.
func dangers(page string) (found []string) {
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			if what := danger(tokens.Token()); what != "" {
				found = append(found, what)
			}
		}
	}
}

func danger(tag html.Token) string {
	switch tag.Data {
	case "img", "iframe", "object", "embed", "style", "base", "marquee", "x":
		return tag.String()
	case "script":
		if !slices.ContainsFunc(tag.Attr, func(a html.Attribute) bool { return a.Key == "src" && strings.HasPrefix(a.Val, "/assets/") }) {
			return tag.String()
		}
	}
	for _, a := range tag.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", strings.ContainsAny(a.Key, `<>"'`):
			return tag.String()
		case slices.Contains([]string{"href", "src", "action", "formaction", "xlink:href"}, a.Key) && value != "" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?"):
			return tag.String()
		}
	}
	return ""
}

// The parser finds what it looks for.
func TestSecureDangers(t *testing.T) {
	t.Parallel()
	for _, page := range []string{hostile, `<p onclick="x">`, `<a href="javascript:x">`, `<a href=" JavaScript:x">`, `<b style="x">`, `<script>1</script>`, `<form action="https://evil.example">`, `<a href="//evil.example" onfocus=x>`} {
		if len(dangers(page)) == 0 {
			t.Errorf("nothing was found in %q", page)
		}
	}
	if found := dangers(`<script src="/assets/a.js"></script><a href="/x">` + html.EscapeString(hostile) + `</a>`); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

// Everything that a task, a worker, a node or a browser can say is hostile.
// Every page shows it as text, and what a task says has no control sequences.
func TestSecureText(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.person(auth.Admin)
	x := f.furnish(hostile)
	// What runs, what waits, and words that only the database would let in.
	for _, sql := range []string{
		`select weir.submit($1, jsonb_build_object($1::text, $1::text), pool => $1, lane => $1, unique_key => $1, idempotency_key => $1)`,
		`select weir.open_gates() from (select $1::text) x`,
		`select weir.record(c.task, c.attempt, c.token, 'said', $1, jsonb_build_object('line', $1::text, 'percent', 5), 'warn') from weir.claim($1, array[$1], 1) c`,
		`insert into weir.events (at, type, kind, subject, source, level, message, data) values (now(), $1, 'node', $1, $1, 'warn', $1, jsonb_build_object($1::text, $1::text))`,
		`insert into weir.events (at, type, kind, subject, source, level, message, data) values (now(), 'noted', 'auth', $1, $1, 'warn', $1, jsonb_build_object($1::text, $1::text))`,
	} {
		f.exec(sql, hostile)
	}
	f.exec(`update weir.sessions set agent = $1, address = $1`, hostile)
	f.exec(`update weir.tokens set name = left($1, 100), scopes = array[$1]`, hostile)
	f.exec(`update weir.users set email = $1 where name = 'owner'`, hostile)
	f.exec(`update weir.joins set node = $1, made_by = $1`, hostile)
	admin := f.login("the-admin")
	q := url.QueryEscape(hostile)
	paths := []string{"/search?q=" + q, "/tasks?service=" + q, "/tasks?label=" + q, "/timeline?subject=" + q, "/timeline?kind=" + q, "/timeline?type=" + q, "/timeline?before=" + q, "/workers?service=" + q, "/jobs?state=" + q, "/jobs?after=" + q, "/users?after=" + q, "/login?next=" + q, "/" + url.PathEscape(hostile), "/nodes/" + url.PathEscape(hostile), "/setup?code=" + q}
	for _, sql := range []string{`select string_agg(id::text, ' ') from weir.task`} {
		for _, id := range strings.Fields(f.text(sql)) {
			paths = append(paths, "/tasks/"+id, "/tasks/"+id+"/cancel", "/tasks/"+id+"/log", "/tasks/"+id+"/events.json")
		}
	}
	for _, e := range f.entrances(x) {
		if e.method == "GET" && !e.api && e.path != "/live" && !strings.HasPrefix(e.path, "/login/oidc") {
			paths = append(paths, e.path)
		}
	}
	shown := 0
	for _, path := range paths {
		got := f.ask("GET", path, with(admin), header("User-Agent", strings.Map(fieldByte, hostile)))
		if got.StatusCode >= 500 {
			t.Errorf("%.100s: status %d", path, got.StatusCode)
		}
		if strings.Contains(got.Header.Get("Content-Type"), "text/html") {
			for _, what := range dangers(got.body) {
				t.Errorf("%.100s holds %s", path, what)
			}
			if strings.Contains(got.body, "&lt;script&gt;") {
				shown++
			}
		} else if !strings.Contains(got.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%.100s of type %s has no policy", path, got.Header.Get("Content-Type"))
		}
		if (strings.HasPrefix(path, "/tasks/") || strings.HasPrefix(path, "/jobs/")) && strings.ContainsAny(got.body, "\x1b\x07\x00") {
			t.Errorf("%.100s holds control sequences", path)
		}
	}
	if shown < 30 {
		t.Errorf("only %d of %d pages show the text at all", shown, len(paths))
	}
	f.hostileForms(x, with(admin))
}

// hostileForms posts the text into every field of every form.
func (f *fort) hostileForms(x furniture, who way) {
	f.t.Helper()
	fields := slices.Clone(filled)
	for i := 1; i < len(fields); i += 2 {
		fields[i] = hostile
	}
	for _, r := range dashboard(f.t) {
		if r.Method != http.MethodPost || strings.Contains(r.Path, "/users/") || strings.Contains(r.Path, "/sessions/") {
			continue
		}
		got := f.ask("POST", x.path(r.Path), who, form(fields...))
		for _, what := range dangers(got.body) {
			f.t.Errorf("POST %s holds %s", r.Path, what)
		}
		if got.StatusCode >= 500 || leadsAway(got.to(), f.listen) {
			f.t.Errorf("POST %s: status %d to %q", r.Path, got.StatusCode, got.to())
		}
	}
	for _, path := range []string{"/login", "/setup"} {
		for _, what := range dangers(f.ask("POST", path, form(fields...)).body) {
			f.t.Errorf("POST %s holds %s", path, what)
		}
	}
}

// A type or a message with line breaks does not forge an event of a stream, and
// a fragment of a live page is text like the page.
func TestSecureStreamText(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	viewer := with(f.person(auth.Viewer))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, lines := f.follow(ctx, apiPrefix+"/events", viewer)
	until(t, lines, "id: ")
	_, live := f.follow(ctx, "/live?path=/timeline", viewer)
	<-live
	forged := "a\nevent: forged\ndata: {\"forged\": true}\n\nid: 1.1\r\ndata: forged\n\n" + hostile
	f.exec(`select weir.register_worker('w', '{s}')`)
	f.exec(`select weir.submit('s')`)
	f.exec(`select weir.record(c.task, c.attempt, c.token, left($1, 90), $1, jsonb_build_object('x', $1::text)), weir.fail(c.task, c.attempt, c.token, $1, true) from weir.claim('w', '{s}') c`, forged)
	f.exec(`select weir.set_pool('the-end', size => 1)`)
	text := until(t, lines, "the-end")
	for line := range strings.SplitSeq(text, "\n") {
		field, _, _ := strings.Cut(line, ":")
		if !slices.Contains([]string{"", "id", "event", "data", "retry"}, field) || strings.HasPrefix(line, "event: forged") || strings.HasPrefix(line, "data: forged") || strings.HasPrefix(line, "data: {\"forged") || line == "id: 1.1" {
			t.Errorf("the stream holds the line %.100q", line)
		}
		if strings.Contains(line, "\x1b") {
			t.Errorf("a control sequence: %.200q", line)
		}
	}
	for _, line := range strings.Split(until(t, live, "the-end"), "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if ok && strings.Contains(data, "{") {
			// The HTML stands in a JSON text: its quotes and brackets are escaped there.
			plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\"`, `"`).Replace(data)
			for _, what := range dangers(plain) {
				t.Errorf("a fragment holds %s", what)
			}
		}
	}
}
