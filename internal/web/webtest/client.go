package webtest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
)

// Client is a browser without a screen: it keeps cookies and shows what came.
// It does not follow redirects by itself.
type Client struct {
	HTTP *http.Client
	base string
}

// Nobody is a client that is not logged in.
func (s *Server) Nobody(t testing.TB) *Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(c.CloseIdleConnections)
	return &Client{c, s.URL}
}

// Login makes a user and logs in as them.
func (s *Server) Login(t testing.TB, name string, role auth.Role) *Client {
	t.Helper()
	a := s.User(t, name, role)
	c := s.Nobody(t)
	page := c.Post(t, "/login", url.Values{"name": {a.Name}, "password": {a.Password}})
	if page.Status != http.StatusSeeOther {
		t.Fatalf("log in as %s: %d\n%s", name, page.Status, page.Body)
	}
	return c
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Get asks for a page.
func (c *Client) Get(t testing.TB, path string) Answer {
	t.Helper()
	return c.send(t, http.MethodGet, path, nil, nil)
}

// Post sends a form, as a browser does from our own page.
func (c *Client) Post(t testing.TB, path string, form url.Values) Answer {
	t.Helper()
	return c.send(t, http.MethodPost, path, form, http.Header{"Sec-Fetch-Site": {"same-origin"}})
}

// PostFrom sends a form as a browser does from a page of another site.
func (c *Client) PostFrom(t testing.TB, origin, path string, form url.Values) Answer {
	t.Helper()
	return c.send(t, http.MethodPost, path, form, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {origin}})
}

func (c *Client) send(t testing.TB, method, path string, form url.Values, header http.Header) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{response.StatusCode, response.Header, string(body)}
}

// To is where the answer leads.
func (a Answer) To() string { return a.Header.Get("Location") }

// Is fails the test when the status is another.
func (a Answer) Is(t testing.TB, status int) Answer {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d (leads to %q)\n%s", a.Status, status, a.To(), a.Body)
	}
	return a
}

// Has fails the test when the page lacks one of the texts.
func (a Answer) Has(t testing.TB, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.Body, text) {
			t.Errorf("the page lacks %q\n%s", text, a.Body)
		}
	}
	return a
}

// Lacks fails the test when the page has one of the texts.
func (a Answer) Lacks(t testing.TB, texts ...string) Answer {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			t.Errorf("the page has %q\n%s", text, a.Body)
		}
	}
	return a
}
