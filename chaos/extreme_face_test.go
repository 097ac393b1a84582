//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/web"
	dashboard "github.com/weirhq/weir/internal/web/site"
)

const (
	// answerMost is how many bytes any answer may have, whatever is in the database.
	answerMost = 4 << 20
	// answerWithin is how long any answer may take, because a busy machine is slow.
	answerWithin = 45 * time.Second
	// eachMost is how many objects of a kind a route is asked for.
	eachMost = 30
	// facePassword is the password of every user.
	facePassword = "seven boats in a bottle"
)

// face is a whole server with its API and its pages.
type face struct {
	*run
	at string
	// admin and machine are credentials, session a cookie.
	admin, machine, session string
	client                  *http.Client
	said                    *testwait.Text
	answers                 map[int]int
}

// newFace starts a server on the database of a run. It has nothing that it could start:
// no provider of workspaces answers, and no target of wake calls listens.
func newFace(on *run) *face {
	on.Helper()
	t := on.T
	f := &face{run: on, said: &testwait.Text{}, answers: map[int]int{}}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	dir := t.TempDir()
	config := app.Config{
		DatabaseURL: f.url, Listen: "127.0.0.1:0", Bucket: "folder://" + filepath.Join(dir, "bucket"), SecretKeyFile: filepath.Join(dir, "secret.key"), DrainDelay: -1,
		WorkspaceProviders: []string{"docker"}, DockerHost: "unix://" + filepath.Join(dir, "no.sock"), WakeBroadcast: "127.0.0.1:9", LogLevel: "warn",
	}.Defaults()
	go func() {
		ended <- app.Serve(ctx, config, app.Options{Version: "chaos", Out: f.said, Log: slog.New(slog.NewTextHandler(f.said, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	}()
	f.client = &http.Client{Timeout: answerWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			text := f.said.String()
			t.Logf("the server said at the end:\n%s", text[max(0, len(text)-6000):])
		}
	})
	where := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	f.eventually("the server is up", func() bool {
		f.at = where.FindString(f.said.String())
		return f.at != "" && strings.Contains(f.said.String(), "Weir is up after ")
	})
	f.enter()
	return f
}

// enter makes an admin with a token and a session, and the credential of a node.
func (f *face) enter() {
	f.Helper()
	people, system := auth.New(f.pool, auth.Options{}), auth.System("test")
	if _, err := people.CreateUser(f.ctx, system, auth.NewUser{Name: "ada", Role: auth.Admin, Password: facePassword}); err != nil {
		f.Fatal(err)
	}
	var err error
	if _, f.admin, err = people.CreateToken(f.ctx, system, auth.NewToken{Name: "all", Scopes: []string{"*:*"}, User: "ada"}); err != nil {
		f.Fatal(err)
	}
	join, err := people.CreateJoin(f.ctx, system, auth.NewJoin{Node: "m", Any: true})
	if err == nil {
		f.machine, err = people.Join(f.ctx, join, "m")
	}
	if err != nil {
		f.Fatal(err)
	}
	got := f.ask("POST", "/login", strings.NewReader(url.Values{"name": {"ada"}, "password": {facePassword}}.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	for _, c := range got.Cookies() {
		if strings.HasSuffix(c.Name, "weir_session") {
			f.session = c.Name + "=" + c.Value
		}
	}
	if f.session == "" {
		f.Fatalf("nobody is logged in: %d %s", got.StatusCode, got.body)
	}
}

// answered is a complete answer.
type answered struct {
	*http.Response
	body []byte
}

// ask sends a request and reads the answer to its end, or the beginning of a stream. It
// asks again, as a client does, where the machine is so busy that the database was not
// reached in time: what a request itself causes, it causes each time.
func (f *face) ask(method, path string, body io.Reader, headers ...string) answered {
	f.Helper()
	got := f.askOnce(method, path, body, headers...)
	for try := 0; got.StatusCode == http.StatusServiceUnavailable && body == nil && try < 3; try++ {
		got = f.askOnce(method, path, nil, headers...)
	}
	return got
}

func (f *face) askOnce(method, path string, body io.Reader, headers ...string) answered {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, answerWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, f.at+path, body)
	if err != nil {
		f.Fatalf("%s %.200s: %v", method, path, err)
	}
	r.Header.Set("Accept", "text/html, application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := f.client.Do(r)
	if err != nil {
		f.Fatalf("%s %.200s: %v", method, path, err)
	}
	defer response.Body.Close()
	var text []byte
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		text = make([]byte, 1)
		_, err = response.Body.Read(text)
	} else {
		text, err = io.ReadAll(io.LimitReader(response.Body, answerMost+1))
	}
	if err != nil {
		f.Errorf("%s %.200s: half an answer: %v", method, path, err)
	}
	f.answers[response.StatusCode/100*100]++
	return answered{response, text}
}

// fits returns what is wrong with the form of an answer, whatever its content.
func (a answered) fits() string {
	kind := a.Header.Get("Content-Type")
	switch {
	case a.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(a.body), "something that is needed for it does not answer"): // there is no provider
	case a.StatusCode >= 500:
		return fmt.Sprintf("status %d: %.300s", a.StatusCode, a.body)
	case len(a.body) > answerMost:
		return fmt.Sprintf("the answer has more than %d bytes", answerMost)
	case strings.Contains(kind, "json") && !strings.Contains(kind, "ndjson") && !json.Valid(a.body):
		return fmt.Sprintf("not JSON: %.300s", a.body)
	case strings.HasPrefix(kind, "text/html") && a.StatusCode/100 != 3 && !strings.HasSuffix(strings.TrimSpace(string(a.body)), "</html>"):
		return fmt.Sprintf("half a page: it ends with %q", a.body[max(0, len(a.body)-100):])
	}
	return ""
}

// oddHouse is a server on a database that contains odd values.
type oddHouse struct {
	*face
	edge *edge
}

func newOddHouse(t *testing.T) *oddHouse {
	e := newEdge(t)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute) // on a machine that is busy
	t.Cleanup(cancel)
	e.ctx = ctx
	return &oddHouse{newFace(e.run), e}
}

// furnish leaves every probe that the functions accept in the database, each with its own
// lease, and lets time pass.
func (f *oddHouse) furnish() (taken int) {
	f.Helper()
	gone := regexp.MustCompile(`^\w+\.(drop|delete|remove|forget|deregister|revoke|purge)`)
	for _, p := range f.edge.probes() {
		if gone.MatchString(p.function) {
			continue
		}
		sql := p.sql
		if strings.Contains(sql, f.edge.lease[2]) {
			sql = strings.NewReplacer(f.again(f.edge.lease)...).Replace(sql)
		}
		err := pgx.BeginFunc(f.ctx, f.edge.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(f.ctx, `set local role `+p.role); err != nil {
				return err
			}
			_, err := tx.Exec(f.ctx, sql, pgx.QueryExecModeSimpleProtocol)
			return err
		})
		if err == nil {
			taken++
		}
	}
	f.edge.do(`select weir.tend(true)`)
	return taken
}

