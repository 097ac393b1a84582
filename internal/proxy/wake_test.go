package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// boxes is the provider of processes under another name, so that users who are no admins
// may open them.
type boxes struct{ *process.Provider }

func (boxes) Name() string { return "boxes" }

// term lasts as long as the test.
type term struct {
	ctx   context.Context
	group *sync.WaitGroup
}

func (term) QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error {
	return pool.QueryRow(ctx, sql, args...).Scan(into...)
}

func (t term) Go(f func(context.Context)) { t.group.Go(func() { f(t.ctx) }) }

// newBoxes returns a provider of real processes; led runs a controller for it.
func newBoxes(t *testing.T) boxes {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return boxes{process.New(process.Config{Dir: t.TempDir(), Program: program, Args: []string{"inside", "serve"}, Grace: 5 * time.Second})}
}

func (r *rig) led(b boxes) {
	r.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
	var group sync.WaitGroup
	c := workspace.NewController(workspace.Config{Pool: r.db.Pool, Providers: []provider.Provider{b}, Bucket: blobtest.Folder(r.TB), Log: slog.New(slog.NewTextHandler(r.Output(), nil))}, term{ctx, &group})
	group.Go(func() {
		for loop.Wait(ctx, 50*time.Millisecond, nil) {
			if _, err := c.Tick(ctx); err != nil && ctx.Err() == nil {
				r.Error(err)
			}
		}
	})
	r.Cleanup(func() {
		stop()
		group.Wait()
		w, err := b.Look(context.Background())
		r.ok(err)
		for id := range w.Containers {
			r.ok(b.Stop(context.Background(), id))
		}
	})
}

func (r *rig) phase(id weir.ID, want ladder.Phase) {
	r.Helper()
	testwait.Every(r.TB, 50*time.Millisecond, "phase "+string(want), func() bool {
		w, err := r.store.Workspace(r.Context(), id)
		r.ok(err)
		return w.Phase == want && w.Operation == ladder.None
	})
}

func (r *rig) wanted(id weir.ID) int {
	r.Helper()
	return scan[int](r, `select count(*) from weir.events where kind = 'workspace' and type = 'wanted' and subject = $1`, id.String())
}

// told reads the stream of a waiting page until it tells the page to load.
func (p *person) told(address string, headers ...header) (lines []string) {
	p.Helper()
	q, err := http.NewRequestWithContext(p.rig.Context(), "GET", address, nil)
	p.ok(err)
	q.Header.Set("Accept", "text/event-stream")
	for _, h := range headers {
		q.Header.Set(h[0], h[1])
	}
	a, err := p.browser.Do(q)
	p.ok(err)
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/event-stream" {
		p.Fatalf("%d %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	for s := bufio.NewScanner(a.Body); s.Scan(); {
		text, isData := strings.CutPrefix(s.Text(), "data: ")
		if !isData {
			continue
		}
		var told struct {
			Title string
			Go    bool
		}
		p.ok(json.Unmarshal([]byte(text), &told))
		lines = append(lines, told.Title)
		if told.Go {
			return lines
		}
	}
	p.Fatalf("the stream ended: %v", lines)
	return nil
}

