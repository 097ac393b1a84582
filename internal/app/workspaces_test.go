package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/inside/program"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// insideProcess is the main of a workspace.
func insideProcess(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := program.Run(ctx, args, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// anybody makes a user of a server and says who it is.
func anybody(t *testing.T, db *testdb.DB, name string, role auth.Role) weir.ID {
	t.Helper()
	u, err := auth.New(db.Pool, auth.Options{}).CreateUser(t.Context(), auth.System("test"), auth.NewUser{Name: name, Role: role, Password: webtest.Password})
	if err != nil {
		t.Fatal(err)
	}
	id, err := weir.ParseID(u.ID)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// lodging is where workspaces of a test live.
type lodging struct {
	provider string
	// role is the least that may have one there.
	role   auth.Role
	config Config
	// left is what is there of workspaces, beside the database and the bucket.
	left func() []string
	// more is what else can be seen there; nil: nothing.
	more func(*tenancy)
}

// onThisMachine runs workspaces as processes.
func onThisMachine(t *testing.T) lodging {
	data := t.TempDir()
	return lodging{provider: workspace.OnThisMachine, role: auth.Admin, config: Config{Data: data}, left: func() []string {
		left, err := filepath.Glob(filepath.Join(data, workspaceFolder, "volumes", "ws-*"))
		if err != nil {
			t.Fatal(err)
		}
		return left
	}}
}

// The whole life of a workspace, as a person sees it in a browser, wherever it runs: made by the form, it
// runs; a file is written in its terminal; nobody uses it, so it is stopped and archived,
// and nothing of it is left where it ran; opened again through the proxy, it has the file.
func TestBrowserWorkspaces(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(*testing.T) lodging{workspace.OnThisMachine: onThisMachine, onDocker: inContainers} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live(t, at(t))
		})
	}
}

// tenancy is one workspace, seen by its owner in two windows: one works, the other stays
// on the list all the time.
type tenancy struct {
	*testing.T
	lodging
	b, list *webtest.Browser
	// page is where the workspace is shown.
	page string
}

// live is the life of a workspace.
func live(t *testing.T, at lodging) {
	db := testdb.New(t)
	at.config.DatabaseURL, at.config.WorkspaceProviders = db.URL, []string{at.provider}
	at.config.WorkspaceStandbyTTL, at.config.WorkspaceArchiveTTL = 5*time.Minute, 10*time.Second
	r := up(t, at.config, Options{})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	anybody(t, db, "ada", at.role)
	window := func() *webtest.Browser {
		b := (&webtest.Server{URL: "http://" + r.listen}).Open(t)
		b.Login(webtest.Account{Name: "ada", Password: webtest.Password})
		b.Go("/workspaces")
		b.WaitText("No workspace yet")
		return b
	}
	w := &tenancy{T: t, lodging: at, b: window(), list: window()}
	w.begins()
	w.writes()
	w.rests()
	w.returns()
	phases := w.list.Value(`window.seen.join(" ")`)
	if !lifeForm.MatchString(phases) {
		t.Errorf("the list, which nobody has loaded again, showed %q", phases)
	}
	if w.more != nil {
		w.more(w)
	}
	w.ends()
	testwait.Every(t, 100*time.Millisecond, "nothing is left", func() bool { return len(w.left()) == 0 })
}

// lifeForm is what the list shows of a life. What lasts for a moment may be missed.
var lifeForm = regexp.MustCompile(`^(PENDING )?(STANDBY )?RUNNING STANDBY ARCHIVED (STANDBY )?RUNNING$`)

// watch notes every phase that a window shows from now on, as long as its page is not
// loaded again.
func watch(b *webtest.Browser, selector string) {
	b.WaitLive()
	b.Wait("a watch", `(window.seen = [], window.look = () => {
		const now = document.querySelector('`+selector+`')?.dataset.phase;
		if (now && window.seen.at(-1) !== now) window.seen.push(now);
	}, window.look(), new MutationObserver(window.look).observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true}), true)`)
}

