package flowpages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// paramsMost is how many params get a field; more are for the JSON.
	paramsMost = 100
	// paramField begins the name of the field of a param: the definition names a
	// param that it refuses so, too.
	paramField = "params."
	// jsonField is the box for params that have no field.
	jsonField = "json"
)

// param is one param of a workflow as its schema describes it.
type param struct {
	name        string
	Type        any    `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Enum        []any  `json:"enum"`
	Format      string `json:"format"`
	MaxLength   int    `json:"maxLength"`
	// fallback is the value that counts if nobody gives one, as JSON; nil: none.
	fallback json.RawMessage
	required bool
}

// paramsOf reads the schema of a definition, in the order of its source; what is
// not found there comes last, what is required first. What it cannot read is left to
// the JSON box.
func paramsOf(d *definition.Definition, source string) []param {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(d.Params, &schema) != nil {
		return nil
	}
	var out []param
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := param{name: name, required: slices.Contains(schema.Required, name)}
		if decode(schema.Properties[name], &p) != nil {
			// A schema may be true, or have a type we do not know: any JSON then.
			p = param{name: name, required: p.required}
		}
		var own struct {
			Default json.RawMessage `json:"default"`
		}
		if json.Unmarshal(schema.Properties[name], &own) == nil {
			p.fallback = own.Default
		}
		if v, ok := d.Defaults[name]; ok {
			p.fallback = encoded(v)
		}
		out = append(out, p)
	}
	place := make(map[string]int, len(out))
	for _, p := range out {
		place[p.name] = placeIn(source, p.name)
	}
	slices.SortStableFunc(out, func(a, b param) int {
		return cmp.Or(cmp.Compare(place[a.name], place[b.name]), cmp.Compare(a.rank(), b.rank()))
	})
	return out[:min(len(out), paramsMost)]
}

// placeIn is where the source of a workflow names a param; far away if it does not.
// The stored definition is JSON without an order.
func placeIn(source, name string) int {
	const nowhere = 1 << 30
	begin := strings.Index(source, "params")
	if begin < 0 {
		return nowhere
	}
	re, err := pattern.Regexp(`[\s{,]["']?` + regexp.QuoteMeta(name) + `["']?\s*:`)
	if err != nil {
		return nowhere
	}
	found := re.FindStringIndex(source[begin:])
	if found == nil {
		return nowhere
	}
	return begin + found[0]
}

// rank puts what must be filled in before what need not.
func (p param) rank() int {
	if p.must() {
		return 0
	}
	return 1
}

// must says that the form cannot be sent without it.
func (p param) must() bool { return p.required && p.fallback == nil }

// kind is which input fits: string, number, integer, boolean, enum or json.
func (p param) kind() string {
	if len(p.Enum) > 0 {
		return "enum"
	}
	switch kind, _ := p.Type.(string); kind {
	case "string", "number", "integer", "boolean":
		return kind
	}
	return "json"
}

// typeWords is the type for people: its name, or the values there are.
func (p param) typeWords() string {
	if len(p.Enum) > 0 {
		var values []string
		for _, v := range p.Enum[:min(len(p.Enum), 6)] {
			values = append(values, shown(v))
		}
		return strings.Join(values, " | ")
	}
	if kind, ok := p.Type.(string); ok {
		return ui.Line(kind)
	}
	return "any"
}

func (p param) field(ctx context.Context) ui.Field {
	f := ui.Field{Name: paramField + p.name, Label: cmp.Or(ui.Line(p.Title), ui.Line(p.name)), Hint: ui.Line(p.Description), Optional: !p.must(), Auto: "off", Value: p.text()}
	switch p.kind() {
	case "enum":
		f.Type = "select"
		for _, v := range p.Enum {
			f.Options = append(f.Options, ui.Option{Value: string(encoded(v)), Label: shown(v)})
		}
		f.Value = string(p.fallback)
	case "boolean":
		f.Type, f.Options = "select", ui.Options("true", "false")
	case "integer":
		f.Type = "number"
	case "json":
		f.Type, f.Hint = "area", joined(f.Hint, "JSON.")
	case "string":
		if p.MaxLength > 200 || strings.Contains(f.Value, "\n") {
			f.Type = "area"
		}
		f.Hint = joined(f.Hint, formatHint(ctx, p.Format))
	}
	if f.Type == "select" && (p.fallback == nil) {
		f.Options = append([]ui.Option{{Value: "", Label: "–"}}, f.Options...)
	}
	return f
}

// formatHint says how a text with a format is written.
func formatHint(ctx context.Context, format string) string {
	switch format {
	case "":
		return ""
	case "date-time":
		return ui.Say(ctx, "run.format.time")
	case "date":
		return ui.Say(ctx, "run.format.day")
	case "uri", "url":
		return ui.Say(ctx, "run.format.address")
	}
	return ui.Say(ctx, "run.format", ui.Line(format))
}

func joined(a, b string) string { return strings.TrimSpace(a + " " + b) }

// text is the fallback as it stands in the field.
func (p param) text() string {
	if p.fallback == nil {
		return ""
	}
	var s string
	if p.kind() == "string" && json.Unmarshal(p.fallback, &s) == nil {
		return s
	}
	if p.kind() == "json" {
		return indented(p.fallback)
	}
	return string(p.fallback)
}

// read is the value that was sent; given is false if it was left as it is.
// A value that is the fallback anyway is not given: what is given also replaces
// params that single steps state.
func (p param) read(r *site.Request) (value any, given bool, err error) {
	name := paramField + p.name
	text := strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		if p.must() {
			return nil, false, problem.Refuse(name, ui.Line(p.Description), "it must be filled in")
		}
		return nil, false, nil
	}
	if p.fallback != nil && (text == p.text() || p.kind() == "enum" && text == string(p.fallback)) {
		return nil, false, nil
	}
	if p.kind() == "string" {
		return text, true, nil
	}
	if decode([]byte(text), &value) != nil {
		return nil, false, problem.Refuse(name, p.advice(), "%s is no %s", shown(text), cmp.Or(strings.Replace(p.kind(), "json", "JSON", 1), "JSON"))
	}
	return value, true, nil
}

func (p param) advice() string {
	switch p.kind() {
	case "number":
		return "write a number such as 1.5"
	case "integer":
		return "write a whole number"
	case "boolean":
		return "choose true or false"
	}
	if p.Type == "array" {
		return `write a list such as ["a", "b"]`
	}
	return `write JSON such as {"a": 1}, or "text" in quotes`
}

// readParams are the params that a form gives: the fields, and over them the
// JSON box.
func readParams(r *site.Request, params []param) (map[string]any, error) {
	out := map[string]any{}
	for _, p := range params {
		// What the box has need not be in the field.
		value, given, err := p.read(r)
		if err != nil {
			return nil, err
		}
		if given {
			out[p.name] = value
		}
	}
	text := r.Field(jsonField)
	if text == "" {
		return out, nil
	}
	var more map[string]any
	if err := decode([]byte(text), &more); err != nil || more == nil {
		return nil, problem.Refuse(jsonField, `write an object such as {"name": "world"}`, "this is no JSON object")
	}
	maps.Copy(out, more)
	return out, nil
}

// placedParam puts a refusal of a param at its field: of a value deep inside at
// the field of the whole.
func placedParam(err error, fields []ui.Field) error {
	if err == nil {
		return nil
	}
	p := problem.Explain(err)
	if p.Kind != problem.Invalid && p.Kind != problem.TooLarge {
		return err
	}
	field := jsonField
	for _, f := range fields {
		if f.Name == p.Field || strings.HasPrefix(f.Name, paramField) && strings.HasPrefix(p.Field, f.Name+".") {
			field = f.Name
		}
	}
	if !strings.HasPrefix(p.Field, "params") {
		return err
	}
	if below := p.Below(field); below != p {
		return below.Within(field)
	}
	return p.At(field)
}

// decode reads one JSON value and keeps large numbers as they are.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	if d.More() {
		return fmt.Errorf("read JSON: there is more behind the value")
	}
	return nil
}

// encoded is a value that came from JSON, as JSON.
func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// shown is a value for people.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return ui.Cut(ui.Line(s), 80)
	}
	return ui.Cut(string(encoded(v)), 80)
}

// indented is JSON for people.
func indented(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}
