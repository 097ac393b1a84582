//go:build unix

package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

// shape is a schema of the OpenAPI document.
type shape struct {
	Ref                  string            `json:"$ref"`
	Type                 any               `json:"type"`
	Format               string            `json:"format"`
	Pattern              string            `json:"pattern"`
	Enum                 []any             `json:"enum"`
	Properties           map[string]*shape `json:"properties"`
	Required             []string          `json:"required"`
	Items                *shape            `json:"items"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"`
	Minimum              *float64          `json:"minimum"`
}

// operation is one method of one path.
type operation struct {
	Parameters []struct {
		Name, In string
		Schema   *shape
	}
	RequestBody *struct {
		Content map[string]struct{ Schema *shape }
	} `json:"requestBody"`
}

// document is the server's description of its API.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*shape }
	// seen are references that were already visited.
	seen map[string]bool
}

func (f *face) document() (d document) {
	f.Helper()
	d.seen = map[string]bool{}
	got := f.ask("GET", "/api/v1/openapi.json", nil)
	if err := json.Unmarshal(got.body, &d); err != nil {
		f.Fatal(err)
	}
	return d
}

// is follows a reference.
func (d *document) is(s *shape) *shape {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	if s == nil {
		return &shape{}
	}
	return s
}

// kind returns the type of a schema; empty means anything.
func (s *shape) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, x := range t {
			if x != "null" {
				return fmt.Sprint(x)
			}
		}
	}
	return ""
}

// usualFields are values that the API accepts for required fields, by the name of the
// field, or of the path's last word and the field.
var usualFields = map[string]any{
	"service": "s", "key": "k", "name": "n", "action": "cancel", "filter": map[string]any{"service": "nobody's"}, "priority": 1, "source": "name: f\nsteps:\n  a: {driver: exec, argv: [\"true\"]}\n",
	"mode": "paused", "role": "viewer", "password": facePassword, "new": facePassword, "scopes": []any{"*:read"}, "secret": "weir_join_x", "node": "m", "version": 1, "value": "v", "spec": "@daily",
	"tasks": []any{map[string]any{"service": "s", "key": "k"}}, "task": map[string]any{"service": "s"}, "services": []any{"s"}, "n": 0, "id": "01890a5d-ac96-774b-bcce-b302099a8057",
	"leases": []any{}, "notes": []any{}, "outcomes": []any{}, "attempt": 1, "token": "01890a5d-ac96-774b-bcce-b302099a8057", "verdict": "done", "type": "note", "kind": "output",
	"serial": "d1", "devices": []any{}, "lines": "e30K", "seq": 0, "size": 1, "via": "magic", "engine": "postgres", "dsn": "postgres://u@127.0.0.1:1/x", "environment": "e",
	"stages": []any{map[string]any{"name": "all"}}, "changes": []any{map[string]any{"file": "V001__a.sql", "sql": "select 1"}}, "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z",
	"reason": "why not", "outcome": "applied", "target object": map[string]any{"all": true}, "task string": "01890a5d-ac96-774b-bcce-b302099a8057", "run object": map[string]any{"driver": "exec", "argv": []any{"true"}},
}

// always are fields that are optional for some routes, but always sent here.
var always = []string{"reason", "target"}

// sample returns a value that a schema accepts, with the required fields and nothing
// else.
func (d *document) sample(s *shape, name string) any {
	s = d.is(s)
	if v, ok := usualFields[name+" "+s.kind()]; ok {
		return v
	}
	if v, ok := usualFields[name]; ok && (s.kind() != "object" || len(s.Properties) == 0) {
		return v
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.kind() {
	case "object":
		out := map[string]any{}
		for r, p := range s.Properties {
			if slices.Contains(s.Required, r) || slices.Contains(always, r) {
				out[r] = d.sample(p, r)
			}
		}
		return out
	case "array":
		return []any{}
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "boolean":
		return false
	}
	if s.Format == "date-time" {
		return time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) // ends lie ahead
	}
	return "x"
}

// bases are what a body needs besides what its schema says, by operation.
var bases = map[string]map[string]any{
	"PUT /api/v1/pools/{pool}":                   {"size": 1},
	"PUT /api/v1/schedules/{schedule}":           {"task": map[string]any{"service": "s"}},
	"PUT /api/v1/triggers/{trigger}":             {"workflow": "w", "after": "v"},
	"POST /api/v1/joins":                         {"services": map[string]any{"s": 1}},
	"POST /api/v1/jobs/bulk":                     {"filter": map[string]any{"name": "nobody's"}},
	"POST /api/v1/tasks/bulk":                    {"filter": map[string]any{"service": "nobody's"}},
	"POST /api/v1/tasks":                         {"lane": "l"},
	"POST /api/v1/workflows/{workflow}/backfill": {"spec": "@daily"},
	"PUT /api/v1/nodes/{node}/wake":              {"mac": "00:11:22:33:44:55"},
	"PUT /api/v1/workflows":                      {"definition": aDefinition},
	"POST /api/v1/workflows/lint":                {"definition": aDefinition},
	"POST /api/v1/workflows/plan":                {"definition": aDefinition},
	"PUT /api/v1/databases/{database}":           {"dsn": "postgres://u@127.0.0.1:1/x"},
	"POST /api/v1/rollouts":                      aPlan,
	"POST /api/v1/rollouts/preview":              aPlan,
	"PUT /api/v1/rollouts/{rollout}":             aPlan,
}