// shots keeps pictures, of one provider: on the other it looks the same.
func (w *tenancy) shots(name string) {
	if w.provider == workspace.OnThisMachine {
		w.b.Shots(name)
	}
}

// begins: it is made by the form, and runs.
func (w *tenancy) begins() {
	b := w.b
	watch(w.list, `.workspace-card[data-name="notes"]`)
	w.shots("workspaces-empty")
	w.makes("notes", "")
	w.page = b.Value("location.pathname")
	b.Wait("the countdown", `document.querySelector('[data-next="stops"] time[data-rel="until"]')`)
	w.shots("workspace-running")
}

// makes fills in the form for a new one, and waits until it runs.
func (w *tenancy) makes(name, image string) {
	b := w.b
	for asked := false; !asked; {
		b.Go("/workspaces")
		b.ClickText("New workspace")
		// On a machine where Docker is slow to answer, the question may come as a page of its own.
		b.Wait("the question", `document.querySelector("#ask[open] #question") || location.pathname !== "/workspaces"`)
		asked = b.Value("location.pathname") == "/workspaces"
	}
	b.Shot("workspace-question")
	b.Fill("#ask [name=name]", name)
	if image != "" {
		b.Fill("#ask [name=image]", image)
		b.Fill("#ask [name=archive_ttl]", "30m") // longer than anything here
	}
	b.Click("#ask button[type=submit]")
	b.Wait("its page", `location.pathname.startsWith("/workspaces/")`)
	b.WaitLive()
	b.Wait("that it runs", `document.querySelector('.page-head [data-phase="RUNNING"]')`)
}

// writes: a file is written in the terminal.
func (w *tenancy) writes() {
	b := w.b
	b.Go(w.page + "/open")
	b.Wait("the workspace on a host of its own", `location.host.startsWith("ws-") && document.querySelector("#screen")`)
	b.Wait("a prompt", `document.querySelector("#screen").textContent.trim() !== "" && document.querySelector("#line").textContent === ""`)
	b.Wait("the focus", `(document.querySelector("#keyboard").focus(), document.activeElement.id === "keyboard")`)
	b.Keys("echo kept >today.txt; cat today.txt\r")
	b.Wait("what the shell says", `document.querySelector("#screen").textContent.split("\n").some((l) => l.trim() === "kept")`)
	b.Shot("workspace-terminal")
}

// stopsAfter changes the time after which it is stopped; none: that of the policy.
func (w *tenancy) stopsAfter(text string) {
	b := w.b
	b.ClickText("Change")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Fill("#ask [name=standby_ttl]", text)
	b.Click("#ask button[type=submit]")
	b.Wait("the end of the question", `!document.querySelector("#ask[open]")`)
}

// rests: nobody uses it. Every phase is seen on the open page.
func (w *tenancy) rests() {
	b := w.b
	b.Go(w.page)
	b.WaitLive()
	w.stopsAfter("25s") // long enough to begin to watch it on a busy machine
	b.Wait("its page", `location.pathname === "`+w.page+`"`)
	watch(b, ".page-head [data-phase]")
	b.Wait("that it was stopped", `document.querySelector('.page-head [data-phase="STANDBY"]')`)
	b.Wait("the countdown to the archive", `document.querySelector('[data-next="archives"] time[data-rel="until"]')`)
	b.Wait("that it was archived", `document.querySelector('.page-head [data-phase="ARCHIVED"]')`)
	if seen := b.Value(`window.seen.join(" ")`); seen != "RUNNING STANDBY ARCHIVED" {
		w.Errorf("the page showed %q", seen)
	}
	b.Wait("its archive", `document.querySelector('tr[data-current]')`)
	w.shots("workspace-archived")
	if left := w.left(); len(left) > 0 {
		w.Errorf("it is archived, and there is %q", left)
	}
	// It is archived until somebody opens it. The list is drawn again by itself, at its own time.
	w.list.Wait("the list to show it archived", `document.querySelector('.workspace-card[data-name="notes"][data-phase="ARCHIVED"]')`)
	w.stopsAfter("")
}

