package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/problem"
)

const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

func render(t testing.TB, ctx context.Context, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever a component is given as text stays text.
func TestEverythingIsText(t *testing.T) {
	raw, err := json.Marshal(map[string]any{evil: []any{evil, 1, nil, map[string]any{evil: evil}}})
	if err != nil {
		t.Fatal(err)
	}
	p := problem.Refuse("name", evil, "%s", evil)
	fields := []Field{
		{Name: "a", Label: evil, Value: evil, Hint: evil, Example: evil, Fault: evil},
		{Name: "b", Label: evil, Type: "select", Options: Options(evil), Value: evil},
		{Name: "c", Label: evil, Type: "checks", Options: Options(evil)},
		{Name: "d", Label: evil, Type: "area", Value: evil},
	}
	for name, c := range map[string]templ.Component{
		"state": State(evil), "gate": Gate(evil), "level": Level(evil), "badge": Badge(Bad, evil), "label": Label(evil),
		"labels": Labels(map[string]string{evil: evil}), "note": Note(Warn, evil), "id": ID(evil, "/"+evil), "copy": Copy(evil, evil),
		"command": Command(evil), "secret": Secret(evil), "empty": Empty("job", evil, evil, evil), "card": Card(evil, Link(evil, evil)),
		"box": Box(evil), "stat": Stat(evil, evil, evil, "", evil), "tabs": Tabs([]Tab{{Label: evil, Href: evil, Count: evil}}),
		"fact": Fact(evil), "text": Text(evil), "table": Table(evil, []Column{{Label: evil}}), "paging": Paging(evil, evil),
		"filter":  Filter(evil, Pick{Name: evil, Label: evil, Value: evil, Hint: evil}, Pick{Name: evil, Label: evil, Options: []string{evil}}),
		"problem": Problem(p), "form": Form(evil, evil, fields, p), "ask": Ask(evil, "", evil, true), "act": Act(evil, "", evil),
		"asked":    Asked(Question{Title: evil, Text: evil, Button: evil, Back: evil, Fields: fields, Problem: p}, evil),
		"json":     JSON(raw, evil),
		"bad json": JSON(json.RawMessage(evil), evil), "large json": JSON(json.RawMessage(`"`+strings.Repeat(evil, 3000)+`"`), evil),
		"log": Log(evil+"\n\x1b[31m"+evil+"\x1b[0m\n\x1b]8;;"+evil+"\aX", evil), "long log": Log(strings.Repeat(evil+"\n", 9000), evil),
		"layout": Layout(Frame{Title: evil, User: evil, Role: evil, Version: evil, Env: evil, Follow: evil, Search: evil, Flash: &Flash{Text: evil}, Nav: []NavGroup{{Title: evil, Items: []NavItem{{Label: evil, Href: evil, Icon: "job", Key: evil, Count: evil, CountTitle: evil}}}}}),
		"bare":   Bare(Frame{Title: evil, Version: evil}, true), "head": PageHead(Head{Title: evil, Crumbs: []Crumb{{evil, evil}}}),
	} {
		html := render(t, t.Context(), c)
		if strings.Contains(html, "<script>") || strings.Contains(html, "<img") {
			t.Errorf("%s writes HTML that it was given:\n%s", name, html)
		}
		if strings.Contains(html, " style=") || strings.Contains(html, " onclick=") {
			t.Errorf("%s has something inline:\n%s", name, html)
		}
	}
}

// A link never runs a script, whatever it was made of.
func TestRowLeadsNowhereElse(t *testing.T) {
	if p := Path("jobs", "../x?y#z"); p != "/jobs/..%2Fx%3Fy%23z" {
		t.Error(p)
	}
}

func TestJSON(t *testing.T) {
	html := render(t, t.Context(), JSON(json.RawMessage(`{"a":[1,2.50,"x\u003cy&"],"e":{},"n":null,"t":true,"big":12345678901234567890}`), ""))
	for _, want := range []string{`<span class="n">2.50</span>`, `&#34;x&lt;y&amp;&#34;`, `{},`, `<span class="w">null</span>`, `12345678901234567890`, `data-size="3 items"`, `<details open>`} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is missing in %s", want, html)
		}
	}
	// What is nested at the end keeps its markup, and gets no comma.
	if html := render(t, t.Context(), JSON(json.RawMessage(`{"a":{"b":[1]},"c":{"d":[2]}}`), "")); strings.Count(html, "<details") != strings.Count(html, "</details>") || strings.Count(html, "},") != 2 {
		t.Errorf("the markup is broken: %s", html)
	}
	deep := strings.Repeat("[", 3) + "1" + strings.Repeat("]", 3)
	if html := render(t, t.Context(), JSON(json.RawMessage(deep), "")); strings.Count(html, "<details open>") != 2 || strings.Count(html, "<details>") != 1 {
		t.Errorf("the third level is not folded: %s", html)
	}
	// A page must not fall over what is nested too deep.
	render(t, t.Context(), JSON(json.RawMessage(strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), ""))
	if html := render(t, t.Context(), JSON(nil, "")); !strings.Contains(html, "–") {
		t.Error(html)
	}
	if html := render(t, t.Context(), JSON(json.RawMessage(`"`+strings.Repeat("x", jsonBytes)+`"`), "/raw")); !strings.Contains(html, `href="/raw"`) {
		t.Error("a large value does not link to all of it")
	}
}