var (
	aDefinition = map[string]any{"name": "f", "steps": []any{map[string]any{"key": "a", "service": "s"}}}
	aPlan       = map[string]any{
		"name": "r", "files": []any{map[string]any{"name": "V001__a.sql", "text": "create table a (b int);"}}, "stages": []any{map[string]any{"name": "all", "databases": []any{"a"}}},
	}
)

// filled adds to a body what its operation needs, except for the odd field.
func filled(operation string, body any, odd string) any {
	object, ok := body.(map[string]any)
	if !ok {
		return body
	}
	object = maps.Clone(object)
	for name, v := range bases[operation] {
		if name != odd {
			object[name] = v
		}
	}
	return object
}

// field is one place of a body: the names that lead to it.
type field struct {
	path  []string
	shape *shape
}

// one is the name of the first element of a list, and of an unknown key.
const one = "0"

// fields returns all places of a schema. A part that several schemas share is visited
// once.
func (d *document) fields(s *shape, path []string, out []field) []field {
	shared := s.Ref
	s = d.is(s)
	if len(path) > 6 {
		return out
	}
	if len(path) > 0 {
		out = append(out, field{slices.Clone(path), s})
		if shared != "" && d.seen[shared] {
			return out
		}
		d.seen[shared] = true
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = d.fields(s.Properties[name], append(path, name), out)
	}
	if s.kind() == "array" {
		out = d.fields(s.Items, append(path, one), out)
	}
	var each shape
	if json.Unmarshal(s.AdditionalProperties, &each) == nil && len(s.AdditionalProperties) > 5 { // else true or false
		out = d.fields(&each, append(path, one), out)
	}
	return out
}

// with returns a body with one value in its place; the values around it are usual.
func (d *document) with(s *shape, path []string, v any, name string) any {
	if len(path) == 0 {
		return v
	}
	s = d.is(s)
	if s.kind() == "array" {
		return []any{d.with(s.Items, path[1:], v, name)}
	}
	body, ok := d.sample(s, name).(map[string]any)
	if !ok {
		body = map[string]any{}
	}
	body = maps.Clone(body)
	next := s.Properties[path[0]]
	if next == nil {
		next = &shape{}
		_ = json.Unmarshal(s.AdditionalProperties, next) // true and false are no schema
	}
	body[path[0]] = d.with(next, path[1:], v, path[0])
	return body
}

// table returns the table of extremes as JSON. A span is in seconds, as the API takes it.
func (f *oddHouse) table() map[string][]any {
	f.Helper()
	out := map[string][]any{}
	for typ, list := range extremes {
		for _, v := range list {
			sql := fmt.Sprintf(`select to_jsonb(%s::%s)::text`, v, typ)
			if typ == "interval" {
				sql = fmt.Sprintf(`select to_jsonb(extract(epoch from %s::interval)::numeric::text || 's')::text`, v)
			}
			var text *string
			if err := f.edge.conn.QueryRow(f.ctx, sql).Scan(&text); err != nil {
				f.Fatalf("%s: %v", sql, err)
			}
			if text == nil {
				text = new("null")
			}
			out[typ] = append(out[typ], json.RawMessage(*text))
		}
	}
	return out
}

// odd returns the extremes for a schema: those of its type, nothing, and another type.
func odd(s *shape, table map[string][]any) []any {
	out := []any{nil}
	switch s.kind() {
	case "string":
		switch {
		case s.Format == "date-time":
			out = append(out, table["timestamp with time zone"]...)
		case strings.Contains(s.Pattern, "ns|us"):
			out = append(out, table["interval"]...)
		}
		return append(append(out, 7), table["text"]...)
	case "integer", "number":
		return append(append(append(out, "x", 0.5, json.RawMessage("1e308")), table["integer"]...), table["bigint"]...)
	case "boolean":
		return append(out, "x")
	case "array":
		return append(out, "x", []any{}, []any{nil}, []any{[]any{}})
	case "object":
		if len(s.Properties) > 0 {
			return append(out, "x", []any{}, map[string]any{}, map[string]any{"no such field": 1})
		}
	}
	return append(out, table["jsonb"]...)
}