// The whole path on real parts: many open a workspace on standby at once; it starts once,
// the pages show its progress, and it answers.
func TestWake(t *testing.T) {
	t.Parallel()
	b := newBoxes(t)
	r := newRig(t, func(s *setup) { s.providers = append(s.providers, b) })
	r.led(b)
	ann := r.user("ann", auth.Operator)
	owner, err := weir.ParseID(ann.UserID)
	r.ok(err)
	id, _, err := r.store.Create(t.Context(), "ann", workspace.Draft{Owner: owner, Name: "first", Provider: "boxes", Desired: ladder.Standby})
	r.ok(err)
	r.phase(id, ladder.Standby)
	link, err := r.store.Open(t.Context(), ann.Subject, id, r.at, "/?folder=x")
	r.ok(err)
	r.wants("enter", ann.once("GET", link), http.StatusSeeOther)

	var group sync.WaitGroup
	pages := make(chan answer, 12)
	for range cap(pages) {
		group.Go(func() { pages <- ann.once("GET", r.at.URL(id)+"/?folder=x", html) })
	}
	group.Wait()
	close(pages)
	for a := range pages {
		if a.StatusCode != http.StatusServiceUnavailable && a.StatusCode != http.StatusOK {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
		if a.StatusCode == http.StatusServiceUnavailable {
			for _, part := range []string{"waking up", `http-equiv="refresh"`, `data-stream="/_weir/live`, "first"} {
				if !strings.Contains(a.body, part) {
					t.Errorf("the page lacks %s:\n%s", part, a.body)
				}
			}
			if a.Header.Get("Retry-After") == "" || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%v", a.Header)
			}
		}
	}
	if n := r.wanted(id); n != 1 {
		t.Errorf("it was wanted %d times", n)
	}
	ann.told(r.at.URL(id) + "/_weir/live")
	a := ann.once("GET", r.at.URL(id)+"/?folder=x", html)
	r.wants("awake", a, http.StatusOK)
	if scan[string](r, `select source from weir.events where type = 'wanted' and subject = $1`, id.String()) != "ann" {
		t.Error("it is not said who woke it")
	}
	// The workspace dies in the middle of a WebSocket: the WebSocket ends, and the page
	// waits for the next start.
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(r.at.URL(id), "http", "ws", 1)+"/terminal", &websocket.DialOptions{HTTPClient: ann.browser, Subprotocols: []string{"weir.terminal"}})
	r.ok(err)
	defer conn.CloseNow()
	_ = b.Stop(t.Context(), id) // the controller may have started it again before Stop checks that it is gone
	for err == nil {
		_, _, err = conn.Read(t.Context())
	}
	if a := ann.once("GET", r.at.URL(id)+"/", html); a.StatusCode == http.StatusServiceUnavailable && !strings.Contains(a.body, "data-stream") {
		t.Errorf("%s", a.body)
	}
	ann.told(r.at.URL(id) + "/_weir/live")
	r.wants("awake again", ann.once("GET", r.at.URL(id)+"/", html), http.StatusOK)
}

// In a real browser: the waiting page follows the progress, loads the workspace by
// itself, and typing there counts as use.
func TestWakeInABrowser(t *testing.T) {
	t.Parallel()
	b := newBoxes(t)
	r := newRig(t, func(s *setup) { s.providers = append(s.providers, b) })
	r.led(b)
	ann := r.user("ann", auth.Operator)
	owner, err := weir.ParseID(ann.UserID)
	r.ok(err)
	id, _, err := r.store.Create(t.Context(), "ann", workspace.Draft{Owner: owner, Name: "first", Provider: "boxes", Desired: ladder.Archived})
	r.ok(err)
	r.phase(id, ladder.Archived)
	link, err := r.store.Open(t.Context(), ann.Subject, id, r.at, "/")
	r.ok(err)
	chrome := (&webtest.Server{URL: r.at.URL(id)}).Open(t)
	chrome.Quiet() // the console reports a page that is not there yet as an error
	chrome.Go(strings.TrimPrefix(link, r.at.URL(id)))
	chrome.Wait("the workspace", `!document.querySelector("main[data-stream]") && document.querySelector("#terminal, textarea, #files") !== null`)
	if !chrome.Is(`document.cookie === ""`) {
		t.Error("a script sees the cookie")
	}
	testwait.Until(t, "typing to count", func() bool {
		chrome.Is(`(() => { window.typed ||= new WebSocket("ws://" + location.host + "/terminal", ["weir.terminal"]); if (typed.readyState === 1) typed.send(new TextEncoder().encode("x")); return true })()`)
		_, source := r.meter.Last(id)
		return source == "terminal"
	})
}

