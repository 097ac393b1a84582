package script

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// tree is a node of PostgreSQL's parse tree, with the names of its C fields. A
// field that is not there reads as empty.
type tree map[string]any

// node is a tree with its type, as lists hold them: {"IndexStmt": {…}}.
type node struct {
	kind string
	tree
}

// nodeOf reads a value that is a typed node, or nothing.
func nodeOf(v any) node {
	m, _ := v.(map[string]any)
	for kind, body := range m {
		if fields, ok := body.(map[string]any); ok && len(m) == 1 {
			return node{kind, fields}
		}
	}
	return node{}
}

func (t tree) text(field string) string {
	s, _ := t[field].(string)
	return s
}

func (t tree) flag(field string) bool {
	b, _ := t[field].(bool)
	return b
}

func (t tree) number(field string) int {
	n, _ := t[field].(float64)
	return int(n)
}

// at is a field that is a tree of a known type.
func (t tree) at(field string) tree {
	m, _ := t[field].(map[string]any)
	return m
}

// node is a field that says its type.
func (t tree) node(field string) node { return nodeOf(t[field]) }

// list is a field that is a list of nodes.
func (t tree) list(field string) []node {
	values, _ := t[field].([]any)
	out := make([]node, len(values))
	for i, v := range values {
		out[i] = nodeOf(v)
	}
	return out
}

// has says whether a field is there at all.
func (t tree) has(field string) bool { _, ok := t[field]; return ok }

// option finds a DefElem by name.
func (t tree) option(field, name string) (node, bool) {
	for _, n := range t.list(field) {
		if strings.EqualFold(n.text("defname"), name) {
			return n.node("arg"), true
		}
	}
	return node{}, false
}

// on says whether an option is given and not switched off.
func (t tree) on(field, name string) bool {
	arg, found := t.option(field, name)
	switch {
	case !found:
		return false
	case arg.kind == "Boolean":
		return arg.flag("boolval")
	case arg.kind == "Integer":
		return arg.number("ival") != 0
	case arg.kind == "String":
		return !slices.Contains([]string{"false", "off", "0"}, strings.ToLower(arg.text("sval")))
	}
	return true
}

// relation is the name of a RangeVar: schema.table.
func relation(t tree) string { return dotted(t.text("schemaname"), t.text("relname")) }

func dotted(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}

// names are the strings of a list of names: a List, a list of String, a TypeName.
func names(n node) []string {
	var parts []node
	switch n.kind {
	case "String":
		return []string{n.text("sval")}
	case "List":
		parts = n.list("items")
	case "TypeName":
		parts = n.list("names")
	case "ObjectWithArgs":
		parts = n.list("objname")
	}
	out := make([]string, 0, len(parts))
	for _, part := range parts {
		out = append(out, part.text("sval"))
	}
	return out
}

// qualified splits names into the schema, if there is one, and the name.
func qualified(parts []string) (schema, name string) {
	switch len(parts) {
	case 0:
		return "", ""
	case 1:
		return "", parts[0]
	}
	return parts[len(parts)-2], parts[len(parts)-1]
}

// walk visits all typed nodes of a value, outer ones first, in the order of the
// names of fields: the same each time.
func walk(v any, visit func(node)) {
	switch v := v.(type) {
	case map[string]any:
		if n := nodeOf(v); n.kind != "" && n.kind[0] >= 'A' && n.kind[0] <= 'Z' {
			visit(n)
		}
		for _, field := range slices.SortedFunc(maps.Keys(v), cmp.Compare) {
			walk(v[field], visit)
		}
	case []any:
		for _, one := range v {
			walk(one, visit)
		}
	}
}
