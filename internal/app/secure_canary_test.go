package app

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testdb"
)

// canaries are secrets by what they are.
type canaries map[string]string

// forms are the ways in which a secret might be written down.
func forms(secret string) map[string]string {
	return map[string]string{
		"clear": secret, "half": secret[:len(secret)/2+6], "hex": hex.EncodeToString([]byte(secret)), "escaped": url.QueryEscape(secret),
		"base64": strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="), "base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}

// in fails for every secret that a text holds.
func (c canaries) in(t *testing.T, where, text string) {
	t.Helper()
	for name, secret := range c {
		for form, s := range forms(secret) {
			if i := strings.Index(text, s); i >= 0 {
				t.Errorf("%s holds the %s (%s): …%.60q…", where, name, form, text[max(0, i-40):i])
			}
		}
	}
}

// Every secret there is goes through everything that knows of it. Afterwards
// none of them is in the log, in any table, on any page, in the API, in the
// metrics, in the settings or in the arguments of a process.
func TestSecureCanary(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	secrets := canaries{"OIDC secret": "canary-oidc-client-secret-4711", "Redis password": "canary-redis-password-4712", "password": "canary password in a mine", "typo": "canary typo in a password", "name typo": "canary-password-typed-as-a-name"}
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	secrets["database password"], _ = u.User.Password()
	environment := map[string]string{
		"WEIR_DATABASE_URL": db.URL, "WEIR_REDIS_URL": "redis://weir:" + secrets["Redis password"] + "@127.0.0.1:1/0", "WEIR_OIDC_ISSUER": "http://127.0.0.1:1", "WEIR_OIDC_CLIENT_ID": "weir",
		"WEIR_OIDC_CLIENT_SECRET": secrets["OIDC secret"], "WEIR_PUBLIC_URL": "http://localhost", "WEIR_LOG_LEVEL": "debug", "WEIR_LOG_FORMAT": "json",
	}
	config, values, err := Load(Source{Env: func(name string) (string, bool) { v, ok := environment[name]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	f := besiegeOn(t, db, func(c *Config, o *Options) {
		data := c.Data
		*c = config
		c.Data, c.PublicURL, o.Values = data, "", values
	})
	f.leaveCanaries(secrets)

	shown, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	secrets.in(t, "weir config", string(shown))
	secrets.in(t, "the log", f.log.String())
	if !strings.Contains(f.log.String(), `"level":"DEBUG"`) || !strings.Contains(f.log.String(), "/api/v1/login") {
		t.Errorf("the log does not hold what it should: %.500s", f.log.String())
	}
	f.tables(secrets)
	arguments, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(arguments) == 0 {
		t.Fatalf("no process was found: %v", err)
	}
	for _, path := range arguments {
		line, _ := os.ReadFile(path) // it may have ended
		secrets.in(t, "the command line of a process", string(line))
	}
}

// leaveCanaries uses every secret, rightly and wrongly, then reads everything.
func (f *fort) leaveCanaries(secrets canaries) {
	f.t.Helper()
	link := f.linkOf()
	secrets["set-up link"] = link
	f.ask("GET", "/setup?code="+link)
	f.wants(http.StatusUnprocessableEntity, "POST", "/setup", form("code", link, "name", "ada", "password", "short"))
	cookie := f.session(f.wants(http.StatusSeeOther, "POST", "/setup", form("code", link, "name", "ada", "password", secrets["password"])))
	session, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		f.t.Fatal(err)
	}
	secrets["session"] = string(session)
	made := func(kind, field, path string, body way) string {
		var fields map[string]any
		got := f.wants(http.StatusCreated, "POST", apiPrefix+path, with(cookie), body)
		if err := json.Unmarshal([]byte(got.body), &fields); err != nil {
			f.t.Fatal(err)
		}
		secret, _ := fields[field].(string)
		if len(secret) < 40 {
			f.t.Fatalf("%s: %s", kind, got.body)
		}
		secrets[kind] = secret
		return secret
	}
	token := made("token", "secret", "/tokens", object("name", "ci", "scopes", []string{"*:*"}))
	made("login link", "secret", "/users/ada/link", object())
	join := made("join secret", "secret", "/joins", object("node", "n1", "any", true))
	made("unused join secret", "secret", "/joins", object("any", true))
	made("node credential", "credential", "/join", object("secret", join, "node", "n1"))
	f.wants(http.StatusOK, "GET", apiPrefix+"/me", bearer(token))
	f.ask("POST", "/new-token", with(cookie), form("name", "page", "scopes", "*:read", "days", "30"))
	f.ask("POST", "/new-join", with(cookie), form("node", "n2", "hours", "1", "may", "any"))
	f.ask("GET", "/login/oidc")

	// Secrets where they do not belong.
	for _, secret := range secrets {
		f.ask("POST", apiPrefix+"/login", object("name", secret, "password", secret))
		f.ask("POST", "/login", form("name", secret, "password", secret))
		f.ask("POST", apiPrefix+"/join", object("secret", secret+"x", "node", "n9"))
		f.ask("GET", "/setup?code="+url.QueryEscape(secret+"x"))
		f.ask("GET", apiPrefix+"/me?token="+url.QueryEscape(secret))
		f.ask("GET", apiPrefix+"/me", bearer(strings.Map(printable, secret)+"x"))
		f.ask("GET", "/", header("Cookie", "weir_session="+base64.RawURLEncoding.EncodeToString([]byte(secret+"x"))))
		f.ask("GET", "/login/oidc/return?code="+url.QueryEscape(secret)+"&state="+url.QueryEscape(secret))
	}
	for range 8 {
		f.ask("POST", apiPrefix+"/login", object("name", "ada", "password", secrets["typo"]))
	}
	f.exec(`delete from weir.login_attempts`)
	x := f.furnish("thing")
	for _, e := range f.entrances(x) {
		if e.method != "GET" || e.path == "/live" || e.path == apiPrefix+"/events" || strings.HasPrefix(e.path, "/login/oidc") {
			continue
		}
		for _, who := range []way{with(cookie), bearer(token)} {
			secrets.in(f.t, e.path, f.ask("GET", e.path, who).body)
		}
	}
	if got := f.wants(http.StatusOK, "GET", "/settings", with(cookie)); !strings.Contains(got.body, "oidc_client_secret") || !strings.Contains(got.body, "***") {
		f.t.Errorf("the settings do not show what they should")
	}
}

// tables looks into every column of every table, as text.
func (f *fort) tables(secrets canaries) {
	f.t.Helper()
	rows, err := f.db.Pool.Query(f.t.Context(), `select c.oid::regclass::text from pg_class c where c.relnamespace = 'weir'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`)
	if err != nil {
		f.t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 20 {
		f.t.Fatalf("only %d tables: %v", len(names), err)
	}
	hashed := ""
	for _, name := range names {
		text := f.text(`select coalesce(string_agg(x::text, E'\n'), '') from ` + name + ` x`)
		secrets.in(f.t, name, text)
		hashed += text
	}
	// What the tables do hold are hashes.
	if n := strings.Count(hashed, "$argon2id$"); n < 2 {
		f.t.Errorf("only %d passwords are hashed", n)
	}
	for _, kind := range []string{"weir_ses_", "weir_pat_", "weir_link_", "weir_join_", "weir_node_", "weir_visit_"} {
		if strings.Contains(hashed, kind) {
			f.t.Errorf("a table holds a secret that begins with %s", kind)
		}
	}
	for _, table := range []string{"sessions", "tokens", "links", "joins", "node_credentials"} {
		if n := f.text(fmt.Sprintf(`select count(*)::text from weir.%s where length(hash) <> 32`, table)); n != "0" {
			f.t.Errorf("%s has %s rows that are no SHA-256", table, n)
		}
	}
}
