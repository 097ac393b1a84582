package pagetest_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
)

// planned is the form of a plan over the environments test and prod, in the order in
// which the page offers them. Pairs are put on top of it.
func planned(pairs ...string) url.Values {
	v := form("name", "orders", "step", "preview",
		"file.0.name", "V1__orders.sql", "file.0.text", "create table orders (id int);\r\n", "file.1.name", "V2__index.sql", "file.1.text", "create index on orders (id);",
		"stage.0.name", "test", "stage.0.at", "1", "stage.0.approvals", "0", "stage.0.promote", "auto", "stage.0.on_failure", "stop",
		"stage.1.name", "prod", "stage.1.at", "2", "stage.1.approvals", "2", "stage.1.promote", "manual", "stage.1.on_failure", "at_most", "stage.1.max_failures", "3", "stage.1.canary", "1")
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// hidden is what a page hands to the next one.
func hidden(t *testing.T, page webtest.Answer, name string) string {
	t.Helper()
	m := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page.Body)
	if m == nil {
		t.Fatalf("no %s\n%s", name, page.Body)
	}
	return m[1]
}

// looked is a form as the page of its preview would send it.
func looked(t *testing.T, page webtest.Answer, v url.Values) url.Values {
	t.Helper()
	v.Set("seen", hidden(t, page, "seen"))
	v.Set("key", hidden(t, page, "key"))
	v.Set("step", "create")
	return v
}

// rolloutAt reads the rollout of an address.
func (h *harbour) rolloutAt(path string) rollout.Rollout {
	h.Helper()
	id, err := weir.ParseID(strings.TrimPrefix(path, "/rollouts/"))
	if err != nil {
		h.Fatal(err)
	}
	x, err := h.Rollouts.Rollout(h.Context(), id)
	if err != nil {
		h.Fatal(err)
	}
	return x
}

func (h *harbour) rollouts() string {
	return h.One(h, `select count(*)::text from weir.rollouts`)
}

// sent posts a form with files, as a browser does.
func (h *harbour) sent(c *webtest.Client, path string, v url.Values, files ...rollout.File) webtest.Answer {
	h.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for name, values := range v {
		for _, value := range values {
			if err := m.WriteField(name, value); err != nil {
				h.Fatal(err)
			}
		}
	}
	for _, f := range files {
		part, err := m.CreateFormFile("upload", f.Name)
		if err == nil {
			_, err = io.WriteString(part, f.Text)
		}
		if err != nil {
			h.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		h.Fatal(err)
	}
	request, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.URL+path, &body)
	if err != nil {
		h.Fatal(err)
	}
	request.Header.Set("Content-Type", m.FormDataContentType())
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := c.HTTP.Do(request)
	if err != nil {
		h.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		h.Fatal(err)
	}
	return webtest.Answer{Status: answer.StatusCode, Header: answer.Header, Body: string(text)}
}

