package httpapi

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// description opens the document.
const description = `Weir's HTTP API. Say who asks with "Authorization: Bearer weir_pat_…" (weir token create), or log in and send the cookie.

Errors are application/problem+json: code is what programs branch on, next says what to do, field names what was refused.
Lists are {"items": […], "next": "…"}: send next as ?after= to get the page after.
Creates of tasks, jobs, rollouts, fleet jobs and workspaces, and runs of workflows, take Idempotency-Key, so they can be sent again.
Pools, schedules and databases carry an ETag; changing one wants If-Match.
Durations are text such as "90s", "12h" or "30d", but what was measured is in milliseconds and called so (took_ms, waited_ms); times are RFC 3339.`

// openAPIConfig describes the API to huma. The document and the page are routes
// of our own, so huma serves neither.
func openAPIConfig(version string) huma.Config {
	format := huma.Format{
		Marshal: func(w io.Writer, v any) error {
			encoder := json.NewEncoder(w)
			encoder.SetEscapeHTML(false)
			return encoder.Encode(v)
		},
		Unmarshal: decodeInput,
	}
	if version == "" {
		version = "dev"
	}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "Weir", Version: version, Description: description},
			Servers: []*huma.Server{{URL: "/", Description: "this server"}},
			Components: &huma.Components{
				Schemas: registry(),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token":   {Type: "http", Scheme: "bearer", Description: "weir_pat_… of a user, or weir_node_… of a node."},
					"session": {Type: "apiKey", In: "cookie", Name: "weir_session", Description: "Set by login; __Host-weir_session over HTTPS."},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
		// A misspelled filter must not be ignored.
		RejectUnknownQueryParameters: true,
	}
}

// pages are the documentation of the API. They are made once, for the first request,
// because that is more work than all the rest of a start, and most servers are never
// asked for them.
type pages struct{ json, yaml, html []byte }

// render makes them. It panics only on a programming error.
func (a *API) render() pages {
	doc := a.huma.OpenAPI()
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("httpapi: the OpenAPI document does not become JSON: " + err.Error())
	}
	yaml, err := doc.YAML()
	if err != nil {
		panic("httpapi: the OpenAPI document does not become YAML: " + err.Error())
	}
	html, err := referencePage(doc)
	if err != nil {
		panic("httpapi: the reference page: " + err.Error())
	}
	return pages{json: text, yaml: yaml, html: html}
}

func (a *API) specJSON() http.Handler {
	return a.fixed("application/openapi+json", func() []byte { return a.pages().json })
}

func (a *API) specYAML() http.Handler {
	return a.fixed("application/openapi+yaml", func() []byte { return a.pages().yaml })
}

func (a *API) docsPage() http.Handler {
	return a.fixed("text/html; charset=utf-8", func() []byte { return a.pages().html })
}

func (a *API) docsStyle() http.Handler {
	return a.fixed("text/css; charset=utf-8", func() []byte { return docsCSS })
}

// workflowSchema serves the schema of definitions, for editors and programs.
func (a *API) workflowSchema() http.Handler {
	return a.fixed("application/schema+json", func() []byte { return definition.Schema() })
}

// fixed serves text that never changes while the program runs.
func (a *API) fixed(kind string, text func() []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		_, _ = w.Write(text()) // buffered until it is complete
	})
}

// streamParams document the live feed, which has a handler of its own.
var streamParams = []*huma.Param{
	{Name: "job", In: "query", Description: "Only events of this job.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "task", In: "query", Description: "Only events of this task.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "kind", In: "query", Description: "Only events about this kind of thing.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "type", In: "query", Description: "Only events of this type.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "fold", In: "query", Description: "state: drop equal consecutive states.", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"state"}}},
	{Name: "after", In: "query", Description: "Begin after this cursor; left out: now.", Schema: &huma.Schema{Type: huma.TypeString}},
	{Name: "Last-Event-ID", In: "header", Description: "As after, and wins over it; browsers send it by themselves.", Schema: &huma.Schema{Type: huma.TypeString}},
}

func (a *API) stream() http.Handler {
	if a.config.Stream != nil {
		return a.config.Stream
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, problem.New(problem.NotFound, "read "+prefix+"/timeline?after= instead", "this server streams no events"))
	})
}
