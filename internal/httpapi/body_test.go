package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
)

// bodies are invalid or hostile bodies.
var bodies = []string{
	``, `null`, `true`, `0`, `1e400`, `""`, `[]`, `{}`, `{`, `[[[`, `{"":""}`, `{"a":1,"a":2}`, `[null]`, `"\ud800"`, `{"service":"\ud800"}`, `{"service":"\u0000"}`,
	`{"service":"x","params":"\u0000"}`, `{"service":"x","params":{"\u0000":1}}`, `{"service":"x","params":"\ud800"}`, "{\"service\":\"\xff\"}", "\xef\xbb\xbf{}",
	`{"service":"x","priority":1e30}`, `{"service":"x","priority":1.5}`, `{"service":"x","rank":9223372036854775808}`, `{"service":"x","max_attempts":-1}`,
	`{"service":"x","timeout":"-1s"}`, `{"service":"x","timeout":"999999999999h"}`, `{"service":"x","timeout":"106751d"}`, `{"service":"x","timeout":90}`,
	`{"service":"x","run_at":"yesterday"}`, `{"service":"x","run_at":"9999-12-31T23:59:59Z"}`, `{"service":"x","run_at":"0001-01-01T00:00:00Z"}`, `{"service":"x","labels":{"":""}}`,
	`{"service":"x","labels":[]}`, `{"service":"x","needs":["y"]}`, `{"service":"x","pool":"no such pool"}`, `{"service":"x","rule":"sometimes"}`, `{"service":"x","params":null}`,
	`{"service":"x","unique_key":"u","idempotency_key":"i"}`, `{"service":""}`, `{"service":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`,
	`{"service":"x","params":` + strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60) + `}`, `{"tasks":[]}`, `{"tasks":[{}]}`, `{"tasks":[null]}`, `{"tasks":{"a":1}}`,
	`{"tasks":[{"service":"a","key":"a","needs":["a"]}]}`, `{"tasks":[{"service":"a","key":"a"},{"service":"b","key":"a"}]}`, `{"tasks":[{"service":"x"}],"name":"` + strings.Repeat("n", 5000) + `"}`,
	`{"tasks":[{"service":"x","key":"` + strings.Repeat("k", 5000) + `"}]}`, `{"service":"` + strings.Repeat("s", 100_000) + `"}`, `{"size":-1}`, `{"size":1e12}`, `{"size":3}`, `{"rate":1}`, `{"rate":1,"per":"1us"}`,
	`{"rate":2147483647,"per":"106000d"}`, `{"size":0,"note":"\n"}`, `{"spec":"* * * * *","task":{"service":"x"}}`, `{"spec":"@every 0s","task":{"service":"x"}}`,
	`{"spec":"@every 1ns","task":{"service":"x"}}`, `{"spec":"0 0 31 2 *","task":{"service":"x"}}`, `{"spec":"@daily","zone":"Mars/Olympus","task":{"service":"x"}}`,
	`{"spec":"@daily","task":{}}`, `{"spec":"TZ=../../etc/passwd * * * * *","task":{"service":"x"}}`, `{"mode":"paused"}`, `{"mode":"asleep"}`, `{"mode":"draining","until":"1970-01-01T00:00:00Z"}`,
	`{"reason":""}`, `{"reason":"` + strings.Repeat("r", 2000) + `"}`, `{"priority":101}`, `{"priority":5}`, `{"name":"a","role":"god"}`, `{"name":"A B","role":"viewer"}`,
	`{"name":"x","role":"viewer","password":"short"}`, `{"name":"x","role":"viewer","email":"no"}`, `{"name":"t","scopes":[]}`, `{"name":"t","scopes":["*"]}`, `{"name":"t","scopes":["*:*"],"ttl":"99999d"}`,
	`{"ttl":"1ns"}`, `{"node":""}`, `{"node":"\u0007"}`, `{"secret":"","node":""}`, `{"secret":"weir_join_x","node":"n"}`, `{"old":"","new":""}`, `{"role":"viewer"}`, `{"new":"` + strings.Repeat("p", 2000) + `"}`,
	`{"name":"nobody","password":""}`,
}

// takesBody reports whether a route reads a body.
func (r *Route) takesBody() bool { return r.Method == post || r.Method == put }