// A rollout is created on the page: only what somebody has looked at, and once.
func TestNewRollout(t *testing.T) {
	h := newHarbour(t)
	mia, vic := h.Login(t, "mia", auth.Maintainer), h.Login(t, "vic", auth.Viewer)
	mia.Get(t, "/rollouts").Is(t, 200).Has(t, `href="/new-rollout"`)
	mia.Get(t, "/new-rollout").Is(t, 200).Has(t, "No database yet", `href="/new-database"`)
	vic.Get(t, "/new-rollout").Is(t, http.StatusForbidden)
	vic.Post(t, "/new-rollout", planned()).Is(t, http.StatusForbidden)
	h.target("prod", "orders-eu", "orders-us")
	h.target("test", "orders-test")
	page := mia.Get(t, "/new-rollout").Is(t, 200).Has(t, `enctype="multipart/form-data"`, `type="file"`, `name="stage.0.name" value="test"`, `name="stage.1.name" value="prod"`, "2 databases", "1 database")
	page.Lacks(t, "What it would do", `value="create"`)

	// What it would do: order, locks, warnings, canaries, rules.
	page = mia.Post(t, "/new-rollout", planned()).Is(t, 200)
	page.Has(t, "What it would do", "orders-test", "orders-eu", "canary", "ShareLock", "blocks writes", "Writes to the table wait until the index is built", "CONCURRENTLY", "2 approvals", "stops after 3 failures", `value="create"`)
	page.Has(t, `value="orders"`, "create table orders (id int);", `value="V2__index.sql"`, `value="manual" selected`, `name="stage.1.canary"`)
	if n := h.rollouts(); n != "0" {
		t.Fatalf("a preview made %s rollouts", n)
	}

	// Nothing is created that nobody has looked at.
	v := looked(t, page, planned())
	other := planned("seen", v.Get("seen"), "key", v.Get("key"), "step", "create", "file.1.text", "create index concurrently on orders (id);")
	mia.Post(t, "/new-rollout", other).Is(t, 200).Has(t, "not the plan that you looked at", "outside of a transaction")
	mia.Post(t, "/new-rollout", planned("step", "create")).Is(t, 200).Has(t, "not the plan that you looked at")
	if n := h.rollouts(); n != "0" {
		t.Fatalf("%s rollouts", n)
	}

	// Clicked twice it is one.
	to := make([]string, 4)
	var clicks sync.WaitGroup
	for i := range to {
		clicks.Go(func() { to[i] = h.sent(mia, "/new-rollout", v).To() })
	}
	clicks.Wait()
	if to[0] == "" || to[0] != to[1] || to[0] != to[2] || to[0] != to[3] || h.rollouts() != "1" {
		t.Fatalf("it leads to %q, and there are %s", to, h.rollouts())
	}
	x := h.rolloutAt(to[0])
	if x.Hash != v.Get("seen") || x.By == "" || len(x.Stages) != 2 || x.Stages[0].Name != "test" || x.Stages[1].Approvals != 2 || x.Stages[1].Promote != "manual" || x.Stages[1].MaxFailures != 3 || x.Stages[1].Canary != 1 {
		t.Errorf("%+v", x)
	}
	mia.Get(t, to[0]).Is(t, 200).Has(t, "It waits to be started", "/edit")
	vic.Get(t, to[0]).Is(t, 200).Lacks(t, "/edit")
	if text := mia.Get(t, to[0]+"/changes/1/sql").Is(t, 200).Body; text != "create table orders (id int);\n" {
		t.Errorf("the change is %q", text)
	}

	// The same form with another plan in it is another rollout.
	page = mia.Post(t, "/new-rollout", planned("name", "again", "key", v.Get("key"))).Is(t, 200)
	if next := mia.Post(t, "/new-rollout", looked(t, page, planned("name", "again"))).Is(t, 303).To(); next == to[0] {
		t.Errorf("it leads to %s", next)
	}

	s := webtest.Start(t, func(c *site.Config) { c.Rollouts = nil })
	s.Login(t, "mia", auth.Maintainer).Get(t, "/new-rollout").Is(t, http.StatusNotFound)
}

