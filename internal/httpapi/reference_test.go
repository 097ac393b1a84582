package httpapi

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// golden compares a page with the one that is checked in.
func golden(t *testing.T, name, got string) {
	t.Helper()
	page := filepath.Join("..", "..", "docs", "reference", name)
	if *rewrite {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date: run make gen", page)
	}
}

// The access matrix is written from the table and from Can, which the tests
// compare over real HTTP.
func TestAccessGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Who may call what\n\n<!-- Written by the tests of internal/httpapi; do not edit. -->\n\n")
	b.WriteString("Every route of the HTTP API with every role. **own**: only what is one's own; for anything else the answer is 404, as if it did not exist. " +
		"A token has the rights of its user's role within its scopes, and the scope that a route needs is in the last column; **–** there: a token never may. " +
		"A node's credential reaches what is marked in its column and nothing else.\n\n")
	b.WriteString("| route | nobody | viewer | operator | maintainer | admin | node | scope |\n|---|---|---|---|---|---|---|---|\n")
	for _, route := range Routes() {
		fmt.Fprintf(&b, "| `%s %s` | %s", route.Method, prefix+route.Path, mark(route, auth.Subject{}))
		for _, role := range auth.Roles() {
			fmt.Fprintf(&b, " | %s", mark(route, auth.Subject{Kind: auth.KindUser, ID: "u", UserID: "u", Role: role}))
		}
		fmt.Fprintf(&b, " | %s | %s |\n", mark(route, auth.Subject{Kind: auth.KindNode, ID: "n", Name: "n"}), scope(route))
	}
	golden(t, "access.md", b.String())
}

// mark is yes, own or nothing.
func mark(route Route, s auth.Subject) string {
	switch {
	case route.allow(s) != nil:
		return ""
	case route.Access == Own && !auth.Can(s, route.Verb, auth.Object{Kind: route.Kind, Owner: "somebody else"}):
		return "own"
	}
	return "yes"
}

func scope(route Route) string {
	switch {
	case route.Access == Open || route.Access == Known:
		return ""
	case !auth.Can(auth.Subject{Kind: auth.KindToken, ID: "t", UserID: "u", Role: auth.Admin, Scopes: []string{"*:*"}}, route.Verb, auth.Object{Kind: route.Kind, Owner: "u"}):
		return "–"
	}
	return "`" + route.Kind + ":" + string(route.Verb) + "`"
}

// The reference is written from the OpenAPI document.
func TestReferenceGolden(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	doc := r.api.huma.OpenAPI()
	var b strings.Builder
	b.WriteString("# HTTP API\n\n<!-- Written by the tests of internal/httpapi; do not edit. -->\n\n")
	b.WriteString(description + "\n\nA running server shows the same at `/api/v1/docs`, and for programs at `/api/v1/openapi.json` and `.yaml`. [Who may call what](access.md) is a page of its own.\n\n")
	b.WriteString("## Rules\n\n" + rules + "\n## Codes\n\nThe status may be more exact than here (400, 405, 412, 415, 428): programs branch on the code.\n\n| code | status | meaning |\n|---|---|---|\n")
	for _, k := range problem.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", k.Code(), k.Status(), k.Meaning())
	}
	b.WriteString("\n## Routes\n")
	for _, route := range Routes() {
		op := operationAt(doc, &route)
		fmt.Fprintf(&b, "\n### %s %s\n\n%s. %s\n", route.Method, prefix+route.Path, route.Summary, op.Description)
		if len(op.Parameters) > 0 {
			b.WriteString("\n| parameter | in | meaning |\n|---|---|---|\n")
			for _, p := range op.Parameters {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, p.In, p.Description)
			}
		}
		if body := bodyOf(op); body.Words != "" {
			fmt.Fprintf(&b, "\nBody: %s\n", typeLink(body))
		}
		if answer := answerOf(op); answer.Words != "" {
			fmt.Fprintf(&b, "\nAnswer: %s\n", typeLink(answer))
		}
	}
	b.WriteString("\n## Schemas\n")
	schemas := doc.Components.Schemas.Map()
	for _, name := range sortedKeys(schemas) {
		fmt.Fprintf(&b, "\n### %s\n\n| field | type | meaning |\n|---|---|---|\n", name)
		for _, f := range fieldsOf(schemas[name]) {
			required := ""
			if f.Required {
				required = " (required)"
			}
			fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", f.Name, required, strings.ReplaceAll(typeLink(f.Type), "|", `\|`), f.Description)
		}
	}
	golden(t, "http.md", b.String())
}

const rules = `- **Sent again.** A create of a task, a job, a rollout, a fleet job or a workspace, or a run of a workflow, with the header ` + "`Idempotency-Key`" + ` (or ` + "`idempotency_key`" + ` in the body) can be sent again: the same key gives the same thing, and ` + "`existed`" + ` says so. A key is that of the user who asks, and stands for one body: with another one the answer is 422. In a batch the tasks without a key of their own get KEY/0, KEY/1, …
  The name of a user and the name of a token are taken once, so a create that is sent again makes no second one: it answers ` + "`conflict`" + `. The secret of a token is told once; if that answer was lost, revoke the token and make another. A join secret that got lost expires unused.
- **Definitions.** Pools, schedules and databases answer with an ` + "`ETag`" + `. A PUT that would change one that is there wants ` + "`If-Match`" + `: without it 428, with an old one 412. ` + "`If-Match: *`" + ` writes over whatever is there, ` + "`If-None-Match: *`" + ` only if nothing is. A PUT that changes nothing needs neither.
- **Ids.** A task, a job or a rollout is named by its id, or by the end of it: at least 6 characters.
- **Input.** Unknown fields and parameters are refused by name. A body is JSON in UTF-8, without NUL, at most 64 levels deep, at most 1 MiB; 16 MiB where tasks, definitions, plans, results or logs are sent. An artifact is sent as it is, with its Content-Length.
- **Time.** A request takes at most 30 s; artifacts, logs and live events as long as their bytes flow. ` + "`Retry-After`" + ` comes with 429 and 503.
- **Request ids.** ` + "`X-Request-Id`" + ` is repeated, or made: it is the ` + "`instance`" + ` of a problem, and the log knows it.
`

func typeLink(t docsType) string {
	if t.Ref == "" {
		return t.Words
	}
	return strings.Replace(t.Words, t.Ref, "["+t.Ref+"](#"+strings.ToLower(t.Ref)+")", 1)
}

func sortedKeys(m map[string]*huma.Schema) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
