package proxy_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testwait"
)

func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
}

// A browser that is logged in to the dashboard enters by itself and reaches the page it
// asked for; one that is not ends at the login.
func TestEnter(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"http": nil, "https": {secure}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options...)
			ann := r.user("ann", auth.Operator)
			id := r.made(ann, "first", "RUNNING", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				_, _ = io.WriteString(w, "inside "+q.URL.RequestURI())
			}))
			if a := ann.ask("GET", r.at.URL(id)+"/deep/path?x=1&y=a;b", html); a.StatusCode != http.StatusOK || a.body != "inside /deep/path?x=1&y=a;b" {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
			c := ann.cookie(id)
			if want := map[string]string{"http": "weir_workspace", "https": "__Host-weir_workspace"}[name]; c.Name != want {
				t.Errorf("the cookie is called %s", c.Name)
			}
			// Check the attributes of the cookie.
			link, err := r.store.Open(t.Context(), ann.Subject, id, r.at, "/")
			r.ok(err)
			a := ann.once("GET", link)
			r.wants("enter", a, http.StatusSeeOther)
			set := a.Cookies()
			if len(set) != 1 || set[0].Domain != "" || !set[0].HttpOnly || set[0].Secure != (name == "https") || set[0].SameSite != http.SameSiteLaxMode || set[0].Path != "/" {
				t.Errorf("the cookie is %v", set)
			}
			for key, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
				if got := a.Header.Get(key); got != want {
					t.Errorf("%s is %q", key, got)
				}
			}
			stranger := &person{rig: r, browser: r.browser()}
			a = stranger.once("GET", r.at.URL(id)+"/x", html)
			r.wants("a stranger", a, http.StatusSeeOther)
			if to := a.Header.Get("Location"); to != r.server.URL+"/workspaces/"+id.String()+"/open?next=%2Fx" {
				t.Errorf("sent to %s", to)
			}
			r.wants("a program that nobody knows", stranger.once("GET", r.at.URL(id)+"/x"), http.StatusUnauthorized)
			r.wants("a script that nobody knows", stranger.once("GET", r.at.URL(id)+"/x", html, header{"Sec-Fetch-Mode", "cors"}, header{"Sec-Fetch-Site", "same-origin"}), http.StatusUnauthorized)
		})
	}
}

// A code works once, for a short time, for one host; a later holder of it is not
// admitted.
func TestCode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id, other := r.made(ann, "first", "RUNNING", says("one")), r.made(ann, "second", "RUNNING", says("two"))
	open := func(id weir.ID) string {
		t.Helper()
		link, err := r.store.Open(t.Context(), ann.Subject, id, r.at, "/")
		r.ok(err)
		return link
	}
	thief := func() *person { return &person{rig: r, browser: r.browser()} }

	link := open(id)
	r.wants("once", ann.once("GET", link), http.StatusSeeOther)
	r.wants("again", ann.once("GET", link), http.StatusUnauthorized)
	r.wants("again by somebody else", thief().once("GET", link, html), http.StatusUnauthorized)

	// A request that only looks at the code does not use it up.
	link = open(id)
	r.wants("HEAD", ann.once("HEAD", link), http.StatusMethodNotAllowed)
	r.wants("prefetch", ann.once("GET", link, header{"Sec-Purpose", "prefetch;prerender"}), http.StatusMethodNotAllowed)
	r.wants("POST", ann.once("POST", link), http.StatusNotFound)
	r.wants("then", ann.once("GET", link), http.StatusSeeOther)

	// On another host it gives no access, and is used up.
	link = open(id)
	wrong := strings.Replace(link, r.at.Host(id), r.at.Host(other), 1)
	const visits = `select count(*) from weir.workspace_visits`
	before := scan[int](r, visits)
	r.wants("another host", ann.once("GET", wrong), http.StatusUnauthorized)
	if n := scan[int](r, visits); n != before {
		t.Errorf("there are %d visits and were %d", n, before)
	}
	r.wants("after that", ann.once("GET", link), http.StatusUnauthorized)

	// Too late.
	link = open(id)
	if n := scan[int](r, `select count(*) from weir.workspace_codes where expires_at between now() + interval '1 s' and now() + interval '30 s'`); n != 1 {
		t.Errorf("%d codes live for up to 30 s", n)
	}
	r.exec(`update weir.workspace_codes set expires_at = now()`)
	r.wants("late", ann.once("GET", link), http.StatusUnauthorized)

	// Made up, mistyped, none.
	for _, code := range []string{"", "x", strings.Repeat("A", 43), strings.Repeat("A", 10_000), "%00", "' or 1=1"} {
		r.wants(code, ann.once("GET", r.at.URL(id)+"/_weir/enter?code="+url.QueryEscape(code)), http.StatusUnauthorized)
	}
	// The database holds no secret.
	link = open(id)
	u, err := url.Parse(link)
	r.ok(err)
	ann.enter(id)
	for _, secret := range []string{u.Query().Get("code"), ann.cookie(id).Value} {
		if n := scan[int](r, `select count(*) from (select c::text as t from weir.workspace_codes c union all select v::text from weir.workspace_visits v union all select e::text from weir.events e) x where strpos(t, $1) > 0`, secret); n != 0 {
			t.Error("a secret is in the database")
		}
	}
	// Of many browsers that use it at once, one enters.
	link = open(id)
	var in atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if thief().once("GET", link).StatusCode == http.StatusSeeOther {
				in.Add(1)
			}
		})
	}
	if group.Wait(); in.Load() != 1 {
		t.Errorf("%d came in", in.Load())
	}
}

