package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A node is drained with a reason in a dialog, and the page says so; what others
// do with it shows by itself, buttons included.
func TestBrowserDrain(t *testing.T) {
	s := webtest.Start(t)
	s.Exec(t, `select weir.register_node('pc1', '{"gpu": "a100"}', '{"encode": 4}')`)
	b := s.Open(t)
	b.Login(s.User(t, "mia", auth.Maintainer))
	b.Go("/nodes/pc1")
	b.WaitLive()
	b.ClickText("Drain")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.WaitText("0 tasks run there now")
	b.Fill("#ask #field-reason", "new disks")
	b.ClickText("Drain the node")
	b.WaitText("pc1 drains: it takes nothing new.")
	b.WaitText("new disks")
	b.Wait("the button back", `[...document.querySelectorAll("a.btn")].some((e) => e.innerText.trim() === "Resume")`)
	b.WaitLive()
	b.Wait("a mark", `(window.mark = true)`)
	s.Exec(t, `select weir.set_node_mode('pc1', 'active')`)
	b.Wait("an active node with a button to drain", `document.querySelector("h1").innerText.includes("active") && [...document.querySelectorAll("a.btn")].some((e) => e.innerText.trim() === "Drain")`)
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
}
