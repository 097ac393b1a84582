package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web"
	"github.com/weirhq/weir/internal/web/site"
)

// The tests in the files secure_*_test.go attack a whole server over real HTTP.
// docs/security.md lists what each of them is for.

// goodPassword is everybody's.
const goodPassword = "seven boats in a bottle"

// fort is a whole server under attack.
type fort struct {
	*running
	db     *testdb.DB
	people *auth.Store
	log    *testwait.Text
	client *http.Client
}

// besiege starts a server on a database of its own.
func besiege(t *testing.T, change ...func(*Config, *Options)) *fort {
	t.Helper()
	return besiegeOn(t, testdb.New(t), change...)
}

// besiegeOn starts one more server on a database. It logs everything as JSON.
func besiegeOn(t *testing.T, db *testdb.DB, change ...func(*Config, *Options)) *fort {
	t.Helper()
	f := &fort{db: db, people: auth.New(db.Pool, auth.Options{}), log: &testwait.Text{}}
	config := Config{DatabaseURL: db.URL, LogFormat: "json", LogLevel: "debug"}
	options := Options{Log: config.Logger(f.log)}
	for _, c := range change {
		c(&config, &options)
	}
	f.client = &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	f.running = up(t, config, options)
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the log ends with:\n%s", last(f.log.String(), 4000))
		}
	})
	return f
}

func last(s string, n int) string { return s[max(0, len(s)-n):] }

// reply is what came back.
type reply struct {
	*http.Response
	body string
}

func (r reply) to() string { return r.Header.Get("Location") }

// way changes a request before it is sent.
type way func(*http.Request)

func header(name, value string) way { return func(r *http.Request) { r.Header.Add(name, value) } }
func bearer(secret string) way      { return header("Authorization", "Bearer "+secret) }
func calling(host string) way       { return func(r *http.Request) { r.Host = host } }

func with(c *http.Cookie) way {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) }
}

func sending(kind, body string) way {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", kind)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
}

func form(pairs ...string) way {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return sending("application/x-www-form-urlencoded", values.Encode())
}

func object(pairs ...any) way {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	text, _ := json.Marshal(fields) // text and numbers always become JSON
	return sending("application/json", string(text))
}

// ask sends a request as a browser would, and does not follow where it leads. It asks
// again, as a client does, where the machine is so busy that the database was not reached
// in time: what a request itself causes, it causes each time.
func (f *fort) ask(method, path string, ways ...way) reply {
	f.t.Helper()
	got := f.askOnce(method, path, ways...)
	for try := 0; got.StatusCode == http.StatusServiceUnavailable && try < 3; try++ {
		got = f.askOnce(method, path, ways...)
	}
	return got
}

func (f *fort) askOnce(method, path string, ways ...way) reply {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+f.listen+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html, application/json")
	for _, w := range ways {
		w(r)
	}
	response, err := f.client.Do(r)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{response, string(body)}
}

// wants is ask with a status that must come back.
func (f *fort) wants(status int, method, path string, ways ...way) reply {
	f.t.Helper()
	got := f.ask(method, path, ways...)
	if got.StatusCode != status {
		f.t.Errorf("%s %s: status %d, wanted %d: %.300s", method, path, got.StatusCode, status, got.body)
	}
	return got
}

// system is whoever sets a test up.
var system = auth.System("test")

// add makes a user.
func (f *fort) add(name string, role auth.Role) auth.User {
	f.t.Helper()
	u, err := f.people.CreateUser(f.t.Context(), system, auth.NewUser{Name: name, Role: role, Password: goodPassword})
	if err != nil {
		f.t.Fatal(err)
	}
	return u
}

// login is the cookie of a user who logs in with a password.
func (f *fort) login(name string, ways ...way) *http.Cookie {
	f.t.Helper()
	got := f.wants(http.StatusSeeOther, "POST", "/login", append(ways, form("name", name, "password", goodPassword))...)
	return f.session(got)
}

// session is the cookie of a session that an answer sets.
func (f *fort) session(r reply) *http.Cookie {
	f.t.Helper()
	for _, c := range r.Cookies() {
		if strings.HasSuffix(c.Name, "weir_session") && c.Value != "" {
			return c
		}
	}
	f.t.Fatalf("status %d sets no session: %v", r.StatusCode, r.Header)
	return nil
}

// person is a new user who has logged in.
func (f *fort) person(role auth.Role) *http.Cookie {
	f.t.Helper()
	name := "the-" + string(role)
	f.add(name, role)
	return f.login(name)
}

