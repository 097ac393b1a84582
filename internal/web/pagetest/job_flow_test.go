package pagetest_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web/webtest"
)

// What an agent's step prints and leaves is on its page, as text and nothing
// else, and can be kept.
func TestTaskOutput(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, chain)
	job := run(t, s, "chain", nil)
	c := s.Login(t, "vic", auth.Viewer)
	first := page(taskOf(t, s, job, "first"))
	c.Get(t, first).Is(t, 200).Has(t, "no attempt has begun", "Driver", "exec", "<code>echo one</code>", "deploy_token")
	d := newDesk(t, s, "pc-1")
	a := d.take()
	c.Get(t, first).Is(t, 200).Has(t, "It has printed nothing.")
	d.print(a, "stdout", "hello "+hostile, "two")
	d.print(a, "stderr", "careful")
	d.leave(a, "notes/read.me", "text/html", []byte("<script>alert(1)</script>\x1b[31mred"))
	d.leave(a, "picture.png", "image/png", pixels(t))
	d.leave(a, "fake.png", "image/png", []byte("<html><script>alert(1)</script>"))
	d.leave(a, "data.bin", "application/octet-stream", []byte{0, 1, 2, 3})
	d.leave(a, "large.txt", "text/plain", []byte(strings.Repeat("x", 65<<10)))
	c.Get(t, first).Is(t, 200).Has(t, "hello &lt;img", "careful", `class="f3">err</span>`, "notes/read.me", "picture.png", "/output?attempt=1").Lacks(t, "<img src=x", "\x1b", "alert(2)")
	whole := c.Get(t, first+"/output?attempt=1").Is(t, 200).Has(t, "stdout two\n", "stderr careful\n").Lacks(t, "\x1b")
	for name, want := range map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"} {
		if got := whole.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	c.Get(t, first+"/output?attempt=x").Is(t, 404)
	// A long log shows its end.
	d.print(a, "stdout", manyLines(600)...)
	c.Get(t, first).Is(t, 200).Has(t, "The last 500 lines are shown", "line number 600 of many").Lacks(t, "line number 100 of many")
	c.Get(t, first+"/output").Is(t, 200).Has(t, "line number 1 of many", "line number 600 of many")
	// Its older lines are a page further, and a text is found wherever it is.
	older := regexp.MustCompile(`href="([^"]*)" rel="prev"`).FindStringSubmatch(c.Get(t, first).Body)
	if len(older) != 2 {
		t.Fatal("no way leads to the older lines")
	}
	c.Get(t, html.UnescapeString(older[1])).Is(t, 200).Has(t, "line number 100 of many", "careful", "Back to the end of the log").Lacks(t, "line number 101 of many", `rel="prev"`)
	c.Get(t, first+"?find=NUMBER+7+OF").Is(t, 200).Has(t, "line number 7 of many", `value="NUMBER 7 OF"`).Lacks(t, "line number 8 of many")
	c.Get(t, first+"?find=%3Cimg+src").Is(t, 200).Has(t, "hello &lt;img").Lacks(t, "<img src", "line number 8 of many")
	c.Get(t, first+"?find=nowhere").Is(t, 200).Has(t, "No line has this text.")
	c.Get(t, first+"?before=x").Is(t, 200).Has(t, "The log cannot be read.")

	list := c.Get(t, "/jobs/"+job.String()+"/artifacts").Is(t, 200).Has(t, "notes/read.me", "picture.png", "text/html", "first")
	if n := strings.Count(list.Body, "/content\""); n != 5 {
		t.Errorf("%d artifacts can be downloaded", n)
	}
	for name, want := range map[string]struct{ page, kind, shown string }{
		"notes/read.me": {"&lt;script&gt;alert(1)", "application/octet-stream", "attachment; filename=read.me"},
		"picture.png":   {`<img class="preview"`, "image/png", "inline; filename=picture.png"},
		"fake.png":      {"&lt;html&gt;", "application/octet-stream", "attachment; filename=fake.png"},
		"data.bin":      {"It is no text and no picture", "application/octet-stream", "attachment; filename=data.bin"},
		"large.txt":     {"too large to be shown", "application/octet-stream", "attachment; filename=large.txt"},
	} {
		id := s.One(t, `select id::text from weir.artifacts where name = '`+name+`'`)
		c.Get(t, "/artifacts/"+id).Is(t, 200).Has(t, want.page, "SHA-256").Lacks(t, "<script>alert", "\x1b")
		got := c.Get(t, "/artifacts/"+id+"/content?inline").Is(t, 200)
		if h := got.Header; h.Get("Content-Type") != want.kind || h.Get("Content-Disposition") != want.shown || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%s: %v", name, h)
		}
		if got := c.Get(t, "/artifacts/"+id+"/content").Is(t, 200); !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s: %v", name, got.Header)
		}
	}
	if got := c.Get(t, "/artifacts/"+s.One(t, `select id::text from weir.artifacts where name = 'picture.png'`)+"/content"); got.Body != string(pixels(t)) {
		t.Error("the picture is another one")
	}
	c.Get(t, "/artifacts/999999").Is(t, 404)
	c.Get(t, "/artifacts/x").Is(t, 404)
	c.Get(t, "/artifacts/999999/content").Is(t, 404).Has(t, "There is nothing here")
	s.Nobody(t).Get(t, "/artifacts/1/content").Is(t, http.StatusSeeOther)
}

