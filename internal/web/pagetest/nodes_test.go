package pagetest_test

import (
	"regexp"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A node is drained, paused and resumed, with a reason and for a time.
func TestNodes(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/nodes").Is(t, 200).Has(t, "No node yet", `href="/workers"`, `href="/joins"`, `href="/new-join"`)
	c.Get(t, "/nodes/none").Is(t, 404)
	farm(t, s)
	c.Get(t, "/nodes").Is(t, 200).Has(t, "render-01 (running): encode 2 of 4 slots, thumbnail 5 of 16 slots", "new disks at noon", "dead", "zone=berlin")
	s.Exec(t, `select weir.report_faults('render-01', '[{"service": "encode", "fault": "disk_full", "message": "0 bytes are left"}]')`)
	c.Get(t, "/nodes").Is(t, 200).Has(t, "encode: disk full")
	s.Exec(t, `select weir.report_faults('render-01', '[]')`)
	c.Get(t, "/nodes/render-01").Is(t, 200).Has(t, "encoder@render-01", "Runs now", "7 tasks", "given ", "/nodes/render-01/drain").Lacks(t, "/nodes/render-01/resume")
	c.Get(t, "/nodes/render-02").Is(t, 200).Has(t, "finishes what runs and takes nothing new", "new disks at noon", "Ends by itself", "/nodes/render-02/resume").Lacks(t, "/nodes/render-02/drain", "/nodes/render-02/revoke")
	c.Get(t, "/nodes/render-03").Is(t, 200).Has(t, "Nothing was heard from this node")
	c.Get(t, "/nodes/mailer").Is(t, 200).Has(t, "does not bound how many tasks", "Nothing runs here now")

	c.Get(t, "/nodes/render-01/drain").Is(t, 200).Has(t, "7 tasks run there now and may finish", "Reason")
	c.Post(t, "/nodes/render-01/drain", form("reason", "new disks", "for", "soon")).Is(t, 422).Has(t, "is no time", `value="new disks"`)
	c.Post(t, "/nodes/render-01/drain", form("reason", "new disks", "for", "2h")).Is(t, 303)
	if n, err := s.Store.Node(t.Context(), "render-01"); err != nil || n.State != "draining" || n.Note != "new disks" || n.ModeUntil.IsZero() {
		t.Fatalf("%+v, %v", n, err)
	}
	c.Get(t, "/nodes/render-01").Is(t, 200).Has(t, "new disks", "for <time", "mia")
	c.Post(t, "/nodes/render-01/pause", form("reason", "wait")).Is(t, 303)
	c.Get(t, "/nodes/render-01").Is(t, 200).Has(t, "paused", "wait").Lacks(t, "Ends by itself")
	c.Post(t, "/nodes/render-01/resume", form()).Is(t, 303)
	if n, err := s.Store.Node(t.Context(), "render-01"); err != nil || n.State != "active" || n.Note != "" {
		t.Fatalf("%+v, %v", n, err)
	}
	c.Post(t, "/nodes/none/drain", form()).Is(t, 404)
}

// Workers are listed by service and node; those that stopped are behind a filter.
func TestWorkers(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "vera", auth.Viewer)
	c.Get(t, "/workers").Is(t, 200).Has(t, "No worker is there now")
	c.Get(t, "/workers?stopped=yes").Is(t, 200).Has(t, "No worker yet")
	farm(t, s)
	c.Get(t, "/workers").Is(t, 200).Has(t, "encoder@render-01", "encoder@render-03", "mailer-7f9c", "encode, thumbnail").Lacks(t, "old-encoder")
	c.Get(t, "/workers?stopped=yes").Is(t, 200).Has(t, "old-encoder", "stopped")
	c.Get(t, "/workers?service=mail").Is(t, 200).Has(t, "mailer-7f9c").Lacks(t, "encoder@")
	c.Get(t, "/workers?node=render-02").Is(t, 200).Has(t, "encoder@render-02").Lacks(t, "encoder@render-01")
	c.Get(t, "/workers?service=none").Is(t, 200).Has(t, "No worker fits")
	c.Get(t, "/workers?stopped=maybe").Is(t, 422)
	c.Get(t, "/workers/encoder@render-01").Is(t, 200).Has(t, "7 tasks", `href="/nodes/render-01"`, "version=1.4", "service=thumbnail", "50%")
	c.Get(t, "/workers/encoder@render-03").Is(t, 200).Has(t, "Nothing was heard from this worker")
	c.Get(t, "/workers/old-encoder").Is(t, 200).Has(t, "stopped", "runs nothing now")
	c.Get(t, "/workers/none").Is(t, 404)
}

// A join token is shown once, makes a node once, and can be taken back; so can
// the credential.
func TestJoins(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/joins").Is(t, 200).Has(t, "No join token", "No node has a credential")
	c.Post(t, "/new-join", form("node", "pc1", "hours", "9999", "may", "any")).Is(t, 422)
	c.Post(t, "/new-join", form("node", "pc1", "hours", "24", "may", "named")).Is(t, 422).Has(t, "choose any work")
	c.Post(t, "/new-join", form("node", "pc1", "hours", "24", "services", "render=x")).Is(t, 422)
	a := c.Post(t, "/new-join", form("node", "pc1", "hours", "24", "services", "render=2", "labels", "zone=eu")).Is(t, 200).Has(t, "not shown again", "/api/v1/join")
	if a.Header.Get("Cache-Control") != "no-store" {
		t.Error("a secret may be kept by a cache")
	}
	secret := regexp.MustCompile(`weir_join_[A-Za-z0-9_-]+`).FindString(a.Body)
	list := c.Get(t, "/joins").Is(t, 200).Has(t, "pc1", "in 23h", "mia").Lacks(t, secret)
	credential, err := s.Auth.Join(t.Context(), secret, "pc1")
	if err != nil {
		t.Fatal(err)
	}
	revoke := regexp.MustCompile(`/joins/[^/"]+/revoke`).FindString(list.Body)
	c.Post(t, revoke, form()).Is(t, 404)
	c.Get(t, "/joins").Is(t, 200).Has(t, "No join token", "/nodes/pc1/revoke")
	c.Get(t, "/nodes/pc2/revoke").Is(t, 404)
	c.Get(t, "/nodes/pc1/revoke").Is(t, 200).Has(t, "cannot be undone")
	c.Post(t, "/nodes/pc1/revoke", form()).Is(t, 303)
	if _, err := s.Auth.Node(t.Context(), credential); err == nil {
		t.Error("a revoked credential works")
	}

	unused := regexp.MustCompile(`weir_join_[A-Za-z0-9_-]+`).FindString(c.Post(t, "/new-join", form("hours", "1", "may", "any")).Is(t, 200).Body)
	revoke = regexp.MustCompile(`/joins/[^/"]+/revoke`).FindString(c.Get(t, "/joins").Is(t, 200).Has(t, "any node").Body)
	c.Get(t, revoke).Is(t, 200)
	c.Post(t, revoke, form()).Is(t, 303)
	if _, err := s.Auth.Join(t.Context(), unused, "pc3"); err == nil {
		t.Error("a revoked join token works")
	}
}
