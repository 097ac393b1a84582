package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/weirhq/weir/internal/problem"
)

// Options are what somebody says when they run a workflow.
type Options struct {
	// Params of the job. They also replace a param that a step states as a plain
	// value under the same name.
	Params map[string]any `json:"params,omitempty"`
	// Steps are options for single steps, by key.
	Steps map[string]StepOptions `json:"steps,omitempty"`
	// Labels are required of the node of every step, besides its own.
	Labels map[string]string `json:"labels,omitempty"`
}

// StepOptions change one step of one job.
type StepOptions struct {
	// Params replace params of the step by name. They are values, not templates.
	Params   map[string]any `json:"params,omitempty"`
	Priority *int           `json:"priority,omitempty"`
	// Skip leaves the step out. Its dependents go on.
	Skip bool `json:"skip,omitempty"`
}

// Input makes the params of a job: the options' over the defaults, checked
// against the schema.
func (d *Definition) Input(options Options) (map[string]any, error) {
	for _, key := range sortedKeys(options.Steps) {
		if s := d.Step(key); s == nil || s.Key != key {
			next := meant(key, d.keys())
			if next == "" {
				next = "the steps are " + list(d.keys())
			}
			return nil, problem.Refuse("steps."+key, next, "%s has no such step", d.Name)
		}
		if p := options.Steps[key].Priority; p != nil && (*p < -100 || *p > 100) {
			return nil, problem.Refuse("steps."+key+".priority", "", "%d is outside -100 to 100", *p)
		}
	}
	params := map[string]any{}
	schema, err := d.schema()
	if err != nil {
		return nil, err
	}
	for key, v := range d.Defaults {
		params[key] = tidy(v)
	}
	for key, v := range options.Params {
		params[key] = tidy(v)
	}
	fill(params, schema.plain, 0)
	if size := len(encode(params)); size > maxParams {
		return nil, &problem.Problem{Kind: problem.TooLarge, Field: "params", What: fmt.Sprintf("params: %d bytes are over the limit of 1 MiB", size), Next: "put the data into a bucket and pass its key"}
	}
	if schema.rules == nil {
		return params, nil
	}
	if err := schema.rules.Validate(params); err != nil {
		return nil, refuseParams(err, schema.plain)
	}
	return params, nil
}

func (d *Definition) keys() []string {
	keys := make([]string, len(d.Steps))
	for i := range d.Steps {
		keys[i] = d.Steps[i].Key
	}
	return keys
}

// fill adds the defaults that the schema states, also inside mappings that are
// there.
func fill(params, schema map[string]any, depth int) {
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, _ := p.(map[string]any)
		if _, ok := params[name]; !ok {
			if v, ok := property["default"]; ok {
				params[name] = tidy(v)
			}
		}
		if inner, ok := params[name].(map[string]any); ok && depth < maxDepth {
			fill(inner, property, depth+1)
		}
	}
}

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside: a schema may only refer to itself", url)
}

const schemaURL = "weir:params"

func compileSchema(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, plainSchemaError(err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, plainSchemaError(err)
	}
	return compiled, nil
}

// schemaFault says where inside a schema something is wrong.
type schemaFault struct {
	at   []string
	what string
}

func (f *schemaFault) Error() string { return f.what }

// plainSchemaError finds what a person can mend in an error about the schema
// itself.
func plainSchemaError(err error) error {
	if bad, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if deep, ok := errors.AsType[*jsonschema.ValidationError](bad.Err); ok {
			at, what := leaf(deep)
			return &schemaFault{at, what}
		}
	}
	return errors.New(strings.ReplaceAll(strings.ReplaceAll(err.Error(), schemaURL+"#", ""), schemaURL, "the schema"))
}

// leaf is the first error that has no cause below it: the one to mend.
func leaf(e *jsonschema.ValidationError) (at []string, what string) {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	return e.InstanceLocation, e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

func refuseParams(err error, schema map[string]any) error {
	bad, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fmt.Errorf("check the params: %w", err)
	}
	at, what := leaf(bad)
	properties, _ := schema["properties"].(map[string]any)
	next := ""
	if len(at) > 0 {
		property, _ := properties[at[0]].(map[string]any)
		if text, ok := property["description"].(string); ok {
			next = at[0] + ": " + text
		}
	} else if len(properties) > 0 {
		next = "the params are " + list(sortedKeys(properties))
	}
	return problem.Refuse(strings.Join(append([]string{"params"}, at...), "."), next, "%s", what)
}