// again returns the words of a lease and those of a new one, in pairs.
func (f *oddHouse) again(was []string) []string {
	f.Helper()
	now := f.edge.newLease("x") // of no node, whose slots would run out
	return []string{was[0], now[0], was[2], now[2]}
}

// things are queries for the names that replace a part of a path, those of the API and
// those of pages. A new kind of object needs a line.
var things = map[string]string{
	"{task}": `select id::text from weir.task order by id`, "{job}": `select id::text from weir.jobs order by id`, "{pool}": `select name from weir.pools order by 1`,
	"{schedule}": `select name from weir.schedules order by 1`, "{trigger}": `select name from weir.triggers order by 1`, "{node}": `select name from weir.nodes order by 1`, "{worker}": `select name from weir.workers order by 1`,
	"{workflow}": `select distinct name from weir.workflows order by 1`, "{secret}": `select name from weir.secrets order by 1`, "{user}": `select name from weir.users order by 1`,
	"{token}": `select id::text from weir.tokens order by 1`, "{session}": `select id::text from weir.sessions order by 1`, "{join}": `select id::text from weir.joins order by 1`,
	"{artifact}": `select id::text from weir.artifacts order by id`, "{attempt}": `select '1'`, "{link}": `select 'x'`, "{forward}": `select gen_random_uuid()::text`, "{rollout}": `select job::text from weir.rollouts order by 1`,
	"{database}": `select name from weir.databases order by 1`, "{stage}": `select 'all'`, "{rollout task}": `select q.id::text from weir.tasks q join weir.rollouts r on r.job = q.job order by 1`, "{change}": `select '1'`, "{serial}": `select serial from weir.devices order by 1`,
	"{pc}": `select name from weir.nodes order by 1`, "{fleet}": `select job::text from weir.fleet_jobs order by 1`, "{action}": `select unnest(array['cancel', 'retry', 'hold', 'skip'])`, "{workspace}": `select id::text from weir.workspaces order by 1`,
}

// pageWords are what {id} and {name} mean on a page, by the beginning of its path.
var pageWords = map[string]string{
	"/workflows/": "{workflow}", "/jobs/": "{job}", "/tasks/": "{task}", "/artifacts/": "{artifact}", "/rollouts/": "{rollout}", "/databases/": "{database}", "/fleet/jobs/": "{fleet}",
	"/workspaces/": "{workspace}", "/schedules/": "{schedule}", "/triggers/": "{trigger}", "/pools/": "{pool}", "/nodes/": "{node}", "/workers/": "{worker}", "/users/": "{user}", "/fleet/pcs/": "{pc}", "/secrets/": "{secret}", "/tokens/": "{token}", "/sessions/": "{session}", "/joins/": "{join}", "/account/": "{session}", "/devices/": "{serial}",
}

