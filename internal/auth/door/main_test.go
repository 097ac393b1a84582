package door

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const good = "seven boats in a bottle"

// house is a server behind a door, with a small site: who am I, log in, log out.
type house struct {
	*httptest.Server
	t     *testing.T
	db    *testdb.DB
	store *auth.Store
	door  *Door
	log   bytes.Buffer
}

func open(t *testing.T, change func(*Config)) *house {
	t.Helper()
	h := &house{t: t, db: testdb.New(t)}
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	h.store = auth.New(h.db.Pool, auth.Options{Log: log})
	config := Config{Log: log}
	if change != nil {
		change(&config)
	}
	var err error
	if h.door, err = New(h.store, config); err != nil {
		t.Fatal(err)
	}
	site := http.NewServeMux()
	answer := func(w http.ResponseWriter, err error) {
		if err != nil {
			http.Error(w, err.Error(), Status(problem.Explain(err)))
		}
	}
	site.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s at %s", auth.From(r.Context()).By(), ClientOf(r).Address)
	})
	site.HandleFunc("POST /change", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, auth.From(r.Context()).By()) })
	site.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		answer(w, h.door.Login(w, r, r.FormValue("name"), r.FormValue("password")))
	})
	site.HandleFunc("POST /link", func(w http.ResponseWriter, r *http.Request) {
		answer(w, h.door.LoginLink(w, r, r.FormValue("secret"), auth.NewUser{Name: "ada", Password: good}))
	})
	site.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) { answer(w, h.door.Logout(w, r)) })
	site.HandleFunc("GET /oidc", func(w http.ResponseWriter, r *http.Request) { answer(w, h.door.StartOIDC(w, r)) })
	site.HandleFunc("GET /oidc/callback", func(w http.ResponseWriter, r *http.Request) { answer(w, h.door.FinishOIDC(w, r)) })
	site.HandleFunc("GET /asset", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Cache-Control", "max-age=1") })
	site.HandleFunc("GET /next", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, Next(r), http.StatusSeeOther) })
	h.Server = httptest.NewServer(h.door.Wrap(site))
	t.Cleanup(h.Close)
	return h
}

// add creates a user.
func (h *house) add(name string, role auth.Role) auth.Subject {
	h.t.Helper()
	u, err := h.store.CreateUser(h.t.Context(), auth.System("test"), auth.NewUser{Name: name, Role: role, Password: good})
	if err != nil {
		h.t.Fatal(err)
	}
	return auth.Subject{Kind: auth.KindUser, ID: u.ID, Name: u.Name, UserID: u.ID, Role: u.Role}
}

// reply is the answer to a request.
type reply struct {
	*http.Response
	body string
}

// ask sends a request and does not follow redirects. change sets headers.
func (h *house) ask(method, path string, form url.Values, change ...func(*http.Request)) reply {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range change {
		c(r)
	}
	client := *h.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return reply{response, string(body)}
}

// login logs ada in and returns the cookie.
func (h *house) login(change ...func(*http.Request)) *http.Cookie {
	h.t.Helper()
	r := h.ask("POST", "/login", url.Values{"name": {"ada"}, "password": {good}}, change...)
	if r.StatusCode != http.StatusOK || len(r.Cookies()) != 1 {
		h.t.Fatalf("log in: %d %s %v", r.StatusCode, r.body, r.Cookies())
	}
	return r.Cookies()[0]
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func with(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) }
}

func called(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// wants fails the test unless the reply has the status; a refusal of the API must be a
// problem with a code.
func (h *house) wants(what string, r reply, status int) {
	h.t.Helper()
	if r.StatusCode != status {
		h.t.Errorf("%s: %d %s, wanted %d", what, r.StatusCode, r.body, status)
	}
	if r.Header.Get("Content-Type") == "application/problem+json" {
		var p struct{ Code, Detail, Next, Title string }
		if err := json.Unmarshal([]byte(r.body), &p); err != nil || p.Code == "" || p.Detail == "" || p.Title == "" {
			h.t.Errorf("%s: %v: %s", what, err, r.body)
		}
	}
}

var proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
