package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	null kind = iota
	boolean
	number
	text
	sequence
	mapping
)

func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "text", "a list", "a mapping"}[k]
}

// node is a value of a document with its place. YAML and JSON become the same nodes, so
// that the rest of the code reads one form.
type node struct {
	kind kind
	place
	// value is a bool, int64, float64 or string.
	value  any
	items  []*node
	fields []field
}

type field struct {
	key   string
	place // of the key
	node  *node
}

// field returns the value of a key, or nil. An empty value counts as no key.
func (n *node) field(key string) *node {
	for i := range n.fields {
		if n.fields[i].key == key && n.fields[i].node.kind != null {
			return n.fields[i].node
		}
	}
	return nil
}

// any returns the value as a Go value: map[string]any, []any, string, bool, int64,
// float64, nil.
func (n *node) any() any {
	switch n.kind {
	case sequence:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.any()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			out[f.key] = f.node.any()
		}
		return out
	default:
		return n.value
	}
}

// tree makes the nodes of a document, or returns why it cannot.
func tree(file string, source []byte) (*node, Faults) {
	refuse := func(at place, next, format string, args ...any) (*node, Faults) {
		return nil, Faults{{File: file, Line: at.line, Column: at.column, What: fmt.Sprintf(format, args...), Next: next}}
	}
	if len(source) > maxText {
		return refuse(place{1, 1}, "split it into sub-workflows, or move data into params or a bucket", "the definition is over the limit of 1 MiB")
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	if at := invalidUTF8(source); at >= 0 {
		return refuse(placeOf(source, at), "save the file as UTF-8", "the file is not UTF-8")
	}
	if at := bytes.IndexFunc(source, control); at >= 0 {
		return refuse(placeOf(source, at), "remove it; a definition is text", "the file holds the control character %U", source[at])
	}
	trimmed := bytes.TrimLeft(source, " \t\r\n")
	if len(trimmed) == 0 {
		return refuse(place{1, 1}, "write at least steps: with one step", "the definition is empty")
	}
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return yamlTree(file, source)
	}
	root, faults := jsonTree(file, source)
	if len(faults) > 0 && !strings.HasSuffix(file, ".json") && !json.Valid(source) {
		if root, again := yamlTree(file, source); len(again) == 0 { // YAML may begin with a bracket too
			return root, nil
		}
	}
	return root, faults
}

// control reports whether neither YAML nor JSON allows the character as plain text. DEL
// is left to them.
func control(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }

func invalidUTF8(source []byte) int {
	for i := 0; i < len(source); {
		r, n := utf8.DecodeRune(source[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// placeOf converts an offset into a line and a column, both from 1, in characters.
func placeOf(source []byte, offset int) place {
	before := source[:min(offset, len(source))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return place{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1}
}
