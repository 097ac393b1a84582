package pagetest_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/web/webtest"
)

// A pool is made, changed and deleted, and each refusal is said at its field.
func TestPools(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "mia", auth.Maintainer)
	c.Get(t, "/pools").Is(t, 200).Has(t, "No pool yet", "weir pool set", `href="/new-pool"`)
	c.Get(t, "/pools/none").Is(t, 404)
	c.Get(t, "/pools/none/limits").Is(t, 404)
	for _, refused := range []struct{ field, size, rate, per string }{
		{"size", "", "", ""},
		{"size", "-1", "", ""},
		{"size", "many", "", ""},
		{"rate", "", "0", "1m"},
		{"rate", "", "", "1m"},
		{"per", "", "5", ""},
		{"per", "", "5", "soon"},
		{"per", "", "5", "-1s"},
	} {
		c.Post(t, "/new-pool", form("name", "p", "size", refused.size, "rate", refused.rate, "per", refused.per)).Is(t, 422).Has(t, `aria-describedby="about-`+refused.field+`" aria-invalid="true"`)
	}
	c.Post(t, "/new-pool", form("name", "", "size", "1")).Is(t, 422).Has(t, "1 to 200 characters")
	if rows, err := s.Store.Pools(t.Context(), view.Page{}); err != nil || len(rows) > 0 {
		t.Fatalf("refused forms made %v, %v", rows, err)
	}

	to := c.Post(t, "/new-pool", form("name", "a/b c", "size", "2", "rate", "6", "per", "1m", "note", "two at once")).Is(t, 303).To()
	if to != "/pools/a%2Fb%20c" {
		t.Fatalf("it leads to %s", to)
	}
	c.Get(t, to).Is(t, 200).Has(t, "Pool a/b c is there.", "2 tasks at once", "6 each minute", "two at once", "nothing waits")
	c.Post(t, "/new-pool", form("name", "a/b c", "size", "9")).Is(t, 422).Has(t, "already")
	c.Get(t, to+"/limits").Is(t, 200).Has(t, `value="2"`, `value="6"`, `value="1m"`)
	c.Post(t, to+"/limits", form("size", "1", "note", "one")).Is(t, 303)
	c.Get(t, to+"/note").Is(t, 200).Has(t, `value="one"`)
	c.Post(t, to+"/note", form("note", "two cards")).Is(t, 303)
	c.Get(t, to).Has(t, "two cards")
	c.Post(t, to+"/note", form("note", "one")).Is(t, 303)
	if p, err := s.Store.Pool(t.Context(), "a/b c"); err != nil || *p.Size != 1 || p.Rate != nil || p.Note != "one" {
		t.Fatalf("%+v, %v", p, err)
	}

	// In use: who waits is there, with a link, and deleting wants force.
	s.Exec(t, `select weir.submit('x', pool => 'a/b c') from generate_series(1, 3)`, `select weir.open_gates()`)
	c.Get(t, "/pools").Is(t, 200).Has(t, "1 of 1", "gate=pool", `href="/tasks/`)
	c.Get(t, to).Is(t, 200).Has(t, "The pool is full", "pool=a%2Fb+c&amp;gate=pool")
	c.Get(t, to+"/delete").Is(t, 200).Has(t, "2 tasks wait for it and 1 holds it", "Delete it all the same")
	c.Post(t, to+"/delete", form()).Is(t, 409).Has(t, "is in use", "Delete it all the same")
	c.Post(t, to+"/delete", form("force", "true")).Is(t, 303)
	c.Get(t, to).Is(t, 404)
	c.Post(t, to+"/limits", form("size", "1")).Is(t, 404)
	c.Post(t, to+"/delete", form("force", "true")).Is(t, 404)

	// Who did it is in the audit, and only there.
	if got := s.One(t, `select string_agg(distinct type || ' by ' || source, ', ') from weir.events where kind = 'pool' and subject = 'a/b c'`); got != "dropped by mia, set by mia" {
		t.Errorf("the timeline says: %s", got)
	}
}

// What was made smaller, or stopped, says so.
func TestPoolState(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	s.Exec(t, `select weir.set_pool('p', size => 3)`, `select weir.submit('x', pool => 'p') from generate_series(1, 3)`, `select weir.open_gates()`, `select weir.set_pool('p', size => 1)`)
	c.Get(t, "/pools/p").Is(t, 200).Has(t, "3 of 1", "Nothing starts until 3 tasks have ended")
	s.Exec(t, `select weir.set_pool('p', size => 0)`)
	c.Get(t, "/pools/p").Is(t, 200).Has(t, "the pool is stopped")
	c.Get(t, "/pools").Is(t, 200).Has(t, "stopped")
	s.Exec(t, `select weir.set_pool('r', rate => 3, per => '90 s')`)
	c.Get(t, "/pools/r").Is(t, 200).Has(t, "3 per 1m30s", "any number at once")
}

// A list longer than a page leads on, and back.
func TestPoolPages(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	s.Exec(t, `select weir.set_pool(format('p%s', 100 + i), size => 1) from generate_series(1, 51) i`)
	c.Get(t, "/pools").Is(t, 200).Has(t, "p101", "p150", `href="/pools?after=p150"`).Lacks(t, "p151")
	c.Get(t, "/pools?after=p150").Is(t, 200).Has(t, "p151", `href="/pools" rel="first"`).Lacks(t, "p150<")
}

// The page of a pool follows what happens to it.
func TestPoolLive(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	s.Exec(t, `select weir.set_pool('p', size => 3)`)
	live := follow(t, s, c, "/pools/p", "")
	live.until("live-pool", "3 tasks at once")
	s.Exec(t, `select weir.set_pool('p', size => 4)`)
	live.until("live-pool", "4 tasks at once")
}

// until reads fragments until that one comes with the text.
func (s *stream) until(id, text string) ui.Fragment {
	s.t.Helper()
	for {
		if f := s.fragment(); f.ID == id && strings.Contains(f.HTML, text) {
			return f
		}
	}
}