// Background requests of a page wake nothing, because a tab that is left open would undo
// the stop for lack of use.
func TestATabWakesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", echo)
	ann.enter(id)
	r.exec(`update weir.workspaces set phase = 'STANDBY', desired = 'STANDBY'`)
	testwait.Until(t, "the proxy to see it", func() bool {
		return ann.once("POST", r.at.URL(id)+"/x", header{"Sec-Fetch-Mode", "cors"}, header{"Sec-Fetch-Site", "same-origin"}).StatusCode == http.StatusServiceUnavailable
	})
	mozilla := header{"User-Agent", "Mozilla/5.0"}
	for name, headers := range map[string][]header{
		"fetch":            {{"Sec-Fetch-Mode", "cors"}, {"Sec-Fetch-Site", "same-origin"}, {"Accept", "*/*"}},
		"an old browser":   {mozilla, {"Accept", "*/*"}},
		"a picture":        {{"Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Site", "same-origin"}},
		"prefetch":         {html, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Site", "none"}, {"Sec-Purpose", "prefetch"}},
		"an event stream":  {mozilla, {"Accept", "text/event-stream"}},
		"a page's request": {{"Origin", r.at.URL(id)}},
	} {
		a := ann.once("GET", r.at.URL(id)+"/x", headers...)
		r.wants(name, a, http.StatusServiceUnavailable)
	}
	if _, status, err := ann.dial(id, nil); err == nil || status != http.StatusServiceUnavailable {
		t.Errorf("a WebSocket: %d %v", status, err)
	}
	if n := r.wanted(id); n != 0 {
		t.Fatalf("it was wanted %d times", n)
	}
	// The request of a program does wake it, and gets JSON.
	a := ann.once("GET", r.at.URL(id)+"/x", header{"Accept", "application/json"})
	r.wants("a program", a, http.StatusServiceUnavailable)
	var told map[string]any
	r.ok(json.Unmarshal([]byte(a.body), &told))
	if told["code"] != "waking" || told["phase"] != "STANDBY" || a.Header.Get("Content-Type") != "application/problem+json" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s %v", a.body, a.Header)
	}
	if n := r.wanted(id); n != 1 {
		t.Errorf("it was wanted %d times", n)
	}
}

// A person reads in their language, also while the page continues by itself; a program does
// not.
func TestPagesSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says(""))
	ann.enter(id)
	r.exec(`update weir.workspaces set phase = 'PENDING', operation = 'PROVISIONING', op_id = gen_random_uuid(), op_started_at = now(), op_progress_at = now()`)
	korean := header{"Accept-Language", "ko-KR,ko;q=0.9,en;q=0.8"}
	testwait.Until(t, "it is seen", func() bool {
		return strings.Contains(ann.once("GET", r.at.URL(id)+"/", html, korean).body, "워크스페이스를 만들고 있습니다")
	})
	page := ann.once("GET", r.at.URL(id)+"/", html, korean)
	for _, part := range []string{`<html lang="ko">`, "홈을 만들고 있습니다.", "대시보드", `aria-label="기다리는 중"`} {
		if !strings.Contains(page.body, part) {
			t.Errorf("the page lacks %s:\n%s", part, page.body)
		}
	}
	if page.Header.Get("Vary") != "Accept-Language" {
		t.Errorf("%v", page.Header)
	}
	if program := ann.once("GET", r.at.URL(id)+"/", header{"Accept", "application/json"}, korean); !strings.Contains(program.body, "The workspace is being made") {
		t.Errorf("%s", program.body)
	}
	r.exec(`update weir.workspaces set phase = 'RUNNING', operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null`)
	if lines := ann.told(r.at.URL(id)+"/_weir/live", korean); lines[len(lines)-1] != "준비되었습니다" {
		t.Errorf("%q", lines)
	}
}