var placeholder = regexp.MustCompile(`\{[\w ]+\}`)

// paths returns a pattern with objects of the database filled in.
func (f *face) paths(pattern string) []string {
	f.Helper()
	for start, word := range pageWords {
		if strings.HasPrefix(pattern, start) {
			pattern = strings.NewReplacer("{id}", word, "{name}", word).Replace(pattern)
		}
	}
	switch {
	case strings.HasPrefix(pattern, "/fleet/"):
		pattern = strings.ReplaceAll(pattern, "{job}", "{fleet}")
	case strings.HasPrefix(pattern, "/rollouts/"):
		pattern = strings.ReplaceAll(pattern, "{task}", "{rollout task}")
	}
	words := placeholder.FindAllString(pattern, -1)
	if len(words) == 0 {
		return []string{pattern}
	}
	lists, most := map[string][]string{}, 0
	for _, word := range words {
		sql, ok := things[word]
		if !ok {
			f.Fatalf("%s: add a line for %s to the table of things", pattern, word)
		}
		rows, err := f.pool.Query(f.ctx, sql)
		if err != nil {
			f.Fatal(err)
		}
		if lists[word], err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			f.Fatalf("%s: %v", sql, err)
		}
		if len(lists[word]) == 0 {
			return nil
		}
		most = max(most, len(lists[word]))
	}
	step := max(1, most/eachMost)
	var out []string
	for i := 0; i < most; i += step {
		out = append(out, placeholder.ReplaceAllStringFunc(pattern, func(word string) string { return url.PathEscape(lists[word][i%len(lists[word])]) }))
	}
	return out
}

// look reads every route of the API and every page, for the existing objects.
func (f *face) look() (looked int) {
	f.Helper()
	see := func(path string, headers ...string) {
		if len(path) > 16<<10 {
			return // no client sends that; see the test of paths
		}
		looked++
		got := f.ask("GET", path, nil, headers...)
		if wrong := got.fits(); wrong != "" {
			f.Errorf("GET %.300s: %s", path, wrong)
		}
	}
	for _, r := range httpapi.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		for _, path := range f.paths(r.Path) {
			see("/api/v1"+path, "Authorization", "Bearer "+f.admin)
		}
	}
	pages, err := web.New(dashboard.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range pages.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		for _, path := range f.paths(r.Path) {
			see(path, "Cookie", f.session)
		}
	}
	return looked
}

// walk reads lists to their end, so that every object was in an answer once.
func (f *face) walk() {
	f.Helper()
	for _, list := range []string{"/tasks", "/jobs", "/pools", "/nodes", "/workers", "/schedules", "/workflows", "/devices", "/timeline", "/workspaces", "/rollouts"} {
		for after, pages := "", 0; ; pages++ {
			path := "/api/v1" + list + "?limit=200"
			switch {
			case after == "":
			case list == "/timeline": // newest first
				path += "&before=" + url.QueryEscape(after)
			default:
				path += "&after=" + url.QueryEscape(after)
			}
			got := f.ask("GET", path, nil, "Authorization", "Bearer "+f.admin)
			if wrong := got.fits(); wrong != "" || got.StatusCode != http.StatusOK {
				f.Errorf("GET %.300s: %d %s %.300s", path, got.StatusCode, wrong, got.body)
				break
			}
			var page struct{ Next string }
			if err := json.Unmarshal(got.body, &page); err != nil {
				f.Fatal(err)
			}
			if after = page.Next; after == "" {
				break
			}
			if pages > 1000 {
				f.Errorf("%s has no end", list)
				break
			}
		}
	}
}

// canary reports what broke for work that is unrelated to anything odd.
func (f *oddHouse) canary() {
	f.Helper()
	var said *string
	if err := f.edge.conn.QueryRow(f.ctx, `select public.aftermath(true)`).Scan(&said); err != nil {
		f.Fatal(err)
	}
	if said != nil {
		f.Errorf("afterwards: %s", *said)
	}
}

// TestExtremeValuesOnEveryPage checks that every route of the API and every page shows
// whatever the functions let into the database, completely and bounded.
func TestExtremeValuesOnEveryPage(t *testing.T) {
	t.Parallel()
	f := newOddHouse(t)
	taken := f.furnish()
	looked := f.look()
	f.walk()
	f.canary()
	if taken < 200 || looked < 300 {
		t.Errorf("%d values are in the database, %d answers were looked at: hardly anything was tested", taken, looked)
	}
	t.Logf("measured: %d extreme values in the database; %d answers of the API and pages: %v", taken, looked, f.answers)
}
