package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/problem"
)

// Options are what a user gives to a run of a workflow.
type Options struct {
	// Params of the job. They also replace a param that a step states as a plain
	// value under the same name.
	Params map[string]any         `json:"params,omitempty" doc:"Of the job; checked against the definition's schema."`
	Steps  map[string]StepOptions `json:"steps,omitempty" doc:"Of single steps, by key."`
	Labels map[string]string      `json:"labels,omitempty" doc:"Required of the node of every step, besides its own."`
}

// StepOptions change one step of one job.
type StepOptions struct {
	// Params replace params of the step by name. They are values, not templates.
	Params   map[string]any `json:"params,omitempty"`
	Priority *int           `json:"priority,omitempty"`
	// Skip leaves the step out. Its dependents continue.
	Skip bool `json:"skip,omitempty"`
}

// Input makes the params of a job: those of the options over the defaults, checked
// against the schema.
func (d *Definition) Input(options Options) (map[string]any, error) {
	for _, key := range sortedKeys(options.Steps) {
		if s := d.Step(key); s == nil || s.Key != key {
			next := Meant(key, d.keys())
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
		return nil, refuseParams("params", err, schema.plain)
	}
	for _, key := range sortedKeys(options.Steps) {
		given := d.Step(key).givenJob(options.Steps[key].Params, schema.plain)
		if len(given) == 0 {
			continue
		}
		all := maps.Clone(params)
		maps.Copy(all, given)
		if err := schema.rules.Validate(all); err != nil {
			return nil, refuseParams("steps."+key+".params", err, schema.plain)
		}
	}
	return params, nil
}

// givenJob returns those params of one step that are params of the job: the schema has
// them, and the step takes them as they are.
func (s *Step) givenJob(own, schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	out := map[string]any{}
	for name, v := range own {
		_, known := properties[name]
		stated := s.Params[name]
		text, _ := stated.(string)
		if whole := strings.Trim(text, "{} "); known && (!hasTemplate(stated) || whole == ".params."+name) {
			out[name] = tidy(v)
		}
	}
	return out
}

// WantsText reports whether a param is text, whatever else its value looks like: 1.2,
// 007, true.
func (d *Definition) WantsText(name string) bool {
	schema, err := d.schema()
	if err != nil {
		return false
	}
	properties, _ := schema.plain["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	return property["type"] == "string"
}

func (d *Definition) keys() []string {
	keys := make([]string, len(d.Steps))
	for i := range d.Steps {
		keys[i] = d.Steps[i].Key
	}
	return keys
}

// fill adds the defaults of the schema, also inside existing mappings.
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

func compileSchema(raw json.RawMessage) (*pattern.Schema, error) {
	compiled, err := pattern.Compile(raw)
	if err != nil {
		return nil, plainSchemaError(err)
	}
	return compiled, nil
}

// schemaFault says where inside a schema something is wrong.
type schemaFault struct {
	at   []string
	what string
	next string
}

func (f *schemaFault) Error() string { return f.what }

// plainSchemaError extracts what a person can fix from an error about the schema itself.
func plainSchemaError(err error) error {
	if bad, ok := errors.AsType[*pattern.Error](err); ok {
		return &schemaFault{bad.At, bad.What, bad.Next}
	}
	if bad, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if deep, ok := errors.AsType[*jsonschema.ValidationError](bad.Err); ok {
			deep = leaf(deep)
			return &schemaFault{deep.InstanceLocation, plainly(deep.ErrorKind), ""}
		}
	}
	return errors.New(pattern.Plain(err))
}

// Mapping says whether a trigger starts a run, and with which params, by the expressions
// and templates of this language over what fired it. Make one with [ParseMapping].
type Mapping struct {
	when      *expression
	params    map[string]any
	templates map[string]*template
	all       []ref
}

// ParseMapping reads the condition and the params of a trigger. Roots are the values that
// they may read, such as params and steps.
func ParseMapping(when string, params json.RawMessage, roots ...string) (*Mapping, error) {
	m := &Mapping{templates: map[string]*template{}}
	if strings.TrimSpace(when) != "" {
		e, err := parseExpression(when)
		if err != nil {
			return nil, mapFault("when", err)
		}
		m.when = e
		if err := m.reads("when", e.refs, roots); err != nil {
			return nil, err
		}
	}
	if len(params) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(params, &m.params); err != nil {
		return nil, problem.Refuse("params", `write an object such as {"version": "{{ .params.version }}"}`, "this is no JSON object")
	}
	m.params, _ = tidy(m.params).(map[string]any)
	step := Step{Params: m.params}
	for _, at := range step.sites() {
		t, err := parseTemplate(at.text)
		if err != nil {
			return nil, mapFault(at.path, err)
		}
		m.templates[at.text] = t
		if err := m.reads(at.path, t.refs, roots); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// reads records what a text reads and refuses what is not there to be read.
func (m *Mapping) reads(path string, refs []ref, roots []string) error {
	for _, r := range refs {
		if len(r.path) == 0 || !slices.Contains(roots, r.path[0]) {
			return problem.Refuse(path, "a trigger reads "+strings.Join(roots, ", "), "there is no %s", r)
		}
		if r.path[0] == "steps" && len(r.path) < 2 {
			return problem.Refuse(path, "name the step: steps.build.result", "%s stands for all steps", r)
		}
	}
	m.all = append(m.all, refs...)
	return nil
}

// Steps returns the keys of the steps whose outcome it reads.
func (m *Mapping) Steps() []string {
	keys := map[string]bool{}
	for _, r := range m.all {
		if r.path[0] == "steps" {
			keys[r.path[1]] = true
		}
	}
	return sortedKeys(keys)
}

// Evaluate returns whether the condition holds, and the params of the run.
func (m *Mapping) Evaluate(facts map[string]any) (holds bool, params map[string]any, err error) {
	env, _ := tidy(facts).(map[string]any)
	if m.when != nil {
		if holds, err = m.when.truth(env); err != nil || !holds {
			return false, nil, mapFault("when", err)
		}
	}
	r := &renderer{&compiled{step: &Step{}, templates: m.templates}, env, newBudget()}
	params = make(map[string]any, len(m.params))
	for _, key := range sortedKeys(m.params) {
		if params[key], err = r.value(join("params", key), m.params[key]); err != nil {
			return false, nil, mapFault(join("params", key), cause(err))
		}
	}
	return true, params, nil
}

// cause returns the error without the words that name a step.
func cause(err error) error {
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Err != nil {
		return p.Err
	}
	return err
}

// mapFault says where in a trigger a text is wrong.
func mapFault(path string, err error) error {
	if err == nil {
		return nil
	}
	next := ""
	if f, ok := errors.AsType[*templateFault](err); ok {
		next = f.next
	}
	return &problem.Problem{Kind: problem.Invalid, Field: path, What: fmt.Sprintf("%s: %s", path, err), Next: next, Err: err}
}

// StepValues returns the outcomes of steps as a mapping reads them.
func StepValues(steps map[string]NeedFacts) map[string]any {
	out := make(map[string]any, len(steps))
	for key, s := range steps {
		out[key] = s.env()
	}
	return out
}