// Over the limit there is a list of what runs, for people and for programs.
func TestOverTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "third", "RUNNING", says(""))
	ann.enter(id)
	r.exec(`update weir.workspaces set phase = 'STANDBY', desired = 'STANDBY'`)
	r.made(ann, "first", "RUNNING", nil)
	r.made(ann, "second", "RUNNING", nil)
	testwait.Until(t, "the limit", func() bool { return ann.once("GET", r.at.URL(id)+"/", html).StatusCode == http.StatusTooManyRequests })
	a := ann.once("GET", r.at.URL(id)+"/", html)
	for _, part := range []string{">first<", ">second<", "Try again", r.server.URL + "/workspaces/"} {
		if !strings.Contains(a.body, part) {
			t.Errorf("the page lacks %s:\n%s", part, a.body)
		}
	}
	if strings.Contains(a.body, "refresh") || a.Header.Get("Retry-After") == "" {
		t.Error("the page tries again by itself")
	}
	a = ann.once("GET", r.at.URL(id)+"/", header{"Accept", "application/json"})
	var told struct {
		Code string
		Data workspace.Limit
	}
	r.wants("JSON", a, http.StatusTooManyRequests)
	r.ok(json.Unmarshal([]byte(a.body), &told))
	if told.Code != "too_many" || told.Data.Type != "user" || told.Data.Max != 2 || told.Data.Current != 2 || len(told.Data.Running) != 2 {
		t.Errorf("%s", a.body)
	}
	if a = ann.once("GET", r.at.URL(id)+"/"); !strings.Contains(a.body, "- first (RUNNING)") {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	link, err := r.store.Open(t.Context(), ann.Subject, id, r.at, "/")
	r.ok(err)
	chrome := (&webtest.Server{URL: r.at.URL(id)}).Open(t)
	chrome.Quiet() // the console reports the refusal as an error
	chrome.Go(strings.TrimPrefix(link, r.at.URL(id)))
	chrome.WaitText("2 workspaces run already, and that is the limit")
	chrome.Wait("the style", `getComputedStyle(document.body).display === "grid"`)
	chrome.Shots("workspace-limit")
	if r.wanted(id) != 0 {
		t.Error("it was wanted over the limit")
	}
}

// A workspace that does not take requests is explained with the reason and the next step;
// names and messages are shown as text.
func TestPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says(""))
	ann.enter(id)
	for name, test := range map[string]struct {
		set    string
		status int
		retry  bool
		parts  []string
		lacks  string
	}{
		"error":       {`phase = 'ERROR', error_reason = 'ImagePullFailed', error_message = '<script>alert(1)</script>'`, 503, true, []string{"ImagePullFailed", "&lt;script&gt;", "weir workspace recover first"}, "<script>alert"},
		"pending":     {`phase = 'PENDING', operation = 'PROVISIONING', op_id = gen_random_uuid(), op_started_at = now(), op_progress_at = now()`, 503, true, []string{"is being made", "Its home is being made.", "data-stream"}, ""},
		"restoring":   {`phase = 'ARCHIVED', desired = 'RUNNING', operation = 'RESTORING', op_id = gen_random_uuid(), op_started_at = now(), op_progress_at = now(), op_progress = '<b>12 files</b>'`, 503, true, []string{"waking up", "brought back from the archive", "&lt;b&gt;12"}, "<b>"},
		"gone":        {`desired = 'DELETED', deleted_at = now(), phase = 'DELETING'`, 410, false, []string{"is deleted"}, "data-stream"},
		"unreachable": {`provider = 'elsewhere'`, 503, true, []string{"does not answer", "data-stream"}, ""},
	} {
		r.exec(`update weir.workspaces set phase = 'RUNNING', desired = 'RUNNING', deleted_at = null, operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null, error_reason = null, provider = 'stage'`)
		r.exec(`update weir.workspaces set ` + test.set)
		testwait.Until(t, name, func() bool { return ann.once("GET", r.at.URL(id)+"/", html).StatusCode == test.status })
		a := ann.once("GET", r.at.URL(id)+"/", html)
		for _, part := range test.parts {
			if !strings.Contains(a.body, part) {
				t.Errorf("%s lacks %s:\n%s", name, part, a.body)
			}
		}
		if test.lacks != "" && strings.Contains(a.body, test.lacks) {
			t.Errorf("%s has %s", name, test.lacks)
		}
		if (a.Header.Get("Retry-After") != "") != test.retry || !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'") || a.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", name, a.Header)
		}
		if a = ann.once("GET", r.at.URL(id)+"/x", header{"Accept", "*/*"}); a.StatusCode != test.status || a.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s for a program: %d %v", name, a.StatusCode, a.Header)
		}
	}
	r.exec(`update weir.workspaces set phase = 'RUNNING', desired = 'RUNNING', deleted_at = null, operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null, error_reason = null, provider = 'stage'`)
	for path, kind := range map[string]string{"/_weir/page.css": "text/css; charset=utf-8", "/_weir/page.js": "text/javascript; charset=utf-8"} {
		if a := ann.once("GET", r.at.URL(id)+path); a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/_weir/", "/_weir/page.html", "/_weir/../x", "/%5fweir/page.html"} {
		if a := ann.once("GET", r.at.URL(id)+path); a.StatusCode == http.StatusOK && strings.Contains(a.body, "Weir") {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
	}
}

