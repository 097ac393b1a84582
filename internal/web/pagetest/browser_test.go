package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// The first-run link makes the first user and logs in; log out and in again.
func TestBrowserFirstRun(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Go("/login")
	b.WaitText("Nobody can log in yet")
	b.Shots("login-first")
	b.Go(s.SetupLink(t))
	b.WaitText("Welcome to Weir")
	b.Shots("setup")
	b.Fill("#field-password", webtest.Password)
	b.Click("button[type=submit]")
	b.Wait("the page after", `location.pathname === "/"`)
	b.Go("/account")
	b.WaitText("admin")

	b.Click("#user-button")
	b.Click("#logout")
	b.WaitText("You are logged out")
	b.Shots("login")
	b.Fill("#field-name", "admin")
	b.Fill("#field-password", "wrong wrong wrong")
	b.Click("button[type=submit]")
	b.Wait("the refusal", `document.querySelector("[role=alert], .fault")`)
	b.Shots("login-refused")
	b.Login(webtest.Account{Name: "admin", Password: webtest.Password})
}

// The theme is chosen in the menu, kept, and there before the first paint.
func TestBrowserTheme(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Viewer))
	b.Go("/account")
	b.Click("#user-button")
	b.Click("[data-theme-choice=dark]")
	b.Wait("the dark theme", `getComputedStyle(document.documentElement).colorScheme === "dark"`)
	b.Shot("menu-dark")
	b.Go("/tokens")
	b.Wait("the dark theme on the next page", `document.documentElement.dataset.theme === "dark"`)
	b.Click("#user-button")
	b.Click("[data-theme-choice=system]")
	b.Wait("no theme of one's own", `!("theme" in document.documentElement.dataset)`)
}

// Every key of the help does what it says.
func TestBrowserKeys(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Admin))
	s.User(t, "bob", auth.Viewer)
	b.Go("/account")
	b.Keys("?")
	b.Wait("the help", `document.querySelector("#help").open`)
	b.WaitText("Go to jobs")
	b.Shots("help")
	b.Keys("\x1b")
	b.Wait("no help", `!document.querySelector("#help").open`)
	b.Keys("/")
	b.Wait("the search field", `document.activeElement.id === "search"`)
	b.Keys("\x1b")
	b.Wait("no field", `document.activeElement === document.body`)
	b.Keys("gu")
	b.Wait("users", `location.pathname === "/users" && document.querySelector("tr[data-href]") !== null && document.querySelector("#link-state").dataset.state === "live"`)
	b.Keys("jj")
	b.Wait("the second row", `document.activeElement.innerText === "bob"`)
	b.Keys("k")
	b.Wait("the first row", `document.activeElement.innerText === "ada"`)
	b.Keys("\r")
	b.Wait("the page of the row", `location.pathname === "/users/ada"`)
}

// Pictures of every page of the shell, and a look at each for what sticks out.
func TestBrowserShots(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Admin))
	s.User(t, "bob", auth.Operator)
	token := auth.NewToken{Name: "배포 파이프라인", Scopes: []string{"*:read", "task:submit"}, User: "ada"}
	if _, _, err := s.Auth.CreateToken(t.Context(), auth.System("test"), token); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"account": "/account", "users": "/users", "user": "/users/ada", "new-user": "/new-user", "tokens": "/tokens", "new-token": "/new-token",
		"settings": "/settings", "health": "/health", "doctor": "/health/doctor", "not-found": "/nothing", "search-empty": "/search", "search": "/search?q=nothing",
		"confirm": "/users/ada/disable",
	} {
		b.Go(path)
		b.Shots(name)
	}
}

// A page follows what happens: no reload, and the reader's place is kept.
func TestBrowserLive(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "mia", auth.Admin))
	b.Go("/users")
	b.WaitLive()
	b.Wait("a mark and a focus", `(window.mark = true, document.querySelector("a.row-link").focus(), document.activeElement.innerText === "mia")`)
	s.User(t, "ada", auth.Viewer)
	b.WaitText("ada")
	if !b.Is(`window.mark && document.activeElement.innerText === "mia"`) {
		t.Errorf("the page was loaded again, or lost its focus to %s", b.Value(`document.activeElement.outerHTML`))
	}

	// A line that breaks is noticed and mended, and what was missed is fetched.
	b.Quiet()
	s.Cut()
	s.User(t, "bob", auth.Viewer)
	b.WaitText("bob")
	b.WaitLive()
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}

	// Whoever is sent away is sent to the login.
	s.User(t, "root", auth.Admin)
	if err := s.Auth.Disable(t.Context(), auth.System("test"), "mia"); err != nil {
		t.Fatal(err)
	}
	b.Wait("the login", `location.pathname === "/login"`)
}

// What is hard to undo is asked about, in place, and said when it is done.
func TestBrowserConfirm(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	s.User(t, "bob", auth.Viewer)
	b.Login(s.User(t, "ada", auth.Admin))
	b.Go("/users/bob")
	b.ClickText("Disable")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.WaitText("Their sessions end now")
	b.Shots("confirm-dialog")
	b.ClickText("Keep it as it is")
	b.Wait("no question", `!document.querySelector("#ask").open && location.pathname === "/users/bob"`)
	b.ClickText("Disable")
	b.ClickText("Disable bob")
	b.Wait("the toast", `[...document.querySelectorAll(".toast")].some((e) => e.innerText.includes("bob is disabled."))`)
	b.Shot("toast")
	b.WaitText("Enable")
}

// Pages can be read and used without a script.
func TestWithoutScript(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Admin)
	// What a script would do has a plain way: links for questions, a form for
	// each action, times in words.
	c.Get(t, "/users/ada").Is(t, 200).Has(t, `href="/users/ada/link"`, `data-rel="ago">in 11h</time>`)
	c.Get(t, "/users/ada/link").Is(t, 200).Has(t, `<form id="question"`, `method="post"`)
}