// What is wrong stands at its field, and what was typed comes back.
func TestNewRolloutFaults(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "orders-test")
	h.paper("prod", "orders-eu")
	mia := h.Login(t, "mia", auth.Maintainer)
	for _, c := range []struct {
		name  string
		with  []string
		field string
		has   string
	}{
		{"no name", []string{"name", " "}, "name", "Give it a name"},
		{"a long name", []string{"name", strings.Repeat("n", 200)}, "name", "at most 80 bytes"},
		{"no files", []string{"file.0.text", "", "file.0.name", "", "file.1.text", "", "file.1.name", ""}, "", "Give at least one SQL file"},
		{"two of one version", []string{"file.1.name", "V1__other.sql"}, "", "are both 1"},
		{"a name of nothing known", []string{"file.0.name", "V1_orders.sql"}, "", "put two underscores"},
		{"no SQL", []string{"file.1.text", "create tabel x;"}, "", "V2__index.sql"},
		{"no stage", []string{"stage.0.at", "0", "stage.1.at", "0"}, "", "Choose the place of at least one environment"},
		{"one place for two", []string{"stage.1.at", "1"}, "stage.1.at", "Another stage has place 1"},
		{"approvals", []string{"stage.1.approvals", "many"}, "stage.1.approvals", "is no number"},
		{"too many approvals", []string{"stage.1.approvals", "101"}, "", "101 approvals are not 0 to 20"},
		{"failures", []string{"stage.1.max_failures", "0"}, "", "At_most needs max_failures of 1 or more"},
		{"canary", []string{"stage.1.canary", "-1"}, "stage.1.canary", "is no number"},
		{"promote", []string{"stage.1.promote", "maybe"}, "stage.1.promote", "is not known"},
		{"more canaries than databases", []string{"stage.1.canary", "2", "stage.1.databases", "orders-eu"}, "stage.1.canary", "Canary is 2"},
		{"a database that is not there", []string{"stage.1.databases", "orders-eu nowhere"}, "", "nowhere"},
		{"a database of two stages", []string{"stage.1.databases", "orders-test"}, "", "is in stage"},
		{"a stage that is not there", []string{"stage.1.name", "moon"}, "", "has no database"},
		{"parallel", []string{"parallel", "1.5"}, "parallel", "is no number"},
		{"a time", []string{"run_at", "soon"}, "run_at", "is no time"},
		{"a script without a name", []string{"paste.text", "select 1;"}, "paste.name", "Give the script a name"},
		{"a script of no version", []string{"paste.text", "select 1;", "paste.name", "x", "paste.version", "one"}, "paste.version", "is not a version"},
		{"a name without its script", []string{"paste.name", "x"}, "", "Paste the script, too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := mia.Post(t, "/new-rollout", planned(append([]string{"note", "typed before"}, c.with...)...)).Is(t, http.StatusUnprocessableEntity)
			page.Has(t, c.has, "typed before", `name="stage.0.at"`, "What is wrong stands at its field").Lacks(t, `value="create"`)
			if c.field != "" && !regexp.MustCompile(`aria-invalid="true"[^>]*name="`+regexp.QuoteMeta(c.field)+`"`).MatchString(page.Body) {
				t.Errorf("the field %s is not marked\n%s", c.field, page.Body)
			}
			for i := 1; i < len(c.with); i += 2 {
				if strings.TrimSpace(c.with[i]) != "" && !strings.Contains(page.Body, c.with[i]) && c.with[i] != "maybe" {
					t.Errorf("%q is gone", c.with[i])
				}
			}
		})
	}
	if n := h.rollouts(); n != "0" {
		t.Errorf("there are %s rollouts", n)
	}
}

// Files come by upload and by hand; they are one list that can be edited.
func TestNewRolloutFiles(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "a")
	mia := h.Login(t, "mia", auth.Maintainer)
	page := h.sent(mia, "/new-rollout", form("name", "up", "step", "add", "paste.version", "3", "paste.name", "third one", "paste.text", "\r\n\r\ncreate table c (id int);\r\n"),
		file("0001_a.up.sql", "\ufeffcreate table a (id int);\r\n"), file("0001_a.down.sql", "drop table a;"), file("V2__b.sql", "create table b ("+evil+" int);"), file("README.md", "hello"))
	page.Is(t, 200).Has(t, `value="0001_a.up.sql"`, `value="V2__b.sql"`, `value="V3__third_one.sql"`, "0001_a.down.sql undoes a change", "README.md is not SQL", ">\n\n\ncreate table c (id int);\n</textarea>", ">\ncreate table a (id int);\n</textarea>").
		Lacks(t, "<script>alert", `value="0001_a.down.sql"`, `value="README.md"`, "\ufeff")

	// The same name again takes the place; one is left out; what is no text is refused.
	page = h.sent(mia, "/new-rollout", form("step", "add", "file.0.name", "V2__b.sql", "file.0.text", "select 1;"), file("V2__b.sql", "select 2;"), file("V9__x.sql", "\xff\xfe"))
	page.Is(t, 422).Has(t, ">\nselect 2;</textarea>", "V9__x.sql", "UTF-16").Lacks(t, "select 1;", `value="V9__x.sql"`)
	page = mia.Post(t, "/new-rollout", planned("step", "drop.0")).Is(t, 200).Has(t, `name="file.0.name"`, `value="V2__index.sql"`).Lacks(t, `value="V1__orders.sql"`)
	page.Lacks(t, `name="file.1.name"`)

	mia.Post(t, "/new-rollout", planned("name", "r"+evil, "note", evil, "file.0.text", "-- "+evil+"\nselect 1;", "stage.0.databases", "a", "stage.1.at", "0")).Is(t, 200).Has(t, "What it would do").Lacks(t, "<script>alert", "<img src=x")
	mia.Post(t, "/new-rollout", planned("file.0.name", "V1__"+evil+".sql", "stage.0.name", evil, "stage.0.databases", evil)).Is(t, 422).Lacks(t, "<script>alert", "<img src=x")

	// More than a form carries.
	many := form("step", "add")
	for i := range 200 {
		many.Set(fmt.Sprintf("file.%d.name", i), fmt.Sprintf("V%d__x.sql", i+1))
	}
	h.sent(mia, "/new-rollout", many, file("V999__x.sql", "select 1;")).Is(t, 422).Has(t, "A form takes 200 files")
	h.sent(mia, "/new-rollout", form("step", "add"), file("V1__large.sql", strings.Repeat("x", 17<<20))).Is(t, http.StatusRequestEntityTooLarge)
	h.sent(mia, "/rollouts/x/start", form("reason", strings.Repeat("x", 17<<20))).Is(t, http.StatusRequestEntityTooLarge)
}