// After entering, the browser goes to a path of this host, and nowhere else.
func TestNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says("one"))
	for next, want := range map[string]string{
		"/a/b?c=d": "/a/b?c=d", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "/_weir/enter?code=x": "/", "javascript:alert(1)": "/", "/\t/evil.example": "/",
	} {
		link, err := r.store.Open(t.Context(), ann.Subject, id, r.at, next)
		r.ok(err)
		if to := ann.once("GET", link).Header.Get("Location"); to != want {
			t.Errorf("%q leads to %q", next, to)
		}
	}
}

// The owner and admins enter, and no other user, whatever they send.
func TestOwners(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann, bob, eve, root := r.user("ann", auth.Operator), r.user("bob", auth.Operator), r.user("eve", auth.Maintainer), r.user("root", auth.Admin)
	id, bobs := r.made(ann, "first", "RUNNING", says("one")), r.made(bob, "second", "RUNNING", says("two"))
	ann.enter(id)
	root.enter(id)
	bob.enter(bobs)
	for _, p := range []*person{bob, eve} {
		if _, err := r.store.Open(t.Context(), p.Subject, id, r.at, "/"); problem.Explain(err).Kind != problem.NotFound {
			t.Errorf("%s: %v", p.Name, err)
		}
		r.wants(p.Name, p.ask("GET", r.at.URL(id)+"/", html), http.StatusForbidden)
	}
	// A cookie of one workspace gives access to no other, not even to another of the same
	// user.
	second := r.made(ann, "third", "RUNNING", says("three"))
	for _, target := range []weir.ID{bobs, second} {
		a := (&person{rig: r, browser: r.browser()}).once("GET", r.at.URL(target)+"/", header{"Cookie", "weir_workspace=" + ann.cookie(id).Value})
		r.wants("another workspace", a, http.StatusUnauthorized)
	}
	// The dashboard's secrets give no access to a workspace.
	for _, h := range []header{{"Cookie", "weir_session=" + base64Of(ann.secret)}, {"Cookie", "weir_workspace=" + ann.secret}, {"Authorization", "Bearer " + ann.secret}} {
		r.wants(h[0], (&person{rig: r, browser: r.browser()}).once("GET", r.at.URL(id)+"/", h), http.StatusUnauthorized)
	}
	// Nor does the cookie of a workspace give access to the dashboard.
	a := (&person{rig: r, browser: r.browser()}).once("GET", r.server.URL+"/workspaces/"+id.String()+"/open", header{"Cookie", "weir_session=" + ann.cookie(id).Value})
	r.wants("the dashboard", a, http.StatusUnauthorized)
	// Planted cookies beside the real one do not lock the user out, and give no access.
	a = (&person{rig: r, browser: r.browser()}).once("GET", r.at.URL(id)+"/", header{"Cookie", "weir_workspace=junk; weir_workspace=" + bob.cookie(bobs).Value + "; weir_workspace=" + ann.cookie(id).Value})
	r.wants("planted", a, http.StatusOK)
	// A workspace on the provider process admits only admins.
	r.exec(`update weir.workspaces set provider = 'process' where id = $1`, id)
	if _, err := r.store.Open(t.Context(), ann.Subject, id, r.at, "/"); problem.Explain(err).Kind != problem.Forbidden {
		t.Errorf("the owner of a process: %v", err)
	}
	if _, err := r.store.Open(t.Context(), root.Subject, id, r.at, "/"); err != nil {
		t.Errorf("an admin: %v", err)
	}
	// Anonymous, a node, a user without a session.
	for _, who := range []auth.Subject{{}, {Kind: auth.KindNode, ID: "n1"}, {Kind: auth.KindUser, ID: ann.ID, UserID: ann.UserID, Role: auth.Operator}} {
		if _, err := r.store.Open(t.Context(), who, second, r.at, "/"); err == nil {
			t.Errorf("%+v came in", who)
		}
	}
}