func TestLog(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":      {"a\nb", `<span class="line">a</span><span class="line">b</span>`},
		"colour":     {"\x1b[31mred\x1b[0m plain", `<span class="line"><span class="f1">red</span> plain</span>`},
		"bold":       {"\x1b[1;92mx", `<span class="line"><span class="b f10">x</span></span>`},
		"over lines": {"\x1b[33ma\nb", `<span class="line"><span class="f3">a</span></span><span class="line"><span class="f3">b</span></span>`},
		"cursor":     {"a\x1b[2Jb\x1b[10;20Hc", `<span class="line">abc</span>`},
		"title":      {"\x1b]0;evil\aa", `<span class="line">a</span>`},
		"link":       {"\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\b", `<span class="line">ab</span>`},
		"redrawn":    {"10%\r50%\r100%", `<span class="line">100%</span>`},
		"windows":    {"a\r\nb\r\n", `<span class="line">a</span><span class="line">b</span>`},
		"unfinished": {"a\x1b[31", `<span class="line">a</span>`},
		"alone":      {"a\x1b", `<span class="line">a</span>`},
		"controls":   {"a\x00\x07\u202eb", `<span class="line">ab</span>`},
		"bytes":      {"a\xffb", "<span class=\"line\">a\uFFFDb</span>"},
		"truecolour": {"\x1b[38;2;1;2;3mx", `<span class="line">x</span>`},
		"korean":     {"안녕", `<span class="line">안녕</span>`},
	} {
		html := render(t, t.Context(), Log(c.in, ""))
		html = strings.TrimSuffix(strings.TrimPrefix(html, `<div class="log" translate="no" tabindex="0" role="group" aria-label="Log">`), `</div>`)
		if html != c.want {
			t.Errorf("%s: %s, want %s", name, html, c.want)
		}
	}
}

// Nothing in a log gets out of its text.
func FuzzLog(f *testing.F) {
	f.Add("\x1b[31m<b>\x1b]8;;x\a&\r\n\x1b[1;")
	f.Fuzz(func(t *testing.T, s string) {
		html := render(t, t.Context(), Log(s, ""))
		rest := html
		for _, tag := range []string{`<div class="log" translate="no" tabindex="0" role="group" aria-label="Log">`, `</div>`, `<span class="line">`, `</span>`, `<p class="cut">`, `</p>`} {
			rest = strings.ReplaceAll(rest, tag, "")
		}
		for part := range strings.SplitSeq(rest, "<") {
			if part == rest || part == "" {
				continue
			}
			if !strings.HasPrefix(part, `span class="`) && strings.Contains(rest, "<"+part) {
				t.Fatalf("%q became %q", s, html)
			}
		}
	})
}

