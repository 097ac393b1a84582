package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testwait"
)

// ShotsVariable names the environment variable with the folder for pictures.
const ShotsVariable = "WEIR_SCREENSHOTS"

// Browser is a window of Chromium with a profile of its own.
type Browser struct {
	t    testing.TB
	ctx  context.Context
	base string
	// quiet lets the page fail to load things, for tests that cut the line.
	quiet atomic.Bool
}

// Open opens a browser. It ends with the test.
func (s *Server) Open(t testing.TB) *Browser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium.open(t), chromedp.WithNewBrowserContext())
	b := &Browser{t: t, ctx: ctx, base: s.URL}
	var reading sync.WaitGroup
	t.Cleanup(func() {
		end, done := context.WithTimeout(ctx, 10*time.Second)
		defer done()
		if err := chromedp.Cancel(end); err != nil {
			t.Logf("close the browser: %v", err)
		}
		cancel()
		reading.Wait()
	})
	// The first call opens the window, which lives as long as its context.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil {
		t.Fatalf("open a window of Chromium: %v", err)
	}
	messages := chromedp.Console(ctx)
	reading.Go(func() { b.watch(messages) })
	return b
}

func findChromium(t testing.TB) string {
	t.Helper()
	// The first is Chromium without the frame of a browser, which is a page of its
	// own and costs three times as much as the one that is tested.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "CHROMIUM IS MISSING: no chromium, chromium-browser or google-chrome in PATH"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// watch fails the test on errors of the page: a broken policy, an exception.
func (b *Browser) watch(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		bad := m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException
		// A page that is refused on purpose is an error of the network.
		if bad && m.Source != "network" && !b.quiet.Load() && b.t.Context().Err() == nil {
			b.t.Errorf("the page complains: %s", m.Text)
		}
	}
}

// Quiet lets the page complain, for tests that take its server away.
func (b *Browser) Quiet() { b.quiet.Store(true) }

func (b *Browser) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Limit)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Shot("broken")
		b.t.Fatalf("%s: %v\n%s", what, err, b.text())
	}
}

// Go opens a path and waits until it is loaded.
func (b *Browser) Go(path string) {
	b.t.Helper()
	b.do("go to "+path, chromedp.Navigate(b.base+path))
}

// Click clicks on the first element of a CSS selector, once it is visible.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// ClickText clicks on the first link or button with a text.
func (b *Browser) ClickText(text string) {
	b.t.Helper()
	const mark = "data-webtest"
	b.Wait("a button "+text, fmt.Sprintf(`(() => {
		document.querySelectorAll("[%[1]s]").forEach((e) => e.removeAttribute("%[1]s"));
		const found = [...document.querySelectorAll("a, button, summary")].find((e) => e.checkVisibility() && e.innerText?.trim() === %[2]s);
		if (found) found.setAttribute("%[1]s", "");
		return !!found;
	})()`, mark, quote(text)))
	b.Click("[" + mark + "]")
}

// Fill replaces what stands in a field.
func (b *Browser) Fill(selector, text string) {
	b.t.Helper()
	// In the page, because chromedp reads the attributes of a node while it hears that they changed.
	b.Wait("the field "+selector, fmt.Sprintf(`((e) => {
		if (!e?.checkVisibility()) return false;
		e.focus();
		if (e.value && e.nodeName !== "SELECT") {
			e.value = "";
			e.dispatchEvent(new Event("input", {bubbles: true}));
		}
		return document.activeElement === e;
	})(document.querySelector(%s))`, quote(selector)))
	b.Keys(text)
}

// Keys types on the keyboard, wherever the focus is.
func (b *Browser) Keys(keys string) {
	b.t.Helper()
	b.do("type "+keys, chromedp.KeyEvent(keys))
}

// Login logs in through the form.
func (b *Browser) Login(a Account) {
	b.t.Helper()
	b.Go("/login")
	b.Fill("#field-name", a.Name)
	b.Fill("#field-password", a.Password)
	b.Click("button[type=submit]")
	b.Wait("the page after the login", `location.pathname !== "/login"`)
}

// Is evaluates an expression of JavaScript to true or false.
func (b *Browser) Is(expression string) bool {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Limit)
	defer cancel()
	// Between two pages there is nothing to ask; the next try tells.
	holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
	return err == nil && holds
}

// Value evaluates an expression of JavaScript to a text.
func (b *Browser) Value(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Limit)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return text
}

// Wait waits until an expression of JavaScript is true.
func (b *Browser) Wait(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Limit)
	defer cancel()
	for !b.Is(expression) {
		if !loop.Wait(ctx, 25*time.Millisecond, nil) {
			b.Shot("broken")
			b.t.Fatalf("%s: it did not happen within %s; the page says:\n%s", what, testwait.Limit, b.text())
		}
	}
}

// WaitText waits until the page shows a text; WaitGone until it does not.
func (b *Browser) WaitText(text string) {
	b.t.Helper()
	b.Wait("the text "+text, `document.body?.innerText.includes(`+quote(text)+`)`)
}

// WaitGone waits until the page does not show a text.
func (b *Browser) WaitGone(text string) {
	b.t.Helper()
	b.Wait("the end of the text "+text, `document.body && !document.body.innerText.includes(`+quote(text)+`)`)
}

// WaitLive waits until the page follows what happens.
func (b *Browser) WaitLive() {
	b.t.Helper()
	b.Wait("a live page", `document.querySelector("#link-state")?.dataset.state === "live"`)
}

// Size changes the size of the window.
func (b *Browser) Size(width, height int) {
	b.t.Helper()
	b.do("change the size", chromedp.EmulateViewport(int64(width), int64(height)))
}

// Theme sets the theme of this page.
func (b *Browser) Theme(name string) {
	b.t.Helper()
	b.Wait("the theme "+name, `(document.documentElement.dataset.theme = `+quote(name)+`)`)
}

func (b *Browser) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Limit)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.pathname + "\n" + (document.body ? document.body.innerText : "")`))
	if err != nil {
		return err.Error()
	}
	return text
}

// Shots keeps pictures of the page: light and dark, wide and narrow. It also
// checks that nothing sticks out at the side, whether pictures are kept or not.
func (b *Browser) Shots(name string) {
	b.t.Helper()
	for _, width := range []int{1280, 390} {
		b.Size(width, 800)
		b.shotThemes(fmt.Sprintf("%s-%d", name, width))
		if out := b.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); out != "0" {
			b.t.Errorf("%s is %s pixels wider than a window of %d: %s", name, out, width, b.Value(wide))
		}
	}
	b.Size(1280, 800)
}

// shotThemes keeps a picture of the page in each theme.
func (b *Browser) shotThemes(name string) {
	b.t.Helper()
	if os.Getenv(ShotsVariable) == "" {
		return // a theme changes colours, which only a picture shows
	}
	for _, theme := range []string{"light", "dark"} {
		b.Theme(theme)
		b.Shot(name + "-" + theme)
	}
	b.Wait("the theme of the system", `delete document.documentElement.dataset.theme`)
}

// wide names the elements that stick out.
const wide = `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).slice(0, 5).map((e) => e.tagName + "." + e.className).join(", ")`

// Shot keeps one picture of the page as it is.
func (b *Browser) Shot(name string) {
	b.t.Helper()
	folder := os.Getenv(ShotsVariable)
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Limit)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(folder, 0o750) // #nosec G703 -- whoever runs the test names the folder
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o600) // #nosec G703 -- the same
	}
	if err != nil {
		b.t.Errorf("keep a picture of %s: %v", name, err)
	}
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}
