package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds of one schema.
const (
	MaxPatterns = 100        // regular expressions
	MaxTotal    = 20_000     // instructions of all of them
	MaxParts    = 10_000     // objects, lists and values
	MaxChecks   = 6_000      // on one value of a document, and on those it lies in
	MaxWork     = 20_000_000 // checks on a whole document
	maxNesting  = 64         // of a document
)

// Schema is a compiled JSON Schema of a user.
type Schema struct {
	rules  *jsonschema.Schema
	checks int
}

// schemaURL is the address of the document itself.
const schemaURL = "weir:params"

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside: a schema may only refer to itself", url)
}

// Compile compiles a JSON Schema. An *Error is one of our bounds; any other error is the
// library's.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	s := survey{}
	if err := s.schema(doc, nil); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(engine)
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	rules, err := c.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	w := weight{known: map[step]int{}}
	checks := w.of(rules, 0)
	if w.endless || checks > MaxChecks {
		return nil, &Error{What: fmt.Sprintf("the schema checks one value more than %d times, references followed", MaxChecks), Next: "refer to a part once, and to a part that holds it not at all"}
	}
	return &Schema{rules, checks}, nil
}

// Plain is what an error of the library says, without the address that the document has here.
func Plain(err error) string {
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), schemaURL+"#", ""), schemaURL, "the schema")
}

// engine is what the library compiles `pattern`, `patternProperties` and texts of the format
// `regex` with.
func engine(source string) (jsonschema.Regexp, error) {
	re, cost, err := compile(source)
	if err != nil {
		return nil, err
	}
	return &expression{re, cost}, nil
}

// expression is a Regexp of the library that knows its cost.
type expression struct {
	re interface {
		MatchString(string) bool
		String() string
	}
	cost int
}

func (e *expression) MatchString(s string) bool { return e.re.MatchString(s) }
func (e *expression) String() string            { return e.re.String() }

// Validate checks a document. A document that is too much work for the schema is refused by
// an *Error before anything is checked.
func (s *Schema) Validate(v any) error {
	size, depth := measure(v)
	switch {
	case depth > maxNesting:
		return &Error{What: fmt.Sprintf("lists and mappings lie more than %d deep in one another", maxNesting), Next: "flatten it"}
	case size > MaxWork/s.checks:
		return &Error{What: fmt.Sprintf("%d values and %d checks on each are more than the limit of %d", size, s.checks, MaxWork), Next: "give fewer, or check less"}
	}
	return s.rules.Validate(v)
}

// measure counts the values of a document; 16 bytes of text are as much as one.
func measure(v any) (size, depth int) {
	size = 1
	add := func(name string, inner any) {
		s, d := measure(inner)
		size, depth = size+s+len(name)/16, max(depth, d+1)
	}
	switch v := v.(type) {
	case string:
		size += len(v) / 16
	case []any:
		for _, x := range v {
			add("", x)
		}
	case map[string]any:
		for name, x := range v {
			add(name, x)
		}
	}
	return size, depth
}

// survey looks at the text of a schema before the library does.
type survey struct{ parts, patterns, total int }

// data are the words whose value is data: what looks like a pattern there is none. named are
// those whose value has names in it that the author chose, which may be any word.
var (
	data  = []string{"const", "enum", "default", "examples"}
	named = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

func (s *survey) schema(v any, at []string) error {
	if s.parts++; s.parts > MaxParts {
		return &Error{What: fmt.Sprintf("the schema has more than %d parts", MaxParts), Next: "write a smaller one"}
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			if err := s.schema(x, append(at, strconv.Itoa(i))); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range sortedNames(v) {
			if err := s.word(name, v[name], append(at, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *survey) word(name string, v any, at []string) error {
	source, isText := v.(string)
	inner, isMap := v.(map[string]any)
	switch {
	case slices.Contains(data, name) && !chosen(at):
		return nil
	case isText && (name == "$dynamicRef" || name == "$recursiveRef"):
		return &Error{At: slices.Clone(at), What: "a schema of params has no " + name, Next: "use $ref"}
	case isText && name == "pattern":
		return s.expression(source, at)
	case isMap && name == "patternProperties" && !chosen(at):
		for _, source := range sortedNames(inner) {
			if err := s.expression(source, append(at, source)); err != nil {
				return err
			}
		}
	}
	return s.schema(v, at)
}

// chosen says that the last word is a name that the author chose.
func chosen(at []string) bool { return len(at) > 1 && slices.Contains(named, at[len(at)-2]) }

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (s *survey) expression(source string, at []string) error {
	cost, err := Cost(source)
	if bad, ok := errors.AsType[*Error](err); ok {
		bad.At = slices.Clone(at)
		return bad
	}
	s.patterns, s.total = s.patterns+1, s.total+cost
	switch {
	case s.patterns > MaxPatterns:
		return &Error{At: slices.Clone(at), What: fmt.Sprintf("the schema has more than %d patterns", MaxPatterns), Next: "use fewer"}
	case s.total > MaxTotal:
		return &Error{At: slices.Clone(at), What: fmt.Sprintf("the patterns of the schema are together over the limit of %d instructions", MaxTotal), Next: "use fewer or shorter ones"}
	}
	return nil
}