// A job of a workflow: held steps are approved, what failed is retried, and it
// is run again from a step.
func TestJobOfWorkflow(t *testing.T) {
	s := webtest.Start(t)
	s.Lead(t)
	s.Put(t, chain)
	job := run(t, s, "chain", nil)
	path := "/jobs/" + job.String()
	viewer, c := s.Login(t, "vic", auth.Viewer), s.Login(t, "ada", auth.Operator)
	c.Get(t, path).Is(t, 200).Has(t, "chain version 1", "/workflows/chain?version=1", "by test").Lacks(t, path+"/rerun", path+"/retry")
	d := newDesk(t, s, "pc-1")
	d.end(d.take(), node.Done, `{"n": 1}`)
	d.end(d.take(), node.Failed, "no luck")
	testwait.Until(t, "the job has failed", func() bool { return s.One(t, `select state from weir.job where id = '`+job.String()+`'`) == "failed" })
	viewer.Get(t, path).Is(t, 200).Lacks(t, path+"/rerun", path+"/retry")
	viewer.Post(t, path+"/rerun", form("what", "all")).Is(t, 403)
	viewer.Post(t, path+"/retry", form()).Is(t, 403)
	c.Get(t, path).Is(t, 200).Has(t, path+"/rerun", path+"/retry", "second", "no luck").Lacks(t, "Second") // a step is called as it is written
	c.Get(t, page(taskOf(t, s, job, "second"))).Is(t, 200).Has(t, path+"/rerun?from=second")

	to := c.Post(t, path+"/retry", form()).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "1 task runs again", "running")
	d.end(d.take(), node.Done, `{"n": 2}`)
	third := page(taskOf(t, s, job, "third"))
	viewer.Get(t, path).Is(t, 200).Has(t, "Waits for a person", "the editor on duty").Lacks(t, "Approve")
	viewer.Post(t, third+"/release", form()).Is(t, 403)
	c.Get(t, third).Is(t, 200).Has(t, "Approve", third+"/refuse")
	viewer.Post(t, third+"/refuse", form("reason", "no")).Is(t, 403)
	c.Get(t, third+"/release").Is(t, 200).Has(t, "The editor on duty", `name="reason"`)
	c.Post(t, third+"/refuse", form("reason", "")).Is(t, 422)
	c.Get(t, path).Is(t, 200).Has(t, "Approve", third+"/release?back=")
	to = c.Post(t, third+"/release?back="+path, form("reason", "read twice")).Is(t, 303).To()
	if to != path {
		t.Errorf("it leads to %s", to)
	}
	c.Get(t, third).Is(t, 200).Has(t, "read twice")
	d.end(d.take(), node.Done, `{"n": 3}`)
	c.Get(t, path).Is(t, 200).Has(t, "done").Lacks(t, path+"/retry", "Waits for a person")

	c.Get(t, path+"/rerun").Is(t, 200).Has(t, "from a step on", `<option value="second">second</option>`).Lacks(t, "what did not end well")
	c.Get(t, path+"/rerun?from=second").Is(t, 200).Has(t, `<option value="second" selected>`, `<option value="from" selected>`)
	c.Post(t, path+"/rerun", form("what", "from")).Is(t, 422).Has(t, "Choose a step")
	c.Post(t, path+"/rerun", form("what", "from", "from", "nobody")).Is(t, 422)
	c.Post(t, path+"/rerun", form("what", "half")).Is(t, 422)
	c.Post(t, path+"/rerun", form("what", "all", "on", "oldest")).Is(t, 422)
	c.Post(t, path+"/rerun", form("what", "all", "params", "[1")).Is(t, 422).Has(t, "Is not JSON")
	to = c.Post(t, path+"/rerun", form("what", "from", "from", "second", "on", "newest", "params", "{}")).Is(t, 303).To()
	a := d.take()
	if a.Key != "second" {
		t.Fatalf("it runs %s first", a.Key)
	}
	c.Get(t, to).Is(t, 200).Has(t, "repeats, from second on,", path, "by ada", "1 of 3 steps are reused")
	if got := s.One(t, `select result::text from weir.task where job = '`+strings.TrimPrefix(to, "/jobs/")+`' and key = 'first'`); got != `{"n": 1}` {
		t.Errorf("the first step has %s", got)
	}
	// A step that waits for an event is told of it on the page.
	s.Put(t, "name: shop\nsteps:\n  - {key: paid, wait: {event: payment, timeout: 2h}}")
	shop := "/jobs/" + run(t, s, "shop", nil).String()
	testwait.Until(t, "it waits", func() bool {
		return s.One(t, `select count(*)::text from weir.task where key = 'paid' and gate = 'hold'`) == "1"
	})
	viewer.Get(t, shop).Is(t, 200).Lacks(t, shop+"/signal")
	viewer.Post(t, shop+"/signal", form("event", "payment")).Is(t, 403)
	c.Get(t, shop).Is(t, 200).Has(t, "waits for the event payment; at ", shop+"/signal?event=payment").Lacks(t, "/release", "/refuse")
	// So it is on the page of the step, which also makes the link for others.
	step := "/tasks/" + s.One(t, `select id::text from weir.task where key = 'paid'`)
	viewer.Get(t, step).Is(t, 200).Lacks(t, shop+"/signal", step+"/link")
	viewer.Post(t, step+"/link", form()).Is(t, 403)
	c.Get(t, step).Is(t, 200).Has(t, shop+"/signal?", "event=payment", step+"/link").Lacks(t, step+"/release", step+"/refuse")
	c.Get(t, step+"/link").Is(t, 200).Has(t, "It ends with the wait")
	c.Post(t, step+"/link", form()).Is(t, 200).Has(t, "/api/v1/events/", "http://")
	c.Get(t, shop+"/signal?event=payment").Is(t, 200).Has(t, `value="payment"`)
	c.Post(t, shop+"/signal", form("event", "payment", "payload", "{")).Is(t, 422).Has(t, "This is no JSON")
	c.Post(t, shop+"/signal", form("event", "payment", "payload", `{"paid": true}`)).Is(t, 303)
	if got := s.One(t, `select result::text from weir.task where key = 'paid'`); got != `{"paid": true}` {
		t.Errorf("the step has %s", got)
	}
	// A plain job is no run of a workflow.
	plain := "/jobs/" + submitJob(t, s, film("Low Water")).String()
	c.Get(t, plain+"/rerun").Is(t, http.StatusConflict)
	c.Get(t, plain).Is(t, 200).Lacks(t, plain+"/rerun")
}

// Many items of a map are one line of the list, until somebody wants them all.
func TestItemsFolded(t *testing.T) {
	s := webtest.Start(t)
	s.Lead(t)
	s.Put(t, "name: wide\nsteps:\n  - key: split\n    service: split\n    map: {over: params.list}\n  - key: join\n    service: join\n    needs: [split]\n")
	list := make([]any, 30)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	path := "/jobs/" + run(t, s, "wide", map[string]any{"list": list}).String()
	c := s.Login(t, "vic", auth.Viewer)
	testwait.Every(t, 20*time.Millisecond, "the map has its items", func() bool { return strings.Contains(c.Get(t, path+"/tasks?items=all").Body, "split[29]") })
	c.Get(t, path+"/tasks").Is(t, 200).Has(t, "30 items of split", "30 available", "?items=split", "join").Lacks(t, "split[7]")
	c.Get(t, path+"/tasks?items=split").Is(t, 200).Has(t, "split[7]", "split[29]")
	c.Get(t, path+"/tasks?state=available").Is(t, 200).Has(t, "split[7]")
}