// everyBody sends a body to every route that takes one. No route may answer 500, and
// every refusal must be a problem.
func everyBody(t testing.TB, boss *as, body string) {
	for _, route := range Routes() {
		if !route.takesBody() || route.Path == "/logout" {
			continue
		}
		got := boss.call(route.Method, fill(route.Path), body)
		if got.status >= 500 {
			t.Errorf("%s %s with %.200q: %d %s", route.Method, route.Path, body, got.status, got.body)
		}
		if got.status >= 400 {
			got.refusal()
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// The corpus runs with every test; go test -fuzz FuzzBodies looks for more.
func FuzzBodies(f *testing.F) {
	for _, body := range bodies {
		f.Add(body)
	}
	r := newRig(f)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	f.Fuzz(func(t *testing.T, body string) {
		inner, own := *boss, *r
		own.t = t
		inner.rig = &own
		everyBody(t, &inner, body)
	})
}

// A refusal names the field, and never repeats a value.
func TestRefusalsNameTheField(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	for name, c := range map[string]struct {
		method, path string
		body         any
		status       int
		code, field  string
		detail       string
	}{
		"unknown field":    {"POST", "/tasks", `{"service":"x","prioritty":1}`, 422, "invalid", "prioritty", "not a field"},
		"unknown within":   {"POST", "/tasks/batch", `{"tasks":[{"service":"x"},{"service":"x","pol":"p"}]}`, 422, "invalid", "tasks[1].pol", "not a field"},
		"missing":          {"POST", "/tasks", `{}`, 422, "invalid", "service", "is required"},
		"missing within":   {"POST", "/jobs", `{"name":"j","tasks":[{"key":"a"}]}`, 422, "invalid", "tasks[0].service", "is required"},
		"wrong type":       {"POST", "/tasks", `{"service":7}`, 422, "invalid", "service", "expected string"},
		"fraction":         {"POST", "/tasks", `{"service":"x","priority":1.5}`, 422, "invalid", "priority", "integer"},
		"out of range":     {"POST", "/tasks", `{"service":"x","rank":1e30}`, 422, "invalid", "rank", "whole number"},
		"duration":         {"POST", "/tasks", `{"service":"x","timeout":"soon"}`, 422, "invalid", "timeout", "duration"},
		"long duration":    {"POST", "/tasks", `{"service":"x","timeout":"99999999999999s"}`, 422, "invalid", "timeout", "duration"},
		"one of many":      {"POST", "/tasks/batch", `{"tasks":[{"service":"x"},{"service":"x","timeout":"99999999999999s"}]}`, 422, "invalid", "tasks[1].timeout", "duration"},
		"engine's":         {"POST", "/tasks", `{"service":"x","pool":"gpu"}`, 422, "invalid", "pool", "no pool"},
		"engine's of many": {"POST", "/jobs", `{"name":"j","tasks":[{"service":"x","key":"a"},{"service":"x","key":"b","pool":"gpu"}]}`, 422, "invalid", "tasks[1].pool", "no pool"},
		"query":            {"GET", "/tasks?stat=done", nil, 422, "invalid", "stat", "not a field"},
		"query value":      {"GET", "/tasks?limit=0", nil, 422, "invalid", "limit", ""},
		"state":            {"GET", "/tasks?state=asleep", nil, 422, "invalid", "state", "asleep"},
		"after":            {"GET", "/tasks?after=x", nil, 422, "invalid", "after", ""},
		"id":               {"GET", "/tasks/zzz", nil, 422, "invalid", "task", "not the id"},
		"no task":          {"GET", "/tasks/01890a5d-ac96-774b-bcce-b302099a8057", nil, 404, "not_found", "", "no task"},
		"no pool":          {"GET", "/pools/ghost", nil, 404, "not_found", "", "no pool"},
		"no route":         {"GET", "/nothing", nil, 404, "not_found", "", ""},
		"method":           {"PATCH", "/tasks", `{}`, 405, "invalid", "", "PATCH"},
		"not JSON":         {"POST", "/tasks", `service: x`, 400, "invalid", "", "not JSON"},
		"no body":          {"POST", "/tasks", nil, 400, "invalid", "", "required"},
		"not UTF-8":        {"POST", "/tasks", "{\"service\":\"\xff\"}", 400, "invalid", "", "UTF-8"},
		"NUL":              {"POST", "/tasks", `{"service":"x","params":"a\u0000b"}`, 400, "invalid", "", "u0000"},
		"no NUL":           {"POST", "/tasks", `{"service":"x","params":"a\\u0000b"}`, 201, "", "", ""},
		"deep":             {"POST", "/tasks", `{"service":"x","params":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, 400, "invalid", "", "64 levels"},
		"deep enough":      {"POST", "/tasks", `{"service":"x","params":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, 201, "", "", ""},
		"large":            {"PUT", "/pools/p", `{"note":"` + strings.Repeat("x", bodyLimit) + `"}`, 413, "too_large", "", "limit"},
		"not too large":    {"POST", "/tasks", `{"service":"x","params":"` + strings.Repeat("x", bodyLimit) + `"}`, 201, "", "", ""},
		"secret":           {"POST", "/login", `{"name":"boss","password":["hunter2hunter2"]}`, 422, "invalid", "password", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := boss.want(c.status, c.method, c.path, c.body)
			if c.status < 400 {
				return
			}
			p := got.refusal()
			if p.Code != c.code || p.Field != c.field || !strings.Contains(p.Detail, c.detail) || p.Status != c.status || p.Title == "" || p.Instance == "" || p.Type == "" {
				t.Errorf("got %+v", p)
			}
			if strings.Contains(string(got.body), "hunter2") {
				t.Errorf("a value was repeated: %s", got.body)
			}
		})
	}
	got := boss.call("POST", "/tasks", `{"service":"x"}`, "Content-Type", "text/plain")
	if got.status != http.StatusUnsupportedMediaType || got.refusal().Code != "invalid" {
		t.Errorf("text/plain: %d %s", got.status, got.body)
	}
	if got := boss.call("POST", "/tasks", `{"service":"x"}`, "Content-Type", "application/json; charset=utf-8"); got.status != http.StatusCreated {
		t.Errorf("with a charset: %d %s", got.status, got.body)
	}
}
