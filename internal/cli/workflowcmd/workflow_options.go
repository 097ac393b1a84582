package workflowcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// optionFlags are the options of a workflow's job as flags.
type optionFlags struct {
	params, steps, skip []string
	file                string
	labels              map[string]string
}

func (f *optionFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.params, "param", nil, "param of the job: `NAME=VALUE`, the value JSON or else text; may be repeated")
	flags.StringVar(&f.file, "params-file", "", "YAML or JSON `file` with params; - is standard input; --param wins over it")
	flags.StringArrayVar(&f.steps, "step", nil, "param of one step: `STEP.NAME=VALUE`; may be repeated")
}

// registerAll adds what only a single job may have.
func (f *optionFlags) registerAll(c *cobra.Command) {
	f.register(c)
	c.Flags().StringArrayVar(&f.skip, "skip", nil, "leave out this `step`; what needs it goes on; may be repeated")
	c.Flags().StringToStringVar(&f.labels, "label", nil, "label that the node of every step must have: `KEY=VALUE`; may be repeated")
}

// given says that there is anything to read.
func (f *optionFlags) given() bool {
	return len(f.params)+len(f.steps)+len(f.skip)+len(f.labels) > 0 || f.file != ""
}

// fit makes the params what the definition wants: where that is text, a value is
// text, whatever it looks like.
func (f *optionFlags) fit(o definition.Options, d *definition.Definition) {
	for _, text := range f.params {
		name, value, _ := strings.Cut(text, "=")
		if _, quoted := o.Params[name].(string); d != nil && !quoted && d.WantsText(name) {
			o.Params[name] = value
		}
	}
}

// stored is the definition that flags are read for; nil if there is no param to
// read. That it is not there is told by whoever runs it.
func (f *optionFlags) stored(ctx context.Context, s *app.Session, name string, version int) *definition.Definition {
	if len(f.params) == 0 {
		return nil
	}
	w, err := workflow.Show.Call(ctx, s.Operations, &workflow.NamedVersion{Named: workflow.Named{Workflow: name}, Version: version})
	if err != nil {
		return nil
	}
	d, err := definition.ParseJSON(w.Definition)
	if err != nil {
		return nil
	}
	return d
}

// read makes the options.
func (f *optionFlags) read(in io.Reader) (o definition.Options, err error) {
	if f.file != "" {
		if o.Params, err = readParams(f.file, in); err != nil {
			return o, err
		}
	}
	for _, text := range f.params {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return o, command.Invalid("write it so: --param width=1280", "--param: %q is not NAME=VALUE", text)
		}
		if o.Params == nil {
			o.Params = map[string]any{}
		}
		o.Params[name] = command.ParamValue(value)
	}
	o.Labels = f.labels
	steps := map[string]definition.StepOptions{}
	for _, text := range f.steps {
		place, value, ok := strings.Cut(text, "=")
		dot := strings.LastIndexByte(place, '.')
		if !ok || dot < 1 || dot == len(place)-1 {
			return o, command.Invalid("write it so: --step render.width=1280", "--step: %q is not STEP.NAME=VALUE", text)
		}
		step := steps[place[:dot]]
		if step.Params == nil {
			step.Params = map[string]any{}
		}
		step.Params[place[dot+1:]] = command.ParamValue(value)
		steps[place[:dot]] = step
	}
	for _, key := range f.skip {
		step := steps[key]
		step.Skip = true
		steps[key] = step
	}
	if len(steps) > 0 {
		o.Steps = steps
	}
	return o, nil
}

// readParams reads params from a YAML or JSON file, or from standard input.
func readParams(path string, in io.Reader) (map[string]any, error) {
	text, err := command.ReadFile(path, in, command.DefinitionMost)
	if err != nil {
		return nil, command.Invalid("", "--params-file: %s", err)
	}
	const next = "write names with values, such as width: 1280"
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil { // JSON is YAML too
		return nil, command.Invalid(next, "--params-file: %s is neither YAML nor JSON: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if text, err = json.Marshal(tree); err != nil {
		return nil, command.Invalid(next, "--params-file: %s: %s", path, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var params map[string]any
	if decoder.Decode(&params) != nil || params == nil {
		return nil, command.Invalid(next, "--params-file: %s has no params", path)
	}
	return params, nil
}
