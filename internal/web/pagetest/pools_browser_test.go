package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A pool that one person makes is on the page of another, without a reload; who
// may only look has no buttons.
func TestBrowserPools(t *testing.T) {
	s := webtest.Start(t)
	maker, looker := s.Open(t), s.Open(t)
	maker.Login(s.User(t, "mia", auth.Maintainer))
	looker.Login(s.User(t, "vera", auth.Viewer))
	looker.Go("/pools")
	looker.WaitLive()
	looker.WaitText("No pool yet")
	looker.Wait("a mark", `(window.mark = true)`)

	maker.Go("/pools")
	maker.ClickText("New pool")
	maker.Wait("the form", `document.querySelector("#ask[open] #question")`)
	maker.Fill("#ask #field-name", "encoders")
	maker.Fill("#ask #field-size", "3")
	maker.ClickText("Create the pool")
	maker.WaitText("3 tasks at once")
	looker.WaitText("encoders")
	looker.WaitText("0 of 3")
	if !looker.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
	if looker.Is(`document.querySelector("[data-confirm], a[href='/new-pool'], main form[method=post]")`) {
		t.Error("a viewer has a button")
	}

	// Changed and deleted, the list follows.
	maker.ClickText("Limits")
	maker.Fill("#ask #field-size", "7")
	maker.ClickText("Set the limits")
	looker.WaitText("0 of 7")
	maker.WaitText("7 tasks at once")
	maker.ClickText("Delete")
	maker.WaitText("Nothing uses it now")
	maker.ClickText("Delete the pool")
	looker.WaitText("No pool yet")
	if !looker.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
}
