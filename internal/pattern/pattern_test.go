package pattern_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"runtime"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/pattern"
)

// bomb is a kilobyte that compiles to a million instructions.
var bomb = strings.Repeat("(", 490) + "a" + strings.Repeat(")", 490) + "{1000}"

// allocated is how many bytes f takes from the heap.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestRegexpBounds(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"repeats":  {bomb, "deep in one another"},
		"product":  {"((((((((((a|bc)(d|ef)){30}){30}))))))x{900})", "instructions"},
		"class":    {strings.Repeat(`[a-z]{900}`, 10), "instructions"},
		"length":   {strings.Repeat("a", pattern.MaxLength+1), "1001 bytes"},
		"depth":    {strings.Repeat("(?:a|b(?:", 60) + strings.Repeat("))", 60), "deep in one another"},
		"unclosed": {"(", "missing closing )"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if bytes := allocated(func() { _, err = pattern.Regexp(c.source) }); bytes > 1<<20 {
				t.Errorf("%d bytes were allocated to refuse it", bytes)
			}
			bad, ok := errors.AsType[*pattern.Error](err)
			if !ok || !strings.Contains(bad.What, c.want) || bad.Next == "" {
				t.Errorf("got %v, want an Error with %q and what to do", err, c.want)
			}
		})
	}
	for _, good := range []string{`^[a-z]{1,1000}$`, `^(\d{4})-(\d{2})-(\d{2})T(\d{2}:){2}\d{2}(\.\d{1,9})?Z$`, `(?i)^(a+)+$`, `^\p{L}[\p{L}\p{N} _.-]{0,199}$`, ""} {
		if _, err := pattern.Regexp(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestCostIsAnUpperBound: no pattern compiles to more instructions than Cost said, apart from
// the two that every program has.
func TestCostIsAnUpperBound(t *testing.T) {
	for _, source := range []string{
		`a`, `abc`, `a*`, `(a|b|cd)+?`, `[a-z0-9]{3,7}`, `((a{2,3}){4,5}b?){2}`, `^\s*$`, `(?i)straße`, `x{0}`, `x{5,}`, `(?:)`, `\pL{9}`, `.{0,100}`, `(a|b){50}`, `\bfoo\b|\Bbar\z`,
	} {
		cost, err := pattern.Cost(source)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(program.Inst) - 2; n > cost {
			t.Errorf("%s: %d instructions, Cost says %d", source, n, cost)
		}
	}
}

func TestSchemaBounds(t *testing.T) {
	text, _ := json.Marshal(bomb)
	many := make([]string, 101)
	sum := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d": {"type": "string", "pattern": "^a$"}`, i)
	}
	for i := range sum {
		sum[i] = fmt.Sprintf(`"p%d": {"type": "string", "pattern": "^[a-z]{900}$"}`, i)
	}
	// Each of these has two references to the next: 2^40 checks of one number.
	doubled := make([]string, 40)
	for i := range doubled {
		doubled[i] = fmt.Sprintf(`"d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, i, i+1, i+1)
	}
	for name, c := range map[string]struct{ schema, at, want string }{
		"pattern":   {`{"properties": {"x": {"type": "string", "pattern": ` + string(text) + `}}}`, "properties.x.pattern", "deep in one another"},
		"names":     {`{"patternProperties": {` + string(text) + `: {}}}`, "patternProperties." + bomb, "deep in one another"},
		"in const":  {`{"$defs": {"const": {"pattern": ` + string(text) + `}}}`, "$defs.const.pattern", "deep in one another"},
		"many":      {`{"properties": {` + strings.Join(many, ",") + `}}`, "properties.p99.pattern", "more than 100 patterns"},
		"together":  {`{"properties": {` + strings.Join(sum, ",") + `}}`, "properties.p13.pattern", "together over the limit"},
		"doubled":   {`{"$ref": "#/$defs/d0", "$defs": {` + strings.Join(doubled, ",") + `, "d40": {"type": "integer"}}}`, "", "more than 6000 times"},
		"recursive": {`{"allOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]}`, "", "more than 6000 times"},
		"ring":      {`{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`, "", "more than 6000 times"},
		"dynamic":   {`{"$dynamicRef": "#x"}`, "$dynamicRef", "has no $dynamicRef"},
		"parts":     {`{"anyOf": [` + strings.TrimSuffix(strings.Repeat(`{},`, 10_001), ",") + `]}`, "", "more than 10000 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if bytes := allocated(func() { _, err = pattern.Compile(json.RawMessage(c.schema)) }); bytes > 32<<20 {
				t.Errorf("%d bytes were allocated to refuse it", bytes)
			}
			bad, ok := errors.AsType[*pattern.Error](err)
			if !ok || !strings.Contains(bad.What, c.want) || strings.Join(bad.At, ".") != c.at {
				t.Errorf("got %v at %v", err, bad)
			}
		})
	}
}

// TestSchemasOfPeople: what people write passes, also where it refers to itself.
func TestSchemasOfPeople(t *testing.T) {
	for _, c := range []struct{ schema, good string }{
		{`{"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "v": {"type": "integer"}}}`, `{"left": {"v": 1, "right": {"v": 2}}}`},
		{`{"properties": {"pattern": {"type": "string"}, "const": {"type": "string"}}, "default": {"pattern": "("}}`, `{"pattern": "("}`},
		{`{"properties": {"tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{1,60}$"}, "uniqueItems": true}}}`, `{"tags": ["a", "b"]}`},
	} {
		s, err := pattern.Compile(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(c.good), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", c.good, err)
		}
	}
}

// TestDocumentBounds: a document is refused before it is checked if that is too much work,
// and a text of the format regex is bounded as a pattern is.
func TestDocumentBounds(t *testing.T) {
	s, err := pattern.Compile(json.RawMessage(`{"properties": {"re": {"format": "regex"}, "all": {"items": {"pattern": "^(ab|cd){300}$"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	words := make([]any, 1<<16)
	for i := range words {
		words[i] = "abcdabcdabcd"
	}
	bad, ok := errors.AsType[*pattern.Error](s.Validate(map[string]any{"all": words}))
	if !ok || !strings.Contains(bad.What, "more than the limit") {
		t.Errorf("many values: %v", bad)
	}
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	if _, ok := errors.AsType[*pattern.Error](s.Validate(map[string]any{"y": deep})); !ok {
		t.Error("a deep document was checked")
	}
	if bytes := allocated(func() { err = s.Validate(map[string]any{"re": bomb}) }); err == nil || bytes > 1<<20 {
		t.Errorf("format regex: %v, %d bytes", err, bytes)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"*.wav", "a/b/c.wav", true},
		{"a/*.wav", "a/c.wav", true},
		{"a/*.wav", "a/b/c.wav", false},
		{"a/**", "a", true},
		{"a/**", "a/b/c", true},
		{"**/c", "a/b/c", true},
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/b/d", false},
		{"**", "x/y", true},
		{"[", "[", false},
	} {
		if got := pattern.Glob(c.glob, c.name); got != c.want {
			t.Errorf("Glob(%q, %q) = %t", c.glob, c.name, got)
		}
	}
	// Forty ** over eighty folders: by trying, more ways than there is time for.
	if pattern.Glob(strings.Repeat("**/a/", 40)+"b", strings.Repeat("a/", 80)+"c") {
		t.Error("c is no b")
	}
}
