package pagetest_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// The form has a field for each param, with its default, and says at the field
// what is wrong.
func TestRunForm(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, media)
	c := s.Login(t, "ada", auth.Operator)
	page := c.Get(t, "/workflows/media/run").Is(t, 200).Has(t, `name="params.source"`, "where the raw file lies", `value="1920"`, `value="1.5"`, `name="params.draft"`, `name="params.extra"`, "[\n  &#34;en&#34;\n]",
		`<option value="&#34;fast&#34;" selected>fast</option>`, `name="json"`, `name="at"`, `name="priority"`)
	if !regexp.MustCompile(`id="field-params.source"[^>]*required`).MatchString(page.Body) || regexp.MustCompile(`id="field-params.width"[^>]*required`).MatchString(page.Body) {
		t.Error("what is required is not marked")
	}
	run := "/workflows/media/run"
	for _, x := range []struct{ field, value, says string }{
		{"params.source", "", "It must be filled in"},
		{"params.width", "wide", "is no integer"},
		{"params.width", "3", "less than"},
		{"params.ratio", "<b>", "is no number"},
		{"params.draft", "perhaps", "is no boolean"},
		{"params.langs", `["en", 3]`, "1: "},
		{"params.langs", `{`, "is no JSON"},
		{"params.preset", `"other"`, "fast"},
		{"json", `[1]`, "no JSON object"},
		{"at", "soon", "no time"},
		{"priority", "500", "-100 to 100"},
	} {
		sent := form("params.source", "s3://x", "params.width", "1920", "params.ratio", "1.5", "params.preset", `"fast"`, "params.langs", "[\r\n  \"en\"\r\n]")
		sent.Set(x.field, x.value)
		c.Post(t, run, sent).Is(t, 422).Has(t, x.says, `aria-describedby="about-`+x.field+`" aria-invalid="true"`).Lacks(t, "<b>")
	}
	if got := s.One(t, `select count(*)::text from weir.jobs`); got != "0" {
		t.Fatalf("refused forms made %s jobs", got)
	}
	// What is left as it is is not given; the box wins over the fields.
	to := c.Post(t, run, form("params.source", "s3://x", "params.width", "1920", "params.preset", `"slow"`, "params.draft", "true", "params.langs", "[\r\n  \"en\"\r\n]",
		"json", `{"width": 640}`, "priority", "7")).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "The workflow runs.", "run of ", "media version 1", "by ada", "priority 7")
	if got := s.One(t, `select (options - 'by')::text from weir.jobs`); got != `{"params": {"draft": true, "width": 640, "preset": "slow", "source": "s3://x"}}` {
		t.Errorf("the options are %s", got)
	}
	// One that is due later waits, and says so.
	to = c.Post(t, run, form("params.source", "s3://x", "at", "2h")).Is(t, 303).To()
	c.Get(t, to).Is(t, 200).Has(t, "queued", "Why it waits", "The job waits for its time.", "due ", "It is built when it is due", "gets its steps when it is due")
	c.Get(t, "/workflows").Is(t, 200).Has(t, "queued")
	c.Get(t, "/workflows/media/jobs").Is(t, 200).Has(t, to)
	c.Get(t, "/jobs?workflow=media&state=queued").Is(t, 200).Has(t, to)
	c.Post(t, to+"/cancel", form("reason", "not today")).Is(t, 303)
	c.Get(t, to).Is(t, 200).Has(t, "canceled", "not today")
}

// A workflow that says nothing about its params takes JSON.
func TestRunFormJSON(t *testing.T) {
	s := webtest.Start(t)
	s.Put(t, "name: any\nsteps: [{key: a, service: a}]")
	c := s.Login(t, "ada", auth.Operator)
	c.Get(t, "/workflows/any/run").Is(t, 200).Has(t, "says nothing about its params").Lacks(t, `name="params.`)
	to := c.Post(t, "/workflows/any/run", form("json", `{"big": 12345678901234567}`)).Is(t, 303).To()
	c.Get(t, to+"/params").Is(t, http.StatusOK).Has(t, "12345678901234567")
}
