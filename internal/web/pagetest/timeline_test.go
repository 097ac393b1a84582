package pagetest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// The timeline is filtered by its address, and read back page by page.
func TestTimeline(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "vera", auth.Viewer)
	c.Get(t, "/timeline").Is(t, 200).Has(t, "Nothing happened yet")
	farm(t, s)
	c.Get(t, "/timeline").Is(t, 200).Has(t, `href="/schedules/tidy"`, `href="/workers/encoder@render-01"`, "no such codec: h266", "attempt 1", "<details", "data-follow=\"/timeline\"")
	c.Get(t, "/timeline?kind=node").Is(t, 200).Has(t, "new disks at noon", "ada").Lacks(t, "no such codec", `href="/tasks/`)
	c.Get(t, "/timeline?kind=node&subject=mailer").Is(t, 200).Has(t, "the provider has trouble").Lacks(t, "new disks at noon")
	failed := c.Get(t, "/timeline?type=failed").Is(t, 200).Has(t, "no such codec").Lacks(t, "new disks at noon")
	id := regexp.MustCompile(`/tasks/([0-9a-f-]{36})`).FindStringSubmatch(failed.Body)[1]
	c.Get(t, "/timeline?task="+id[24:]).Is(t, 200).Has(t, "no such codec", "claimed").Lacks(t, "fired")
	c.Get(t, "/timeline?type=nothing").Is(t, 200).Has(t, "No event fits")
	c.Get(t, "/timeline?kind=nothing").Is(t, 422)
	c.Get(t, "/timeline?level=loud").Is(t, 422)
	c.Get(t, "/timeline?before=nonsense").Is(t, 422)
	c.Get(t, "/timeline?task=ffffffffffff").Is(t, 404)
	c.Get(t, "/timeline?job=ffffffffffff").Is(t, 404)

	s.Exec(t, `select weir.submit_job('[{"service": "x", "key": "one"}]', name => 'my job')`)
	page := c.Get(t, "/timeline?kind=job").Is(t, 200)
	job := regexp.MustCompile(`/jobs/([0-9a-f-]{36})`).FindStringSubmatch(page.Body)[1]
	c.Get(t, "/timeline?job="+job).Is(t, 200).Has(t, "my job", ">one<", `href="/jobs/`+job).Lacks(t, "fired")

	// Every event is on one page, once.
	seen := map[string]int{}
	for path, pages := "/timeline", 0; path != ""; pages++ {
		if pages > 20 {
			t.Fatal("the timeline has no end")
		}
		body := c.Get(t, path).Is(t, 200).Body
		for _, key := range regexp.MustCompile(`<tr [^>]*data-key="([^"]+)"`).FindAllStringSubmatch(body, -1) {
			seen[key[1]]++
		}
		path = ""
		if older := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(body); older != nil {
			path = strings.ReplaceAll(older[1], "&amp;", "&")
			if old := c.Get(t, path).Body; strings.Contains(old, `data-follow="/timeline`) || !strings.Contains(old, "does not change") {
				t.Error("an older page follows what happens")
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d events were seen", len(seen))
	}
	for key, n := range seen {
		if n > 1 {
			t.Errorf("%s came %d times", key, n)
		}
	}
}

// Only those who may read the audit see events of people, whatever the address
// says, and live as well.
func TestTimelineAudit(t *testing.T) {
	s := webtest.Start(t)
	roles := map[auth.Role]*webtest.Client{}
	for _, role := range auth.Roles() {
		roles[role] = s.Login(t, "u-"+string(role), role)
	}
	note := func(text string) {
		t.Helper()
		if err := s.Auth.Audit(t.Context(), auth.System("sys"), "secret_type", text, map[string]any{"k": text}); err != nil {
			t.Fatal(err)
		}
	}
	note("secret-1")
	s.Exec(t, `select weir.set_pool('p', size => 1)`)
	admin := roles[auth.Admin].Get(t, "/timeline").Is(t, 200).Has(t, "secret-1", `value="auth"`)
	place := regexp.MustCompile(`before=[^"]+`).FindString(roles[auth.Admin].Get(t, "/timeline").Body)
	roles[auth.Admin].Get(t, "/timeline?kind=auth").Is(t, 200).Has(t, "secret-1", ">login<")
	if !strings.Contains(admin.Body, "u-viewer") {
		t.Error("an admin does not see who logged in")
	}
	for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Maintainer} {
		c := roles[role]
		for _, path := range []string{"/timeline", "/timeline?type=secret_type", "/timeline?subject=u-admin", "/timeline?level=info", "/timeline?" + place, "/timeline?before=99999999.99999999%2B1", "/timeline?kind=pool"} {
			c.Get(t, path).Is(t, 200).Lacks(t, "secret-1", ">login<", "u-admin<", `value="auth"`)
		}
		c.Get(t, "/timeline?kind=auth").Is(t, 403).Lacks(t, "secret-1")
		c.Get(t, "/timeline?kind=AUTH").Is(t, 422)
	}

	// Live: what comes first is written first, so that the pool's event proves
	// that the other was left out, not late.
	for _, path := range []string{"/timeline", "/timeline?type=set"} {
		viewer := follow(t, s, roles[auth.Viewer], path, "")
		viewer.until("live-timeline", "<tr")
		note("secret-2")
		s.Exec(t, `select weir.set_pool('after-`+map[string]string{"/timeline": "one", "/timeline?type=set": "two"}[path]+`', size => 1)`)
		name := "after-" + map[string]string{"/timeline": "one", "/timeline?type=set": "two"}[path]
		for {
			f := viewer.fragment()
			if strings.Contains(f.HTML, "secret-") || strings.Contains(f.HTML, ">login<") {
				t.Fatalf("a viewer was sent an event of the audit:\n%s", f.HTML)
			}
			if strings.Contains(f.HTML, name) {
				break
			}
		}
	}
	live := follow(t, s, roles[auth.Admin], "/timeline", "")
	note("secret-3")
	live.until("live-timeline", "secret-3")

	// A live page of the audit ends with the right.
	live = follow(t, s, roles[auth.Admin], "/timeline?kind=auth", "")
	live.until("live-timeline", "secret-3")
	s.User(t, "root", auth.Admin)
	live.until("live-timeline", ">root<") // what is read for that began before the right ends
	if err := s.Auth.SetRole(t.Context(), auth.System("test"), "u-admin", auth.Viewer); err != nil {
		t.Fatal(err)
	}
	note("secret-4")
	for {
		event, data := live.next()
		if strings.Contains(data, "secret-4") {
			t.Fatal("an event of the audit came after the right was taken away")
		}
		if event == "gone" {
			return
		}
	}
}