// An edit is the same form with the plan in it. It takes the place of a rollout of
// which nothing has run; what its files said stays, and approvals do not.
func TestEditRollout(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "a", "b")
	h.paper("prod", "p", "q")
	mia := h.Login(t, "mia", auth.Maintainer)
	x := h.create(rollout.Plan{
		Name: "orders", Note: "the note", Parallel: 3,
		Stages: []rollout.Stage{{Name: "test", Approvals: 1}, {Name: "first-prod", Databases: []string{"q"}, Promote: rollout.PromoteManual}},
		Files:  []rollout.File{file("0001_a.sql", "-- +goose NO TRANSACTION\n-- +goose Up\ncreate index concurrently x on a (id);\n-- +goose Down\ndrop index x;\n"), file("V2__b.sql", "create table b (id int);\n")},
	})
	h.must(h.Rollouts.Approve(t.Context(), "ann", x.ID, "test", ""))
	edit := onBoard(x) + "/edit"
	page := mia.Get(t, edit).Is(t, 200).Has(t, "Edit orders", "Approvals hold for one plan alone", "1 approval is lost", `value="the note"`, `name="parallel"`, `value="0001_a.sql"`,
		"create index concurrently x on a (id);", `name="stage.1.name" value="first-prod"`, `name="stage.1.databases"`, `name="stage.2.name" value="prod"`)
	h.Login(t, "vic", auth.Viewer).Get(t, edit).Is(t, http.StatusForbidden)

	v := fieldsOf(t, page)
	v.Set("step", "preview")
	page = mia.Post(t, edit, v).Is(t, 200).Has(t, "outside of a transaction", "Replace the rollout")
	// The same plan is not put in its own place.
	mia.Post(t, edit, looked(t, page, v)).Is(t, http.StatusConflict).Has(t, "has this plan already", `value="the note"`)
	v.Set("stage.0.canary", "1")
	v.Set("step", "preview")
	page = mia.Post(t, edit, v).Is(t, 200)
	v = looked(t, page, v)
	to := mia.Post(t, edit, v).Is(t, 303).To()
	if again := mia.Post(t, edit, v).Is(t, 303).To(); again != to {
		t.Errorf("sent twice it leads to %s and %s", to, again)
	}
	y := h.rolloutAt(to)
	if y.Replaces != x.ID || y.Revision != 2 || len(y.Stages[0].Approved) != 0 || y.Stages[0].Canary != 1 || y.Stages[1].Databases != 1 || y.Parallel != 3 || y.Note != "the note" || y.Changes[0].Checksum != x.Changes[0].Checksum {
		t.Errorf("%+v", y)
	}
	plan, err := h.Rollouts.Plan(t.Context(), y.ID)
	if err != nil || plan.Changes[0].Transaction {
		t.Errorf("%+v, %v", plan, err)
	}
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, "It was replaced by").Lacks(t, "/edit")
	mia.Get(t, edit).Is(t, http.StatusConflict).Has(t, "can no longer be edited")

	// What a form cannot carry is not cut short.
	var stages []rollout.Stage
	for i := range 41 {
		h.paper("many", fmt.Sprintf("m%d", i))
		stages = append(stages, rollout.Stage{Name: fmt.Sprintf("s%d", i), Databases: []string{fmt.Sprintf("m%d", i)}})
	}
	large := h.create(rollout.Plan{Stages: stages, Files: []rollout.File{file("V1__x.sql", "create table x (id int);")}})
	mia.Get(t, onBoard(large)).Is(t, 200).Has(t, "m40")
	mia.Get(t, onBoard(large)+"/edit").Is(t, http.StatusConflict).Has(t, "too large for a form", "--replaces "+large.ID.String())

	// What has begun is not edited.
	h.must(h.Rollouts.Start(t.Context(), "ann", y.ID))
	h.must(h.Rollouts.Approve(t.Context(), "ann", y.ID, "test", ""))
	page = mia.Get(t, to+"/edit").Is(t, 200)
	v = fieldsOf(t, page)
	v.Set("name", "too late")
	v.Set("step", "preview")
	page = mia.Post(t, to+"/edit", v).Is(t, 200)
	lost := h.lose(y, "test/a/1")
	mia.Post(t, to+"/edit", looked(t, page, v)).Is(t, http.StatusConflict).Has(t, "has begun", `value="too late"`)
	mia.Get(t, to).Is(t, 200).Has(t, card(lost, "UNKNOWN")).Lacks(t, "/edit")
	mia.Get(t, "/rollouts/01890000-0000-7000-8000-000000000000/edit").Is(t, http.StatusNotFound)
}

