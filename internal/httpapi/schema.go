package httpapi

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/node"
)

// registry are the schemas of the document. A span of an agent is written as a duration of
// the API.
func registry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[node.Span](), reflect.TypeFor[Wait]())
	return r
}

// schemaName names a type in the document. Rollouts have tasks, attempts and
// sessions of their own, fleets jobs and devices, workspaces logs and policies,
// workflows tasks and previews, and the vault secrets, which are not those of the engine,
// of agents or of people: their names say so.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for of, word := range map[string]string{"/internal/rollout": "Rollout", "/internal/fleet": "Fleet", "/internal/workspace": "Workspace", "/internal/workflow": "Workflow", "/internal/vault": "Vault"} {
		switch {
		case strings.Contains(t.PkgPath(), of) && !strings.HasPrefix(name, word):
			return word + name
		case strings.HasPrefix(t.Name(), "Page[") && strings.Contains(t.Name(), of) && !strings.HasPrefix(name, "Page"+word):
			return "Page" + word + strings.TrimPrefix(name, "Page")
		}
	}
	return name
}
