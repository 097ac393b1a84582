package pagetest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

func TestJobs(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	c.Get(t, "/jobs").Is(t, http.StatusOK).Has(t, "No job yet")
	st := furnish(t, s)
	c.Get(t, "/jobs").Is(t, http.StatusOK).Has(t, "The Lock Keeper", "0/6", "8/200", "&lt;img src=x").Lacks(t, "<img src=x", "New task")
	c.Get(t, "/jobs?state=done").Is(t, http.StatusOK).Has(t, "No job fits").Lacks(t, "The Lock Keeper")
	c.Get(t, "/jobs?name=The+L*").Has(t, "The Lock Keeper").Lacks(t, st.wide.String())
	c.Get(t, "/jobs?kind=film").Has(t, "The Lock Keeper").Lacks(t, st.wide.String())
	c.Get(t, "/jobs?state=nonsense").Is(t, http.StatusUnprocessableEntity)
	s.Login(t, "bob", auth.Operator).Get(t, "/jobs").Has(t, "Run a workflow")
}

// A long list has pages, and each leads on to the next.
func TestJobsPages(t *testing.T) {
	s := webtest.Start(t)
	c := s.Login(t, "ada", auth.Viewer)
	for range 60 {
		submitJob(t, s, weir.Job{Name: "many", Tasks: []weir.Task{{Service: "x"}}})
	}
	first := c.Get(t, "/jobs?name=many*").Is(t, http.StatusOK)
	if n := strings.Count(first.Body, "data-href"); n != 50 {
		t.Errorf("the first page has %d jobs", n)
	}
	next := hrefOf(t, first.Body, `rel="next"`)
	second := c.Get(t, next).Is(t, http.StatusOK).Has(t, `rel="first"`).Lacks(t, `rel="next"`)
	if n := strings.Count(second.Body, "data-href"); n != 10 {
		t.Errorf("the second page %s has %d jobs", next, n)
	}
}

// hrefOf is the address of the link with an attribute.
func hrefOf(t testing.TB, body, attribute string) string {
	t.Helper()
	before, _, found := strings.Cut(body, attribute)
	at := strings.LastIndex(before, `href="`)
	if !found || at < 0 {
		t.Fatalf("no link has %s\n%s", attribute, body)
	}
	href, _, _ := strings.Cut(before[at+len(`href="`):], `"`)
	return strings.ReplaceAll(href, "&amp;", "&")
}