// token is one of a user.
func (f *fort) token(user string, scopes ...string) (secret string, token auth.Token) {
	f.t.Helper()
	token, secret, err := f.people.CreateToken(f.t.Context(), system, auth.NewToken{Name: strings.Join(scopes, " "), Scopes: scopes, User: user})
	if err != nil {
		f.t.Fatal(err)
	}
	return secret, token
}

// node is the credential of a node.
func (f *fort) node(name string) string {
	f.t.Helper()
	secret, err := f.people.CreateJoin(f.t.Context(), system, auth.NewJoin{Node: name, Any: true})
	if err != nil {
		f.t.Fatal(err)
	}
	credential, err := f.people.Join(f.t.Context(), secret, name)
	if err != nil {
		f.t.Fatal(err)
	}
	return credential
}

// text runs a query of one row and one column.
func (f *fort) text(sql string, args ...any) (out string) {
	f.t.Helper()
	if err := f.db.Pool.QueryRow(f.t.Context(), sql, args...).Scan(&out); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (f *fort) exec(sql string, args ...any) {
	f.t.Helper()
	if _, err := f.db.Pool.Exec(f.t.Context(), sql, args...); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}

// furniture is one thing of each kind. A name stands for all that have one.
type furniture struct {
	name                            string
	task, job, token, session, join string
}

// furnish makes one thing of each kind, with a name that may be hostile and is
// also in every text of theirs. None of them changes by itself.
func (f *fort) furnish(name string) furniture {
	f.t.Helper()
	for _, sql := range []string{
		`select weir.set_pool($1, size => 1, note => $1)`,
		`select weir.register_node($1, jsonb_build_object($1::text, $1::text), jsonb_build_object($1::text, 2))`,
		`select weir.register_worker($1, array[$1], $1, jsonb_build_object($1::text, $1::text))`,
		`select weir.set_schedule($1, '@daily', jsonb_build_object('service', $1::text, 'params', jsonb_build_object($1::text, $1::text)), now() + interval '20 h', paused => true)`,
		`select weir.submit($1, jsonb_build_object('a', $1::text), pool => $1, labels => '{}')`,
		`select weir.open_gates()`,
		`select weir.record(c.task, c.attempt, c.token, 'said', $1, jsonb_build_object($1::text, $1::text)), weir.fail(c.task, c.attempt, c.token, $1, true) from weir.claim($1, array[$1]) c`,
		`select weir.submit_job(jsonb_build_array(jsonb_build_object('key', 'a', 'service', $1::text), jsonb_build_object('key', 'b', 'service', $1::text, 'needs', jsonb_build_array('a'))),
			$1, params => jsonb_build_object($1::text, $1::text))`,
		`select weir.open_gates()`,
		`select weir.finish(c.task, c.attempt, c.token, jsonb_build_object($1::text, $1::text)) from weir.claim($1, array[$1]) c`,
		`select weir.submit($1, jsonb_build_object('x', $1::text), hold => $1)`,
		`select weir.set_node_mode($1, 'draining', $1, null, $1)`,
	} {
		if strings.Contains(sql, "$1") {
			f.exec(sql, name)
		} else {
			f.exec(sql)
		}
	}
	u := f.add("owner", auth.Viewer)
	_, token := f.token("owner", "*:read")
	f.login("owner", header("User-Agent", strings.Map(printable, name)))
	if _, err := f.people.CreateJoin(f.t.Context(), system, auth.NewJoin{Any: true}); err != nil {
		f.t.Fatal(err)
	}
	return furniture{
		name: name, token: token.ID,
		task:    f.text(`select id::text from weir.task where state = 'failed' limit 1`),
		job:     f.text(`select id::text from weir.jobs limit 1`),
		session: f.text(`select id::text from weir.sessions where user_id = $1 limit 1`, u.ID),
		join:    f.text(`select id::text from weir.joins limit 1`),
	}
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

// path puts the things into the path of a route, of the API or of a page.
func (x furniture) path(pattern string) string {
	id, name := x.task, x.name
	switch {
	case strings.HasPrefix(pattern, "/jobs/"):
		id = x.job
	case strings.HasPrefix(pattern, "/tokens/"):
		id = x.token
	case strings.HasPrefix(pattern, "/sessions/"):
		id = x.session
	case strings.HasPrefix(pattern, "/joins/"):
		id = x.join
	case strings.HasPrefix(pattern, "/users/"):
		name = "owner"
	}
	name = url.PathEscape(name)
	return strings.NewReplacer("{id}", id, "{task}", x.task, "{job}", x.job, "{token}", x.token, "{session}", x.session, "{join}", x.join, "{user}", "owner",
		"{name}", name, "{pool}", name, "{schedule}", name, "{node}", name, "{worker}", name,
		"{workflow}", name, "{secret}", name, "{artifact}", "1", "{attempt}", "1").Replace(pattern)
}

// filled is a form with something in every field that any page has.
var filled = []string{
	"name", "intruder", "password", goodPassword, "old", goodPassword, "new", goodPassword + "!", "again", goodPassword + "!", "role", "admin", "size", "9", "rate", "9", "per", "1m",
	"note", "x", "reason", "x", "force", "yes", "hours", "1", "priority", "99", "spec", "@every 1m", "zone", "UTC", "missed", "one", "task", `{"service": "x"}`, "service", "x", "params", "{}",
	"days", "30", "scopes", "*:*", "scope", "*:*", "node", "intruder", "minutes", "10", "ttl", "10m", "cascade", "yes", "confirm", "yes", "code", "x", "next", "/",
}

// dashboard is the table of routes of the dashboard.
func dashboard(t testing.TB) []web.Route {
	t.Helper()
	w, err := web.New(site.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	routes := w.Routes()
	if len(routes) < 60 {
		t.Fatalf("only %d routes of the dashboard are known", len(routes))
	}
	return routes
}

// apiPrefix is where the API lives.
const apiPrefix = "/api/v1"

// entrance is one way in: of the API or of the dashboard.
type entrance struct {
	method, path string
	api          bool
}

// entrances are all ways in, with real things in their paths.
func (f *fort) entrances(x furniture) (all []entrance) {
	f.t.Helper()
	for _, r := range httpapi.Routes() {
		all = append(all, entrance{r.Method, apiPrefix + x.path(r.Path), true})
	}
	for _, r := range dashboard(f.t) {
		all = append(all, entrance{r.Method, x.path(r.Path), false})
	}
	for _, extra := range []string{"GET /login", "POST /login", "GET /login/oidc", "GET /login/oidc/return", "POST /logout", "GET /setup", "POST /setup", "GET /live", "GET /metrics"} {
		method, path, _ := strings.Cut(extra, " ")
		all = append(all, entrance{method, path, false})
	}
	if len(all) < 140 {
		f.t.Fatalf("only %d ways in are known", len(all))
	}
	return all
}

// state is all that a request could change and that does not change by itself.
func (f *fort) state() string {
	f.t.Helper()
	var b bytes.Buffer
	for _, sql := range []string{
		`select to_jsonb(u) - 'login_at' from weir.users u`, `select to_jsonb(t) - 'used_at' from weir.tokens t`, `select to_jsonb(s) - 'seen_at' from weir.sessions s`,
		`select to_jsonb(l) from weir.links l`, `select to_jsonb(j) from weir.joins j`, `select to_jsonb(c) - 'used_at' from weir.node_credentials c`, `select to_jsonb(a) from weir.login_attempts a`,
		`select jsonb_build_array(t.id, t.state, t.priority) from weir.task t`, `select to_jsonb(j) from weir.jobs j`, `select to_jsonb(p) from weir.pools p`, `select to_jsonb(s) from weir.schedules s`,
		`select jsonb_build_array(n.name, n.mode, n.mode_at) from weir.nodes n`, `select to_jsonb(o) from weir.oidc_visits o`,
		`select jsonb_build_array(e.type, e.kind, e.subject) from weir.events e where e.kind not in ('lock', 'partition', 'worker')`,
	} {
		fmt.Fprintln(&b, sql, f.text(`select coalesce(string_agg(x::text, E'\n' order by x::text), '') from (`+sql+`) y(x)`))
	}
	return b.String()
}

// misspelt is a secret with another letter in it.
func misspelt(secret string) string {
	letter := "0"
	if secret[20:21] == letter {
		letter = "1"
	}
	return secret[:20] + letter + secret[21:]
}

// differ are the lines that only one of two states has.
func differ(before, after string) string {
	var out []string
	for _, pair := range [][2]string{{before, after}, {after, before}} {
		for _, line := range strings.Split(pair[0], "\n") {
			if !strings.Contains(pair[1], line) {
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "\n")
}