// A visit ends with its origin: the session, the user, the role, the token.
func TestVisitEnds(t *testing.T) {
	t.Parallel()
	system := auth.System("test")
	for name, end := range map[string]func(r *rig, ann *person) error{
		"logout":       func(r *rig, ann *person) error { return r.users.Logout(r.Context(), ann.secret) },
		"revoked":      func(r *rig, ann *person) error { return r.users.RevokeSession(r.Context(), system, ann.Session) },
		"disabled":     func(r *rig, _ *person) error { return r.users.Disable(r.Context(), system, "ann") },
		"another role": func(r *rig, _ *person) error { return r.users.SetRole(r.Context(), system, "ann", auth.Maintainer) },
		"session over": func(r *rig, _ *person) error { r.exec(`update weir.sessions set expires_at = now()`); return nil },
		"visit over": func(r *rig, _ *person) error {
			r.exec(`update weir.workspace_visits set expires_at = now()`)
			return nil
		},
		"other's by now": func(r *rig, _ *person) error {
			bob := r.user("bob", auth.Operator)
			r.exec(`update weir.workspaces set owner = $1`, bob.UserID)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ann := r.user("ann", auth.Operator)
			closed := make(chan struct{})
			id := r.made(ann, "first", "RUNNING", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path != "/stream" {
					return
				}
				_ = http.NewResponseController(w).Flush()
				<-q.Context().Done() // the proxy disconnects
				close(closed)
			}))
			ann.enter(id)
			// A long request is open.
			q, err := http.NewRequestWithContext(t.Context(), "GET", r.at.URL(id)+"/stream", nil)
			r.ok(err)
			stream, err := ann.browser.Do(q)
			r.ok(err)
			defer stream.Body.Close()
			r.ok(r.proxy.Look(t.Context()))
			r.ok(end(r, ann))
			r.ok(r.proxy.Look(t.Context()))
			select {
			case <-closed:
			case <-time.After(testwait.Limit):
				t.Fatal("what lasts goes on")
			}
			_, _ = io.Copy(io.Discard, stream.Body)
			testwait.Until(t, "the visit to end", func() bool {
				return ann.once("GET", r.at.URL(id)+"/").StatusCode == http.StatusUnauthorized
			})
		})
	}
}

// A token gives access within its user's rights and its scopes, and its visit ends with
// it.
func TestToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.user("ann", auth.Operator)
	id := r.made(ann, "first", "RUNNING", says("one"))
	made, secret, err := r.users.CreateToken(t.Context(), ann.Subject, auth.NewToken{Name: "cli", Scopes: []string{"workspace:command"}})
	r.ok(err)
	token, err := r.users.Token(t.Context(), secret)
	r.ok(err)
	link, err := r.store.Open(t.Context(), token, id, r.at, "/")
	r.ok(err)
	program := &person{rig: r, browser: r.browser()}
	r.wants("a token", program.ask("GET", link), http.StatusOK)
	_, narrow, err := r.users.CreateToken(t.Context(), ann.Subject, auth.NewToken{Name: "reads", Scopes: []string{"workspace:read"}})
	r.ok(err)
	reads, err := r.users.Token(t.Context(), narrow)
	r.ok(err)
	if _, err := r.store.Open(t.Context(), reads, id, r.at, "/"); problem.Explain(err).Kind != problem.Forbidden {
		t.Errorf("a token without the scope: %v", err)
	}
	r.ok(r.users.RevokeToken(t.Context(), ann.Subject, made.ID))
	testwait.Until(t, "the visit to end", func() bool { return program.once("GET", r.at.URL(id)+"/").StatusCode == http.StatusUnauthorized })
	// A command on the database enters as the owner.
	link, err = r.store.Open(t.Context(), auth.System("weir"), id, r.at, "/")
	r.ok(err)
	r.wants("the system", program.ask("GET", link), http.StatusOK)
	if by := scan[string](r, `select source from weir.events where type = 'entered' order by seq desc limit 1`); by != "ann" {
		t.Errorf("entered by %s", by)
	}
}
