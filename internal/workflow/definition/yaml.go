package definition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	next "go.yaml.in/yaml/v4"
)

// yamlReader makes nodes of YAML. It follows aliases itself and counts what they multiply
// to, so that ten lines cannot stand for a billion values.
type yamlReader struct {
	values int
	// open are the aliases that are being followed, because an alias inside itself has no
	// end.
	open map[*yaml.Node]bool
	// inAlias is the place of the outermost alias that is being followed.
	inAlias place
}

func yamlTree(file string, source []byte) (*node, Faults) {
	refuse := func(f Fault) (*node, Faults) {
		f.File = file
		return nil, Faults{f}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		return refuse(Fault{Line: 1, Column: 1, What: "the definition is empty", Next: "write at least steps: with one step"})
	case err != nil:
		return refuse(syntax(source, err))
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return refuse(Fault{Line: second.Line, Column: second.Column, What: "a second document begins here", Next: "one file holds one workflow: move it into a file of its own"})
	case !errors.Is(err, io.EOF):
		return refuse(syntax(source, err))
	}
	r := &yamlReader{open: map[*yaml.Node]bool{}}
	root, err := r.node(document.Content[0], 0)
	if err != nil {
		f, _ := errors.AsType[*Fault](err)
		return refuse(*f)
	}
	return root, nil
}

// tabbed finds the tab that indents a line at or above the one where the parser gave up:
// YAML forbids it, and its parser does not say so.
func tabbed(lines [][]byte, line int) (place, bool) {
	for i := max(line-2, 0); i < min(line+1, len(lines)); i++ {
		indent := lines[i][:len(lines[i])-len(bytes.TrimLeft(lines[i], " \t"))]
		if at := bytes.IndexByte(indent, '\t'); at >= 0 && len(indent) < len(lines[i]) {
			return place{i + 1, at + 1}, true
		}
	}
	return place{}, false
}

var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// explained translates the parser's phrases into plain words.
var explained = []struct{ phrase, what, next string }{
	{"mapping values are not allowed", "a colon is not expected here", "put text that holds a colon in quotes, or check the indentation"},
	{"did not find expected key", "the indentation does not fit the lines above", "align it with its neighbours: the same number of spaces"},
	{"did not find expected '-' indicator", "the indentation does not fit the list above", "align the dash with the dashes above"},
	{"did not find expected ',' or ']'", "a list in brackets is not closed, or lacks a comma", "close it with ], or write one item per line with a dash"},
	{"did not find expected ',' or '}'", "a mapping in braces is not closed, or lacks a comma", "close it with }; put text that begins with {{ in quotes"},
	{"found unexpected end of stream", "a quote or bracket is not closed", "close what this line opened"},
	{"found character that cannot start any token", "this character cannot begin a value", "put the text in quotes"},
	{"could not find expected ':'", "a key without its colon", "write key: value, with a space after the colon"},
	{"unknown anchor", "an alias to nothing", "define it above with &name, or put the text in quotes"},
	{"exceeded max depth", "lists and mappings lie too deep in one another", "flatten it"},
	{"invalid map key", "a key must be text", "put text that begins with {{ in quotes"},
	{"unknown escape character", "an escape that does not exist", `in double quotes write \\ for a backslash, or use single quotes`},
}

// opened are errors that show where something ends; the mistake is where it was opened.
var opened = []string{"unexpected end of stream", "',' or ']'", "',' or '}'"}

// syntax makes a fault of the parser's error.
func syntax(source []byte, err error) Fault {
	f := Fault{Line: 1, Column: 1, What: err.Error(), Next: "check indentation, quotes and colons at this place"}
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			f.Line = n
		}
		f.What = "this is not YAML: " + m[2]
		for _, e := range explained {
			if strings.Contains(m[2], e.phrase) {
				f.What, f.Next = "this is not YAML: "+e.what, e.next
				break
			}
		}
	}
	if at, ok := pinpoint(source); ok {
		f.Line, f.Column = at.line, at.column
	}
	lines := bytes.Split(source, []byte("\n"))
	if at, ok := tabbed(lines, min(f.Line, len(lines))); ok {
		return Fault{Line: at.line, Column: at.column, What: "a tab indents this line", Next: "YAML indents with spaces: replace the tab by two spaces"}
	}
	return f
}

// pinpoint asks the next version of the parser for the column, which this one does not
// return. That version is a release candidate: it only explains a refusal, it never
// decides one.
func pinpoint(source []byte) (at place, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	var n next.Node
	bad, ok := errors.AsType[*next.LoadError](next.Load(source, &n))
	if !ok {
		return at, false
	}
	mark := bad.Mark
	for _, phrase := range opened {
		if strings.Contains(bad.Message, phrase) && bad.ContextMark.Line > 0 {
			mark = bad.ContextMark
		}
	}
	return place{mark.Line, mark.Column}, mark.Line > 0
}

