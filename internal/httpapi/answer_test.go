package httpapi

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// failing makes one operation, the one that reads the tail, fail with a given error.
type failing struct {
	op.Caller
	with func(context.Context) error
}

func (f failing) Call(ctx context.Context, o op.Any, in, out any) error {
	if o.Describe().Verb == "tail" {
		return f.with(ctx)
	}
	return f.Caller.Call(ctx, o, in, out)
}

// Internal errors are logged and not revealed.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	var with func() error
	r := newRig(t, func(c *Config) { c.Operations = failing{c.Operations, func(context.Context) error { return with() }} })
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	for name, c := range map[string]struct {
		with   func() error
		status int
		code   string
	}{
		"panic": {func() error { panic("secret canary") }, 500, "failed"},
		"error": {func() error { return errors.New("secret canary") }, 500, "failed"},
		"denied": {func() error {
			return r.sql("set role pg_monitor; select * from weir.users where name = 'secret canary'")
		}, 500, "failed"},
		"no table": {func() error { return r.sql("select * from secret_canary") }, 500, "failed"},
		"too slow": {func() error { return errors.Join(errors.New("secret canary"), context.DeadlineExceeded) }, 503, "unreachable"},
		"no room":  {func() error { return problem.Explain(&late{}) }, 503, "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			with = c.with
			got := boss.want(c.status, "GET", "/timeline/tail", nil, "X-Request-Id", "canary-"+strings.ReplaceAll(name, " ", "-"))
			p := got.refusal()
			if p.Code != c.code || p.Instance != got.header.Get("X-Request-Id") || !strings.HasPrefix(p.Instance, "canary-") {
				t.Errorf("got %+v", p)
			}
			for _, word := range []string{"secret", "SQLSTATE", "relation", "weir.users", "permission"} {
				if strings.Contains(string(got.body), word) {
					t.Errorf("%q leaked: %s", word, got.body)
				}
			}
			if !strings.Contains(r.log.String(), p.Instance) {
				t.Error("the log does not know the request")
			}
			if c.status == 503 && got.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		})
	}
}

// late is an error of the network.
type late struct{}

func (*late) Error() string { return "secret canary" }

func (*late) Unwrap() error { return context.DeadlineExceeded }

// sql runs statements and returns the error.
func (r *rig) sql(text string) error {
	conn, err := r.db.Pool.Acquire(context.Background())
	if err != nil {
		return err
	}
	defer conn.Release()
	_, err = conn.Conn().PgConn().Exec(context.Background(), "begin; "+text).ReadAll()
	_, _ = conn.Exec(context.Background(), "rollback")
	return err
}

// The door does not reveal a database that is away either.
func TestDoorLeaksNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.token("boss", "*:*")
	r.sdk.Close()
	r.db.Pool.Close()
	got := boss.call("GET", "/tasks", nil)
	if p := got.refusal(); got.status < 500 || strings.Contains(string(got.body), "pool") || strings.Contains(string(got.body), "token") || p.Instance == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A request is cut off at its timeout.
func TestTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) {
		c.Timeout = 50 * time.Millisecond
		c.Operations = failing{c.Operations, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
	})
	r.user("boss", auth.Admin)
	_, secret, err := r.auth.CreateToken(t.Context(), system, auth.NewToken{Name: "t", Scopes: []string{"*:read"}, User: "boss"})
	if err != nil {
		t.Fatal(err)
	}
	a := r.anybody()
	a.bearer = secret
	if p := a.want(http.StatusServiceUnavailable, "GET", "/timeline/tail", nil).refusal(); !strings.Contains(p.Detail, "too long") {
		t.Errorf("got %+v", p)
	}
}

// The server does not wait for a body that does not arrive.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Timeout = 50 * time.Millisecond })
	r.user("boss", auth.Admin)
	boss := r.token("boss", "*:*")
	reader, writer := io.Pipe()
	defer writer.Close()
	q, err := http.NewRequest("POST", r.url+prefix+"/tasks", reader)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+boss.bearer)
	q.Header.Set("Content-Type", "application/json")
	response, err := boss.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.login("boss")

	if got := boss.want(http.StatusNoContent, "OPTIONS", "/tasks", nil); got.header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("OPTIONS: %v", got.header)
	}
	if got := boss.want(http.StatusMethodNotAllowed, "DELETE", "/tasks", nil); got.header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("405: %v", got.header)
	}
	if got := boss.want(http.StatusOK, "HEAD", "/tasks", nil); len(got.body) != 0 || got.header.Get("Content-Type") != "application/json" || got.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %v %q", got.header, got.body)
	}
	if got := boss.want(http.StatusOK, "GET", "/version", nil); got.header.Get("X-Request-Id") == "" || got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", got.header)
	}
	if got := r.anybody().want(http.StatusUnauthorized, "GET", "/tasks", nil); got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("401: %v", got.header)
	}
	got := boss.want(http.StatusOK, "GET", "/openapi.json", nil, "Accept-Encoding", "br, gzip")
	if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("gzip: %v", got.header)
	}
	z, err := gzip.NewReader(strings.NewReader(string(got.body)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !strings.Contains(string(text), `"openapi"`) {
		t.Errorf("gzip: %v", err)
	}
	if got := boss.want(http.StatusOK, "GET", "/openapi.json", nil, "Accept-Encoding", "gzip;q=0"); got.header.Get("Content-Encoding") != "" {
		t.Error("gzip was not wanted")
	}
}

// The log has the route and the subject, and no value of the address.
func TestLogHoldsNoValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	boss.call("GET", "/tasks?service=secretcanary", nil)
	boss.call("GET", "/pools/secretcanary", nil)
	boss.call("GET", "/secretcanary", nil)
	boss.call("POST", "/login", map[string]string{"name": "boss", "password": "secretcanary"})
	text := r.log.String()
	if !strings.Contains(text, "GET /api/v1/tasks") || !strings.Contains(text, "by=boss") {
		t.Errorf("the log does not know the request: %s", tail(text))
	}
	if i := strings.Index(text, "secretcanary"); i >= 0 {
		t.Errorf("the log holds a value: %s", text[max(0, i-200):i+20])
	}
}