var (
	inputTag  = regexp.MustCompile(`<input ([^>]*)>`)
	selectTag = regexp.MustCompile(`(?s)<select ([^>]*)>(.*?)</select>`)
	areaTag   = regexp.MustCompile(`(?s)<textarea ([^>]*)>\n?(.*?)</textarea>`)
	attribute = regexp.MustCompile(`(\w+)="([^"]*)"`)
	chosen    = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// fieldsOf is what a browser would send of the form of a plan.
func fieldsOf(t *testing.T, page webtest.Answer) url.Values {
	t.Helper()
	_, body, found := strings.Cut(page.Body, `<form class="plan-form"`)
	body, _, _ = strings.Cut(body, "</form>")
	if !found {
		t.Fatalf("no form\n%s", page.Body)
	}
	attributes := func(text string) map[string]string {
		out := map[string]string{}
		for _, m := range attribute.FindAllStringSubmatch(text, -1) {
			out[m[1]] = unescaped(m[2])
		}
		return out
	}
	v := url.Values{}
	for _, m := range inputTag.FindAllStringSubmatch(body, -1) {
		if a := attributes(m[1]); a["type"] != "file" && (a["type"] != "checkbox" || strings.Contains(m[1], "checked")) {
			v.Set(a["name"], a["value"])
		}
	}
	for _, m := range selectTag.FindAllStringSubmatch(body, -1) {
		if c := chosen.FindStringSubmatch(m[2]); c != nil {
			v.Set(attributes(m[1])["name"], c[1])
		}
	}
	for _, m := range areaTag.FindAllStringSubmatch(body, -1) {
		v.Set(attributes(m[1])["name"], strings.ReplaceAll(unescaped(m[2]), "\n", "\r\n"))
	}
	return v
}

func unescaped(text string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

// The search finds rollouts by name and id, and databases by name.
func TestSearchRollouts(t *testing.T) {
	h := newHarbour(t)
	h.paper("test", "ledger-eu", "ledger-us")
	x := h.create(rollout.Plan{Name: "ledger 2026-11", Stages: []rollout.Stage{{Name: "test"}}, Files: []rollout.File{file("V1__x.sql", "create table x (id int);")}})
	vic := h.Login(t, "vic", auth.Viewer)
	vic.Get(t, "/search?q=ledger").Is(t, 200).Has(t, onBoard(x), "/databases/ledger-eu", "/databases/ledger-us", `data-state="not_started"`).Lacks(t, "/jobs/"+x.ID.String())
	for text, want := range map[string]string{"ledger-u": "/databases/ledger-us", "ledger 2026": onBoard(x), x.ID.String(): onBoard(x), x.ID.String()[24:]: onBoard(x)} {
		if to := vic.Get(t, "/search?q="+url.QueryEscape(text)).Is(t, 303).To(); to != want {
			t.Errorf("%q leads to %s, want %s", text, to, want)
		}
	}
	s := webtest.Start(t, func(c *site.Config) { c.Rollouts = nil })
	s.Exec(t, `select weir.rollout_put_database('ledger', 'postgres', 'test', 'NONE')`)
	s.Login(t, "vic", auth.Viewer).Get(t, "/search?q=ledger").Is(t, 200).Has(t, "Nothing is called ledger")
}