func (r *yamlReader) fault(y *yaml.Node, advice, format string, args ...any) error {
	at := place{y.Line, y.Column}
	if r.inAlias.line > 0 {
		at = r.inAlias
	}
	return &Fault{Line: at.line, Column: at.column, What: fmt.Sprintf(format, args...), Next: advice}
}

func (r *yamlReader) node(y *yaml.Node, depth int) (*node, error) {
	if r.values++; r.values > maxValues {
		return nil, r.fault(y, "an alias inside an alias multiplies: write less with them, or split the workflow", "the definition stands for more than %d values", maxValues)
	}
	if depth > maxDepth {
		return nil, r.fault(y, "flatten it", "lists and mappings lie more than %d deep in one another", maxDepth)
	}
	n := &node{place: place{y.Line, y.Column}}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(y, depth)
	case yaml.SequenceNode:
		n.kind = sequence
		return n, r.sequence(n, y, depth)
	case yaml.MappingNode:
		n.kind = mapping
		return n, r.mapping(n, y, depth)
	default:
		return n, r.scalar(n, y)
	}
}

func (r *yamlReader) alias(y *yaml.Node, depth int) (*node, error) {
	if r.open[y.Alias] {
		return nil, r.fault(y, "break the ring", "the alias *%s holds itself", y.Value)
	}
	outer := r.inAlias
	if outer.line == 0 {
		r.inAlias = place{y.Line, y.Column}
	}
	r.open[y.Alias] = true
	n, err := r.node(y.Alias, depth)
	delete(r.open, y.Alias)
	r.inAlias = outer
	if err == nil {
		n.place = place{y.Line, y.Column}
	}
	return n, err
}

func (r *yamlReader) sequence(n *node, y *yaml.Node, depth int) error {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!seq" {
		return r.fault(y, "remove it", "the tag %s means nothing here", y.Tag)
	}
	n.items = make([]*node, 0, len(y.Content))
	for _, c := range y.Content {
		item, err := r.node(c, depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return nil
}

func (r *yamlReader) mapping(n *node, y *yaml.Node, depth int) error {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != "!!map" {
		return r.fault(y, "remove it", "the tag %s means nothing here", y.Tag)
	}
	seen := map[string]place{}
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		if k.Kind == yaml.ScalarNode && k.Tag == "!!merge" {
			base, err := r.node(y.Content[i+1], depth+1)
			if err != nil {
				return err
			}
			merged = append(merged, base)
			continue
		}
		for k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return r.fault(y.Content[i], "put text that begins with {{ in quotes", "a key must be text")
		}
		at := place{y.Content[i].Line, y.Content[i].Column}
		if first, ok := seen[k.Value]; ok {
			return doubled(k.Value, at, first)
		}
		seen[k.Value] = at
		value, err := r.node(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{k.Value, at, value})
	}
	return r.merge(n, y, merged, seen)
}

// merge adds what << brings: only keys that the mapping itself does not have.
func (r *yamlReader) merge(n *node, y *yaml.Node, bases []*node, seen map[string]place) error {
	for len(bases) > 0 {
		base := bases[0]
		bases = bases[1:]
		if base.kind == sequence {
			bases = append(base.items, bases...)
			continue
		}
		if base.kind != mapping {
			return r.fault(y, "write <<: *name, where &name marks a mapping", "<< wants a mapping")
		}
		for _, f := range base.fields {
			if _, ok := seen[f.key]; !ok {
				seen[f.key] = f.place
				n.fields = append(n.fields, f)
			}
		}
	}
	return nil
}

func (r *yamlReader) scalar(n *node, y *yaml.Node) error {
	switch y.Tag {
	case "!!null":
		n.kind = null
		return nil
	case "!!bool":
		n.kind = boolean
		if err := y.Decode(&n.value); err != nil {
			return r.fault(y, "write true or false", "%q is neither true nor false", y.Value)
		}
		return nil
	case "!!int", "!!float":
		n.kind = number
		return r.number(n, y)
	case "!!str", "!!timestamp":
		n.kind, n.value = text, y.Value
		return nil
	default:
		return r.fault(y, "remove it", "the tag %s means nothing here", y.Tag)
	}
}

func (r *yamlReader) number(n *node, y *yaml.Node) error {
	var v any
	if err := y.Decode(&v); err != nil {
		return r.fault(y, "put it in quotes if it is text", "%q is no number", y.Value)
	}
	switch v := v.(type) {
	case int:
		n.value = int64(v)
	case int64:
		n.value = v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return r.fault(y, "put it in quotes if it is text", "%s is no number that JSON has", y.Value)
		}
		if n.value = whole(v); !strings.ContainsAny(y.Value, ".eE") {
			return r.fault(y, "write it as text, in quotes", "the number %s has more digits than fit", y.Value)
		}
	default: // uint64: beyond int64
		return r.fault(y, "write it as text, in quotes", "the number %s has more digits than fit", y.Value)
	}
	return nil
}

// Syntax describes what is wrong with YAML that the parser refused, and where. It is for
// other files than definitions, whose authors need the same messages.
func Syntax(file string, source []byte, err error) Fault {
	f := syntax(source, err)
	f.File = file
	return f
}