// Ages do not make a fragment new; anything else does.
func TestLiveHash(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fragment := func(now time.Time, word string) Fragment {
		var c Capture
		ctx := WithCapture(WithNow(t.Context(), now), &c)
		children := templ.Join(Time(at), Label(word))
		render(t, templ.WithChildren(ctx, children), Live("x"))
		if len(c.Fragments) != 1 {
			t.Fatalf("%d fragments", len(c.Fragments))
		}
		return c.Fragments[0]
	}
	a, b, other := fragment(at, "one"), fragment(at.Add(time.Hour), "one"), fragment(at, "two")
	switch {
	case a.HTML == b.HTML:
		t.Error("an hour later the words are the same")
	case a.Hash != b.Hash:
		t.Error("the age alone makes a fragment new")
	case a.Hash == other.Hash:
		t.Error("another word makes no fragment new")
	}
}

func TestLiveDoesNotNest(t *testing.T) {
	inner := templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return Live("inner").Render(templ.WithChildren(ctx, Label("x")), w)
	})
	if err := Live("outer").Render(templ.WithChildren(t.Context(), inner), &bytes.Buffer{}); err == nil {
		t.Error("a live fragment stands inside of another")
	}
}

func TestWords(t *testing.T) {
	now := time.Now()
	for want, d := range map[string]time.Duration{"now": 500 * time.Millisecond, "12s ago": 12 * time.Second, "3m ago": 200 * time.Second, "2h ago": 150 * time.Minute, "40d ago": 960 * time.Hour, "in 5m": -5 * time.Minute} {
		if got := ago(WithNow(t.Context(), now), now.Add(-d)); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	for want, got := range map[string]string{
		"12\u202f345": Number(12345), "999": Number(999), "-1\u202f000": Number(-1000), "1.2 MiB": Bytes(1_234_567), "12 B": Bytes(12),
		"1 task": Plural(1, "task", "tasks"), "345678901234": Short("0123456789012345678901234"), "ab…": Cut("abcd", 3),
		"The pool is full": Sentence("the pool is full"), "weir up": Sentence("weir up"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	u, _ := url.Parse("/jobs?state=done&after=x")
	if got := With(u, "after", "", "kind", "a&b"); got != "/jobs?kind=a%26b&state=done" {
		t.Error(got)
	}
}

// Every icon that a table names is drawn.
func TestIcons(t *testing.T) {
	for _, s := range states {
		render(t, t.Context(), Icon(s.icon))
	}
	for _, l := range levels {
		render(t, t.Context(), Icon(l.icon))
	}
	for _, tone := range []Tone{Plain, Info, Good, Warn, Bad} {
		render(t, t.Context(), Icon(tone.icon()))
	}
	if err := Icon("unicorn").Render(t.Context(), &bytes.Buffer{}); err == nil {
		t.Error("an unknown icon is no error")
	}
}

// A problem goes to its field, and to the head of the form if there is none.
func TestFault(t *testing.T) {
	fields := []Field{{Name: "name"}, {Name: "role"}}
	if left := Fault(fields, problem.Refuse("role", "choose one", "no such role")); left != nil || fields[1].Fault != "no such role: choose one" {
		t.Errorf("%v, %+v", left, fields)
	}
	if left := Fault(fields, problem.Refuse("other", "", "no")); left == nil {
		t.Error("a problem of no field is lost")
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain 텍스트": "plain 텍스트", "two\nlines\tand a tab": "two lines and a tab", "\x1b[1;31mred\x1b[0m": "red", "\x1b]8;;http://x\x07link\x1b]8;;\x1b\\ end": "link end",
		"\x1b": "", "a\x1b[": "a", "a\x1b[31": "a", "a\x1b]0;title": "a", "\x00\x07\x7fbell": "bell", "\x1bcreset": "reset",
	} {
		if got := Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}
