package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// The timeline grows at its top, and the line that somebody reads stays where it
// is; an event of the audit never shows up for a viewer.
func TestBrowserTimeline(t *testing.T) {
	s := webtest.Start(t)
	s.Exec(t, `select weir.set_pool(format('p%s', i), size => 1) from generate_series(1, 45) i`)
	b := s.Open(t)
	b.Login(s.User(t, "vera", auth.Viewer))
	b.Go("/timeline")
	b.WaitLive()
	b.WaitText("p45")
	b.Wait("a place to read", `(() => {
		window.row = [...document.querySelectorAll("tr.event")].find((e) => e.innerText.includes("p20"));
		window.row.scrollIntoView({block: "center"});
		window.row.querySelector("details").open = true;
		return window.scrollY > 200;
	})()`)
	b.Wait("its place", `(window.was = window.row.getBoundingClientRect().top) > 0`)
	if err := s.Auth.Audit(t.Context(), auth.System("sys"), "secret_type", "secret", nil); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, `select weir.set_pool(format('new%s', i), size => 1) from generate_series(1, 4) i`)
	b.WaitText("new4")
	// The browser keeps the place when it draws the next frame.
	b.Wait("the line at its place", `window.row.isConnected && window.row.querySelector("details").open && Math.abs(window.row.getBoundingClientRect().top - window.was) < 2`)
	if b.Is(`document.body.innerHTML.includes("secret")`) {
		t.Error("a viewer sees an event of the audit")
	}
}