// While a workspace is being stopped no other phase can be requested: the page waits, and
// wakes it afterwards.
func TestWakeAfterAStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says("back"))
	ann.enter(id)
	r.exec(`update weir.workspaces set phase = 'STANDBY', desired = 'ARCHIVED', operation = 'ARCHIVING', op_id = gen_random_uuid(), op_started_at = now(), op_progress_at = now()`)
	testwait.Until(t, "the page", func() bool {
		return ann.once("GET", r.at.URL(id)+"/", html).StatusCode == http.StatusServiceUnavailable
	})
	a := ann.once("GET", r.at.URL(id)+"/", html)
	if !strings.Contains(a.body, `data-stream="/_weir/live?wake=1"`) || !strings.Contains(a.body, "comes back then") {
		t.Errorf("%s", a.body)
	}
	done := make(chan []string, 1)
	go func() { done <- ann.told(r.at.URL(id) + "/_weir/live?wake=1") }()
	r.exec(`update weir.workspaces set phase = 'ARCHIVED', operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null`)
	testwait.Until(t, "that it is wanted", func() bool { return r.wanted(id) == 1 })
	r.exec(`update weir.workspaces set phase = 'RUNNING'`)
	if lines := <-done; lines[len(lines)-1] != "Here it is" {
		t.Errorf("%v", lines)
	}
	// The same for one that is being stopped and no longer answers.
	r.exec(`update weir.workspaces set desired = 'STANDBY', operation = 'STOPPING', op_id = gen_random_uuid(), op_started_at = now(), op_progress_at = now(), provider = 'elsewhere'`)
	testwait.Until(t, "the page", func() bool {
		return ann.once("GET", r.at.URL(id)+"/", html).StatusCode == http.StatusServiceUnavailable
	})
	if a := ann.once("GET", r.at.URL(id)+"/", html); !strings.Contains(a.body, `data-stream="/_weir/live?wake=1"`) {
		t.Errorf("%s", a.body)
	}
	r.exec(`update weir.workspaces set operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null, provider = 'stage'`)
	// A stream without wake wakes nothing, and tells the page when waiting is useless.
	r.exec(`update weir.workspaces set phase = 'STANDBY', desired = 'STANDBY'`)
	go func() { done <- ann.told(r.at.URL(id) + "/_weir/live") }()
	testwait.Until(t, "the stream", func() bool { return r.proxy.Streams() == 1 })
	if r.wanted(id) != 1 {
		t.Error("looking has woken it")
	}
	r.exec(`update weir.workspaces set phase = 'ERROR', error_reason = 'DataLost'`)
	<-done
}

// A stream is for guests with a valid visit, as long as it is valid.
func TestLiveIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says(""))
	ann.enter(id)
	r.exec(`update weir.workspaces set phase = 'STANDBY', desired = 'STANDBY'`)
	r.wants("nobody", (&person{rig: r, browser: r.browser()}).once("GET", r.at.URL(id)+"/_weir/live"), http.StatusUnauthorized)
	q, err := http.NewRequestWithContext(t.Context(), "GET", r.at.URL(id)+"/_weir/live", nil)
	r.ok(err)
	a, err := ann.browser.Do(q)
	r.ok(err)
	defer a.Body.Close()
	lines := bufio.NewScanner(a.Body)
	if !lines.Scan() {
		t.Fatal("it says nothing")
	}
	r.ok(r.users.Logout(t.Context(), ann.secret))
	r.ok(r.proxy.Look(t.Context()))
	for lines.Scan() {
	}
	testwait.Until(t, "the seat to be free", func() bool { return r.proxy.Streams() == 0 })
	r.wants("after the logout", ann.once("GET", r.at.URL(id)+"/_weir/live"), http.StatusUnauthorized)
}
