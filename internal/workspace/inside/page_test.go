package inside_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workspace/inside"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// open opens the page in a browser, with a terminal that is connected.
func (b *bench) open() *webtest.Browser {
	b.Helper()
	w := (&webtest.Server{URL: b.server.URL}).Open(b.T)
	w.Go("/")
	w.Wait("a prompt", `document.querySelector("#line").textContent === "" && document.querySelector("#printed").textContent !== ""`)
	w.Wait("the list of files", `document.querySelector("#files li")`)
	return w
}

func (b *bench) wantFile(name, want string) {
	b.Helper()
	var got string
	testwait.Until(b.T, name+" with "+want, func() bool {
		text, err := os.ReadFile(filepath.Join(b.home, name))
		got = string(text)
		return err == nil && strings.HasSuffix(got, "\n")
	})
	if got != want+"\n" {
		b.Errorf("%s holds %q, and not %q", name, got, want)
	}
}

// Text gets into the terminal once, whether it is typed, composed or pasted.
func TestPageTypes(t *testing.T) {
	b := newBench(t)
	w := b.open()
	w.Click("#screen")
	w.Wait("the focus", `document.activeElement.id === "keyboard"`)
	w.Keys("echo one 'two' > typed\r")
	b.wantFile("typed", "one two")
	w.Keys("read a; read b; echo $a-$b > lines\rone\rtwo\r")
	b.wantFile("lines", "one-two")
	// What a keyboard cannot type comes as text, or is composed step by step.
	w.Keys("echo 한글 > inserted\r")
	b.wantFile("inserted", "한글")
	w.Keys("echo ")
	w.Wait("a composition", `(() => {
		const k = document.querySelector("#keyboard"), say = (kind, of, data) => k.dispatchEvent(new of(kind, data));
		say("compositionstart", CompositionEvent, {});
		for (const text of ["ㅎ", "하", "한"]) {
			say("keydown", KeyboardEvent, { key: "Process", keyCode: 229, isComposing: true });
			k.value = text;
			say("input", InputEvent, { data: text, inputType: "insertCompositionText", isComposing: true });
		}
		say("compositionend", CompositionEvent, { data: "한" });
		say("input", InputEvent, { data: "한", inputType: "insertText" });
		return k.value === "";
	})()`)
	w.Keys(" > composed\r")
	b.wantFile("composed", "한")
	w.Wait("a paste", `(() => {
		const data = new DataTransfer();
		data.setData("text", "echo 'from elsewhere' > pasted");
		return !document.querySelector("#keyboard").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true }));
	})()`)
	w.Keys("\r")
	b.wantFile("pasted", "from elsewhere")
}

// Files that a command makes appear by themselves, others when they are asked for.
func TestPageRefreshes(t *testing.T) {
	b := newBench(t)
	w := b.open()
	const asked = `performance.getEntriesByType("resource").filter((e) => new URL(e.name).pathname === "/files/").length`
	w.Wait("the first list", asked+" === 1")
	// Nobody has typed: to come back to the page is no use of the workspace.
	w.Wait("no other", `(dispatchEvent(new Event("focus")), document.dispatchEvent(new Event("visibilitychange")), `+asked+" === 1)")
	b.ok(os.WriteFile(filepath.Join(b.home, "beside"), nil, 0o600))
	w.Click("#refresh")
	w.WaitText("beside")
	w.Click("#screen")
	w.Keys("echo x > made\r")
	w.Wait("the file in the list", `[...document.querySelectorAll("#files button")].some((e) => e.textContent === "made")`)
	b.ok(os.WriteFile(filepath.Join(b.home, "meanwhile"), nil, 0o600))
	w.Wait("the file after a return", `(dispatchEvent(new Event("focus")), [...document.querySelectorAll("#files button")].some((e) => e.textContent === "meanwhile"))`)
	// Nothing sticks out, however long a name is.
	b.ok(os.WriteFile(filepath.Join(b.home, strings.Repeat("long", 40)), nil, 0o600))
	w.Click("#refresh")
	w.WaitText("longlong")
	w.Wait("no scrollbar below the files", `(() => { const n = document.querySelector("nav"); return n.scrollWidth <= n.clientWidth; })()`)
	w.Shots("workspace-inside")
}

// A workspace that stops says what to do, and its name is on the page.
func TestPageOfAWorkspaceThatStops(t *testing.T) {
	handler, err := inside.New(inside.Config{Home: t.TempDir(), Shell: []string{"/bin/sh"}, Name: "blue <b>"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	b := &bench{T: t, server: server}
	b.want(http.StatusNoContent, "GET", "/favicon.ico", "")
	w := b.open()
	w.Wait("its name", `document.title === "blue <b> – workspace" && document.querySelector("h1").textContent === "blue <b>"`)
	if w.Is(`document.querySelector("#lost").checkVisibility()`) {
		t.Error("it has stopped before it has")
	}
	w.Quiet()
	b.ok(handler.Close())
	server.CloseClientConnections()
	server.Listener.Close()
	w.WaitText("The workspace has stopped, or cannot be reached. Reload the page to wake it.")
	if !w.Is(`document.querySelector("#reload").checkVisibility()`) {
		t.Error("there is no button")
	}
}

// A page without a name says where it is.
func TestPageWithoutAName(t *testing.T) {
	w := newBench(t).open()
	w.Wait("its host", `document.querySelector("h1").textContent === location.hostname`)
}
