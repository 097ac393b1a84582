package httpapi

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"go.yaml.in/yaml/v3"
)

// The document conforms to OpenAPI 3.1: every reference resolves, every parameter of a
// path is described, every operation has a name of its own and an answer, and it holds
// the routes of the table and no other.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.anybody().want(http.StatusOK, "GET", "/openapi.json", nil)
	if kind := got.header.Get("Content-Type"); kind != "application/openapi+json" {
		t.Errorf("it is %s", kind)
	}
	var doc map[string]any
	got.into(&doc)
	var fromYAML map[string]any
	if err := yaml.Unmarshal(r.anybody().want(http.StatusOK, "GET", "/openapi.yaml", nil).body, &fromYAML); err != nil {
		t.Fatal(err)
	}
	if a, b := len(doc["paths"].(map[string]any)), len(fromYAML["paths"].(map[string]any)); a != b {
		t.Errorf("%d paths in JSON, %d in YAML", a, b)
	}
	if v, _ := doc["openapi"].(string); !strings.HasPrefix(v, "3.1.") {
		t.Errorf("openapi is %q", v)
	}
	checkRefs(t, doc, doc, "#")
	ids := map[string]bool{}
	operations := 0
	for path, item := range doc["paths"].(map[string]any) {
		for method, v := range item.(map[string]any) {
			op := v.(map[string]any)
			operations++
			checkOperation(t, method+" "+path, path, op)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: operationId %q", method, path, id)
			}
			ids[id] = true
		}
	}
	if operations != len(Routes()) {
		t.Errorf("%d operations, %d routes", operations, len(Routes()))
	}
}

// checkRefs resolves every reference.
func checkRefs(t *testing.T, doc map[string]any, v any, at string) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			var found any = doc
			for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ := found.(map[string]any)
				found = m[part]
			}
			if found == nil {
				t.Errorf("%s: %s leads nowhere", at, ref)
			}
		}
		for name, inner := range v {
			checkRefs(t, doc, inner, at+"/"+name)
		}
	case []any:
		for _, inner := range v {
			checkRefs(t, doc, inner, at)
		}
	}
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

func checkOperation(t *testing.T, name, path string, op map[string]any) {
	t.Helper()
	described := map[string]bool{}
	params, _ := op["parameters"].([]any)
	for _, p := range params {
		p := p.(map[string]any)
		if p["schema"] == nil || p["name"] == "" {
			t.Errorf("%s: a parameter without a schema: %v", name, p)
		}
		if p["in"] == "path" {
			described[p["name"].(string)] = p["required"] == true
		}
	}
	for _, found := range placeholder.FindAllStringSubmatch(path, -1) {
		if !described[found[1]] {
			t.Errorf("%s: %s is not described", name, found[1])
		}
	}
	responses, _ := op["responses"].(map[string]any)
	if len(responses) == 0 || op["summary"] == "" {
		t.Errorf("%s has no answer or no summary", name)
	}
	for status, v := range responses {
		if v.(map[string]any)["description"] == nil {
			t.Errorf("%s: %s has no description", name, status)
		}
	}
}

// The page works without a network, a script or an inline style, and links to every
// operation.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.anybody().want(http.StatusOK, "GET", "/docs", nil)
	text := string(got.body)
	for _, word := range []string{"<script", "style=", "<style", "http://", "https://", "javascript:", "ZgotmplZ"} {
		if strings.Contains(text, word) {
			t.Errorf("the page holds %s", word)
		}
	}
	if csp := got.header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("policy: %s", csp)
	}
	for _, route := range Routes() {
		if !strings.Contains(text, `id="`+route.ID()+`"`) || !strings.Contains(text, `href="#`+route.ID()+`"`) {
			t.Errorf("%s has no place on the page", route.ID())
		}
	}
	ids := map[string]bool{}
	for _, found := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if ids[found[1]] {
			t.Errorf("id %s is there twice", found[1])
		}
		ids[found[1]] = true
	}
	for _, found := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if !ids[found[1]] {
			t.Errorf("#%s leads nowhere", found[1])
		}
	}
	if css := r.anybody().want(http.StatusOK, "GET", "/docs.css", nil); !strings.HasPrefix(css.header.Get("Content-Type"), "text/css") {
		t.Errorf("the style is %s", css.header.Get("Content-Type"))
	}
}

// The answers of the API match its document, for routes that are easy to call.
func TestAnswersFitTheDocument(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", "admin")
	boss := r.login("boss")
	boss.want(http.StatusCreated, "PUT", "/pools/p", map[string]any{"size": 1})
	boss.want(http.StatusCreated, "POST", "/jobs", map[string]any{"name": "j", "tasks": []any{map[string]any{"service": "x", "pool": "p"}}})
	doc := r.api.huma.OpenAPI()
	for _, path := range []string{"/tasks", "/jobs", "/pools", "/users", "/sessions", "/me", "/version"} {
		route := Route{Method: get, Path: path}
		schema := operationAt(doc, &route).Responses["200"].Content["application/json"].Schema
		var value any
		if err := json.Unmarshal(boss.want(http.StatusOK, "GET", path, nil).body, &value); err != nil {
			t.Fatal(err)
		}
		for _, problem := range misfits(doc.Components.Schemas, schema, value) {
			t.Errorf("%s: %v", path, problem)
		}
	}
}

// misfits returns the deviations of a value from its schema.
func misfits(registry huma.Registry, schema *huma.Schema, value any) []error {
	result := &huma.ValidateResult{}
	huma.Validate(registry, schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, value, result)
	return result.Errors
}