// plainText returns a value in the form of a query or a path.
func plainText(v any) (string, bool) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return text, true
	}
	return string(raw), string(raw) != "null"
}

// apart are routes that would end what the test needs, or that need something other than
// JSON.
var apart = map[string]string{
	"POST /api/v1/logout":                          "ends the session",
	"PUT /api/v1/me/password":                      "ends the session; /users/{user}/password is the same function",
	"PUT /api/v1/agent/artifacts/{task}/{attempt}": "takes bytes",
	"GET /api/v1/events":                           "does not end; its cursors are fuzzed",
	"POST /api/v1/devices/{serial}/retire":         "takes away what others need; it is as the other commands",
	"POST /api/v1/users/{user}/disable":            "nothing but the name",
	"DELETE /api/v1/nodes/{node}/credential":       "nothing but the name",
}

// sent is one request with one extreme value.
type sent struct {
	method, path, field string
	value               any
	body                any
}

// requests returns everything that is sent: each parameter and each place of each body,
// with each extreme of its type.
func (f *oddHouse) requests(d *document) (out []sent) {
	f.Helper()
	table, met := f.table(), map[string]int{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for method, op := range d.Paths[path] {
			method = strings.ToUpper(method)
			if apart[method+" "+path] != "" {
				continue
			}
			var body *shape
			if op.RequestBody != nil {
				body = op.RequestBody.Content["application/json"].Schema
			}
			var usualBody any
			if body != nil {
				usualBody = filled(method+" "+path, d.sample(body, ""), "")
				out = append(out, sent{method, path, "", nil, usualBody})
				for _, place := range d.fields(body, nil, nil) {
					for _, v := range odd(place.shape, table) {
						if place.path[0] == "wait_ms" && fmt.Sprintf("%s", v) == "32768" {
							continue // the call waits that long, as it should
						}
						out = append(out, sent{method, path, strings.Join(place.path, "."), v, filled(method+" "+path, d.with(body, place.path, v, ""), place.path[0])})
					}
				}
			}
			for _, p := range op.Parameters {
				s := d.is(p.Schema)
				if p.In == "path" {
					met[p.Name]++
				}
				for i, v := range odd(s, table) {
					text, ok := plainText(v)
					if !ok || len(text) > 8000 || p.In == "path" && met[p.Name] > 3 && i%4 != 0 {
						continue // all routes read a name in a path in the same way
					}
					switch p.In {
					case "query":
						out = append(out, sent{method, path + "?" + p.Name + "=" + url.QueryEscape(text), p.Name, v, usualBody})
					case "path":
						if method != http.MethodDelete && text != "" {
							out = append(out, sent{method, strings.Replace(path, "{"+p.Name+"}", url.PathEscape(text), 1), p.Name, v, usualBody})
						}
					}
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b sent) int { return strings.Compare(a.method+a.path, b.method+b.path) })
	return out
}

// send sends one request, for existing objects, and returns what is wrong with the
// answer: it must be what was asked for, or a problem that names the field.
func (f *face) send(s sent) string {
	f.Helper()
	path := placeholder.ReplaceAllStringFunc(s.path, func(word string) string { return url.PathEscape(f.one(s.path, word)) })
	credential := []string{"Cookie", f.session} // a token may not do everything
	if strings.HasPrefix(path, "/api/v1/agent/") {
		credential = []string{"Authorization", "Bearer " + f.machine}
	}
	headers := []string{credential[0], credential[1], "If-Match", "*"}
	var body *bytes.Reader
	if s.body != nil {
		text, err := json.Marshal(s.body)
		if err != nil {
			f.Fatalf("%s %s %s: %v", s.method, s.path, s.field, err)
		}
		body = bytes.NewReader(text)
		headers = append(headers, "Content-Type", "application/json")
	} else {
		body = bytes.NewReader(nil)
	}
	got := f.ask(s.method, path, body, headers...)
	if wrong := got.fits(); wrong != "" {
		return wrong
	}
	if got.StatusCode < 400 || got.StatusCode == http.StatusRequestHeaderFieldsTooLarge {
		return ""
	}
	var problem struct{ Code, Detail, Field string }
	if err := json.Unmarshal(got.body, &problem); err != nil || problem.Code == "" {
		return fmt.Sprintf("status %d is no problem: %.300s", got.StatusCode, got.body)
	}
	whole := got.StatusCode == http.StatusBadRequest && problem.Field == "" // the body is too deep, or the like
	if s.field != "" && problem.Code == "invalid" && !whole && !named(s.field, problem.Field) {
		return fmt.Sprintf("status %d names field %q: %.300s", got.StatusCode, problem.Field, problem.Detail)
	}
	return ""
}

// related are fields that are refused together with another one, or that are documents
// with their own fields (*).
var related = map[string]string{
	"from": "to", "rank": "lane", "definition": "*", "source": "*", "files": "changes", "secret": "name", "per": "rate", "options": "workflow", "workflow": "task",
}

// named reports whether a refusal is about the odd field, or about what contains it.
func named(sent, refused string) bool {
	clean := strings.NewReplacer("[", ".", "]", "")
	at := strings.Split(sent, ".")
	for _, word := range at {
		if other := related[word]; other == "*" && refused != "" || other != "" && other == refused {
			return true
		}
	}
	for _, word := range strings.Split(clean.Replace(refused), ".") {
		if word != "" && word != one && slices.Contains(at, word) {
			return true
		}
	}
	return false
}

// one returns an object for a word of a path; tasks are new each time.
func (f *face) one(path, word string) (name string) {
	f.Helper()
	if strings.HasPrefix(path, "/api/v1/fleet/") && word == "{job}" {
		word = "{fleet}"
	}
	if strings.HasPrefix(path, "/api/v1/rollouts/") && word == "{task}" {
		word = "{rollout task}"
	}
	sql := things[word]
	switch word {
	case "{task}":
		sql = `select weir.submit('idle')::text`
	case "{job}":
		sql = `select weir.submit_job('[{"service": "idle", "key": "a"}]', 'idle')::text`
	case "{user}":
		return "eve"
	case "{artifact}":
		return "1"
	}
	if sql == "" {
		f.Fatalf("add a line for %s to the table of things", word)
	}
	rows, err := f.pool.Query(f.ctx, sql)
	if err != nil {
		f.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		return "none"
	}
	if err := rows.Scan(&name); err != nil {
		f.Fatal(err)
	}
	return name
}

// prepare makes one object of each kind that no function of the table makes.
func (f *oddHouse) prepare() {
	f.Helper()
	target := testdb.NewEmpty(f.T)
	for _, s := range []sent{
		{"PUT", "/api/v1/databases/a", "", nil, map[string]any{"engine": "postgres", "environment": "e", "dsn": target.URL}},
		{"POST", "/api/v1/rollouts", "", nil, aPlan},
		{"PUT", "/api/v1/workflows", "", nil, map[string]any{"definition": aDefinition}},
		{"PUT", "/api/v1/schedules/a", "", nil, map[string]any{"spec": "@daily", "task": map[string]any{"service": "s"}}},
		{"POST", "/api/v1/users", "", nil, map[string]any{"name": "eve", "role": "viewer"}},
		{"POST", "/api/v1/workspaces", "", nil, map[string]any{"name": "w"}},
		{"POST", "/api/v1/fleet/jobs", "", nil, map[string]any{"name": "j", "run": map[string]any{"argv": []any{"true"}}, "target": map[string]any{"all": true}}},
	} {
		text, err := json.Marshal(s.body)
		if err != nil {
			f.Fatal(err)
		}
		got := f.ask(s.method, s.path, bytes.NewReader(text), "Cookie", f.session, "Content-Type", "application/json")
		if got.StatusCode/100 != 2 {
			f.Errorf("%s %s: %d %s", s.method, s.path, got.StatusCode, got.body)
		}
	}
}

// TestExtremeValuesOverHTTP sends values of the table in every body and in every
// parameter of the API: one of five, and TestLongExtremeValuesOverHTTP all. Each is
// accepted, or refused by the name of the field; there is no internal error and no
// hanging call, all other work continues, and accepted values are shown.
func TestExtremeValuesOverHTTP(t *testing.T) {
	t.Parallel()
	extremesOverHTTP(t, 5)
}

// extremesOverHTTP sends one of every so many requests.
func extremesOverHTTP(t *testing.T, of int) {
	f := newOddHouse(t)
	d := f.document()
	f.prepare()
	n := 0
	for i, s := range f.requests(&d) {
		if i%of != 0 {
			continue
		}
		n++
		if wrong := f.send(s); wrong != "" {
			value, _ := json.Marshal(s.value)
			t.Errorf("%s %.200s, %s = %.80s: %s", s.method, s.path, s.field, value, wrong)
		}
	}
	sentAnswers := maps.Clone(f.answers)
	looked := f.look()
	f.canary()
	if n < 4000/of || sentAnswers[200] < n/10 || looked < 200 {
		t.Errorf("%d requests, answers %v, %d pages: hardly anything was tested", n, sentAnswers, looked)
	}
	t.Logf("measured: %d requests with an extreme value: %v; then %d answers: %v", n, sentAnswers, looked, f.answers)
}
