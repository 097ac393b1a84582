package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testdb"
)

// inner are words of our own insides. None of them is in any answer.
var inner = []string{
	"SQLSTATE", "relation", "weir.sessions", "weir.users", "weir.tokens", "_tasks", "permission denied", "password authentication", "pgxpool", "pgconn", "dial ", "socket", ".s.PGSQL", "FATAL", "ERROR:",
	"goroutine", "runtime error", ".go:", "/internal/", "select ", "insert ", "accepting connections", "does not exist", "rule_",
}

// leaks looks for our insides in an answer.
func (f *fort) leaks(name, path string, got reply, more ...string) {
	f.t.Helper()
	for _, word := range append(more, inner...) {
		if got.StatusCode >= 400 && strings.Contains(got.body, word) {
			f.t.Errorf("%s: %s: status %d says %q: %.400s", name, path, got.StatusCode, word, got.body)
		}
	}
	if strings.HasPrefix(path, "/api/") && got.StatusCode >= 400 {
		var p struct{ Code, Detail string }
		if err := json.Unmarshal([]byte(got.body), &p); err != nil || p.Code == "" {
			f.t.Errorf("%s: %s: status %d is no problem: %.200s", name, path, got.StatusCode, got.body)
		}
	}
}

// pageOfEach are the addresses that touch each part of the database.
func (f *fort) pageOfEach(x furniture) (paths []string) {
	for _, e := range f.entrances(x) {
		if e.method == "GET" && e.path != "/live" && e.path != apiPrefix+"/events" && !strings.HasPrefix(e.path, "/login/oidc") {
			paths = append(paths, e.path)
		}
	}
	return append(paths, "/setup?code=weir_link_"+strings.Repeat("0", 49), "/search?q=x", apiPrefix+"/search?q=x", "/tasks?service=x")
}

// The database breaks in several ways. Neither those who are logged in nor those
// who only claim to be are told how, and nobody is logged out by it.
func TestSecureBrokenDatabase(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"no tables": {
			`alter table weir.sessions rename to sessions_gone`, `alter table weir.users rename to users_gone`, `alter table weir.tokens rename to tokens_gone`,
			`alter table weir.pools rename to pools_gone`, `alter table weir.tasks rename to tasks_gone`,
		},
		"no rights":           {`alter role ROLE nosuperuser`},
		"no rights to things": {`alter role ROLE nosuperuser`, `grant usage on schema weir to ROLE`, `grant select, update on weir.sessions, weir.users, weir.tokens to ROLE`},
		"no such user": {
			`alter role ROLE nologin`, `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ROLE'`,
		},
		"no way in": {
			`alter database DATABASE allow_connections false`, `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'DATABASE' and pid <> pg_backend_pid()`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testdb.New(t)
			other := testdb.NewEmpty(t) // a way in that stays
			role := "weir_secure_" + strings.ToLower(rand.Text())
			database := db.Pool.Config().ConnConfig.Database
			must := func(pool *pgxpool.Pool, sql string) {
				t.Helper()
				sql = strings.NewReplacer("ROLE", role, "DATABASE", database, "VERIFIER", testdb.Verifier(role)).Replace(sql)
				if _, err := pool.Exec(context.Background(), sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			must(other.Pool, `create role ROLE login superuser password 'VERIFIER'`)
			t.Cleanup(func() {
				must(other.Pool, `alter database DATABASE allow_connections true`)
				must(db.Pool, `reassign owned by ROLE to current_user`)
				must(db.Pool, `drop owned by ROLE`)
				must(other.Pool, `drop role ROLE`)
			})
			db.SkipDoctor("its database is broken")
			f := besiegeOn(t, db, func(c *Config, o *Options) {
				c.DatabaseURL = withUser(t, db.URL, url.UserPassword(role, role))
				o.agentPatience = time.Second // the server goes on without its agent
			})
			admin := f.person(auth.Admin)
			secret, _ := f.token("the-admin", "*:*")
			paths := f.pageOfEach(f.furnish("thing"))
			for _, sql := range statements {
				if strings.Contains(sql, "weir") {
					must(db.Pool, sql)
				} else {
					must(other.Pool, sql)
				}
			}
			f.broken(name, paths, []string{role, database}, with(admin), bearer(secret))
		})
	}
}

// withUser is a database URL with another user.
func withUser(t *testing.T, text string, user *url.Userinfo) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.User = user
	return u.String()
}

// broken asks for everything, for pages as a browser and for the API as a program, and
// for every third thing in the other ways and as nobody. It looks what is told.
func (f *fort) broken(name string, paths, secret []string, browser, program way) {
	f.t.Helper()
	failed := 0
	html, json := header("Accept", "text/html"), header("Accept", "application/json")
	for i, path := range paths {
		all := [][]way{{browser, html}, {program, json}, {[]way{html, json}[i%2]}}
		switch {
		case i%3 == 0:
		case strings.HasPrefix(path, apiPrefix):
			all = all[1:2]
		default:
			all = all[:1]
		}
		for _, ways := range all {
			got := f.askOnce("GET", path, append([]way{func(r *http.Request) { r.Header.Del("Accept") }}, ways...)...)
			f.leaks(name, path, got, secret...)
			if got.StatusCode >= 500 {
				failed++
			}
			for _, c := range got.Cookies() {
				if strings.HasSuffix(c.Name, "weir_session") {
					f.t.Errorf("%s: %s logs people out", name, path)
				}
			}
		}
	}
	for _, c := range []struct {
		path string
		body way
	}{
		{"/login", form("name", "the-admin", "password", goodPassword)},
		{apiPrefix + "/login", object("name", "the-admin", "password", goodPassword)},
		{"/setup", form("code", "weir_link_"+strings.Repeat("0", 49))},
		{apiPrefix + "/join", object("secret", "weir_join_"+strings.Repeat("0", 49), "node", "n")},
	} {
		f.leaks(name, c.path, f.ask("POST", c.path, c.body), secret...)
	}
	// A stream may have begun: what it reads is in memory.
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	for _, w := range []way{browser, program} {
		status, lines := f.follow(ctx, apiPrefix+"/events?after=1.1", w)
		if text := new(strings.Builder); status != http.StatusOK {
			for line := range lines {
				text.WriteString(line)
			}
			f.leaks(name, apiPrefix+"/events", reply{&http.Response{StatusCode: status}, text.String()}, secret...)
		}
	}
	if failed < 50 {
		f.t.Errorf("%s: only %d answers failed: nothing was tested", name, failed)
	}
}
