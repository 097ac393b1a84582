package httpapi

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
)

// Period is a duration in a body.
type Period = op.Period

// periodSchema describes it.
type periodSchema struct{}

// Schema implements [huma.SchemaProvider].
func (periodSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "A duration such as 90s, 12h or 30d.", Examples: []any{"90s"}, MaxLength: new(100),
		Pattern: `^([0-9]+d)?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))*$`, PatternDescription: "a duration such as 90s, 12h or 30d",
	}
}

// registry keeps the schemas of the document.
func registry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[op.Period](), reflect.TypeFor[periodSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[op.Wait](), reflect.TypeFor[periodSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[node.Span](), reflect.TypeFor[periodSchema]())
	return r
}

// schemaName names a type in the document. Rollouts have tasks, attempts and sessions of
// their own, fleets jobs and devices, workspaces logs and policies, workflows tasks and
// previews, and the vault secrets, which are not those of the engine, of agents or of
// people, so their names get a prefix.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for of, word := range map[string]string{"/internal/engine/bulk": "Bulk", "/internal/rollout": "Rollout", "/internal/fleet": "Fleet", "/internal/workspace": "Workspace", "/internal/workflow": "Workflow", "/internal/vault": "Vault"} {
		switch {
		case strings.Contains(t.PkgPath(), of) && !strings.HasPrefix(name, word):
			return word + name
		case strings.HasPrefix(t.Name(), "Page[") && strings.Contains(t.Name(), of) && !strings.HasPrefix(name, "Page"+word):
			return "Page" + word + strings.TrimPrefix(name, "Page")
		}
	}
	return name
}
