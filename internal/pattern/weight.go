package pattern

import "github.com/santhosh-tekuri/jsonschema/v6"

// weight counts how many checks a schema makes on one value and on those that it lies in, at
// most. Two references to a part that has two references make four: a schema of a kilobyte
// can ask for 2^30 checks of one number. A part that refers to itself for an inner value is
// counted as often as documents may be deep; one that does for the same value is a ring.
type weight struct {
	known map[step]int
	// chain is how many parts are being counted at once.
	chain int
	// endless: it is a ring, or counting alone is too much work.
	endless bool
}

const (
	maxChain = 2_000
	maxSteps = 50_000
)

type step struct {
	part  *jsonschema.Schema
	depth int
}

// of never grows above MaxChecks + 1, so that no sum overflows.
func (w *weight) of(s *jsonschema.Schema, depth int) int {
	if s == nil || depth > maxNesting || w.endless {
		return 0
	}
	at := step{s, depth}
	if sum, ok := w.known[at]; ok {
		w.endless = sum == 0
		return sum
	}
	if w.chain++; w.chain > maxChain || len(w.known) > maxSteps {
		w.endless = true
		return 0
	}
	defer func() { w.chain-- }()
	w.known[at] = 0 // being counted: whoever meets it now goes round
	sum := own(s)
	for _, same := range inPlace(s) {
		sum = min(sum+w.of(same, depth), MaxChecks+1)
	}
	dearest := 0 // a value has one name, so only one of these looks at it
	for _, inner := range s.Properties {
		dearest = max(dearest, w.of(inner, depth+1))
	}
	for _, inner := range s.PrefixItems {
		dearest = max(dearest, w.of(inner, depth+1))
	}
	if items, ok := s.Items.([]*jsonschema.Schema); ok {
		for _, inner := range items {
			dearest = max(dearest, w.of(inner, depth+1))
		}
	}
	sum = min(sum+dearest, MaxChecks+1)
	for _, inner := range eachOf(s) {
		sum = min(sum+w.of(inner, depth+1), MaxChecks+1)
	}
	w.known[at] = sum
	return sum
}

// own are the checks of a part itself.
func own(s *jsonschema.Schema) int {
	sum := 1
	if p, ok := s.Pattern.(*expression); ok {
		sum += p.cost
	}
	for p := range s.PatternProperties {
		if p, ok := p.(*expression); ok {
			sum += p.cost
		}
	}
	if s.Enum != nil {
		sum += len(s.Enum.Values)
	}
	return min(sum, MaxChecks+1)
}

// inPlace are the parts that look at the same value.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	out := []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}
	out = append(append(append(out, s.AllOf...), s.AnyOf...), s.OneOf...)
	for _, d := range s.DependentSchemas {
		out = append(out, d)
	}
	for _, d := range s.Dependencies {
		if inner, ok := d.(*jsonschema.Schema); ok {
			out = append(out, inner)
		}
	}
	return out
}

// eachOf are the parts that may all look at one inner value.
func eachOf(s *jsonschema.Schema) []*jsonschema.Schema {
	out := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema}
	for _, inner := range s.PatternProperties {
		out = append(out, inner)
	}
	for _, rest := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		if inner, ok := rest.(*jsonschema.Schema); ok {
			out = append(out, inner)
		}
	}
	return out
}