// returns: opened again, it comes back with the file.
func (w *tenancy) returns() {
	b := w.b
	b.Go(w.page + "/open")
	b.Wait("the file", `[...document.querySelectorAll("#files button")].some((e) => e.textContent === "today.txt")`)
	b.Go("/workspaces")
	b.WaitLive()
	b.Wait("its card", `document.querySelector('.workspace-card[data-name="notes"][data-phase="RUNNING"]')`)
	w.list.Wait("its card", `document.querySelector('.workspace-card[data-name="notes"][data-phase="RUNNING"]')`)
	w.shots("workspaces")
}

// ends: it is deleted, in another language.
func (w *tenancy) ends() {
	b := w.b
	b.Go("/workspaces")
	b.Click("#user-button")
	b.ClickText("한국어")
	b.WaitText("워크스페이스")
	b.Go(w.page)
	w.shots("workspace-ko")
	b.ClickText("삭제")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Click("#ask button[type=submit]")
	b.Wait("the list", `location.pathname === "/workspaces"`)
	b.Wait("no card", `!document.querySelector('.workspace-card[data-name="notes"]')`)
}

// A server that ends stops what runs as processes of its machine; the next one starts it
// again, with its home.
func TestWorkspacesComeBackWithTheServer(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	data := t.TempDir()
	config := Config{DatabaseURL: db.URL, Data: data}
	r := up(t, config, Options{})
	store := workspace.New(db.Pool)
	id, _, err := store.Create(t.Context(), "ada", workspace.Draft{Owner: anybody(t, db, "ada", auth.Admin), Name: "notes", Provider: workspace.OnThisMachine})
	if err != nil {
		t.Fatal(err)
	}
	runs := func() bool {
		w, err := store.Workspace(t.Context(), id)
		return err == nil && w.Phase == ladder.Running && w.Operation == ladder.None
	}
	testwait.Until(t, "it runs", runs)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.out.String(), "1 stopped; they come back with the next start") {
		t.Errorf("nothing was stopped:\n%s", r.out.String())
	}
	before, err := store.Log(t.Context(), id, pageOf(100))
	if err != nil {
		t.Fatal(err)
	}
	again := up(t, config, Options{})
	testwait.Until(t, "it runs again", func() bool {
		log, err := store.Log(t.Context(), id, pageOf(100))
		return err == nil && len(log) > len(before) && runs()
	})
	if err := again.stop(); err != nil {
		t.Fatal(err)
	}
}

// The demo has two workspaces as soon as there is an admin to have them.
func TestDemoHasWorkspaces(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	r := up(t, Config{DatabaseURL: db.URL}, Options{Demo: true})
	owner := anybody(t, db, "ada", auth.Admin)
	store := workspace.New(db.Pool)
	testwait.Until(t, "one runs and one is archived", func() bool {
		list, err := store.List(t.Context(), workspace.Filter{Owner: owner}, pageOf(10))
		phases := map[string]ladder.Phase{}
		for _, w := range list {
			phases[w.Name] = w.Phase
		}
		return err == nil && phases["playground"] == ladder.Running && phases["sleeper"] == ladder.Archived
	})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
}

// Hosts of workspaces reach the proxy, the dashboard's own host does not, and neither
// serves what belongs to the other.
func TestWorkspaceHostsAreApart(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	id := "01a1e14c-0971-7001-8a7c-da12f73dee60"
	host := "ws-" + id + ".localhost"
	for _, path := range []string{"/login", "/api/v1/workspaces", "/healthz", "/metrics", "/assets/weir.css"} {
		got := f.ask("GET", path, calling(host))
		if got.StatusCode == 200 || strings.Contains(got.Header.Get("Content-Type"), "json") {
			t.Errorf("%s on the host of a workspace: %d %s", path, got.StatusCode, got.Header.Get("Content-Type"))
		}
	}
	if got := f.ask("GET", "/_weir/enter?code=x"); got.StatusCode == 200 {
		t.Errorf("the dashboard takes codes of workspaces: %d", got.StatusCode)
	}
}

func pageOf(limit int) view.Page { return view.Page{Limit: limit} }
