package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func (e *env) workflowPlan() *cobra.Command {
	var f optionFlags
	var version int
	var offline bool
	c := &cobra.Command{
		Use: "plan FILE|NAME", Short: "Say what a run would do, where, and what would not run and why", Args: e.args("FILE or NAME"),
		Long: `Say what a run of a workflow would do. It changes nothing.

An argument with a slash, or that ends in .yaml, .yml or .json, is a file; - is
standard input. A file needs no server: without one, or with --offline, it is
not said where a step would run.`,
		Example: "  weir workflow plan media.yaml --param source=s3://raw/1\n  weir workflow plan media --step render.width=1280\n  weir workflow plan media.yaml --offline -o json",
	}
	c.RunE = e.run(func(cmd *cobra.Command, args []string) error {
		options, err := f.read(e.In)
		if err != nil {
			return err
		}
		if !isFile(args[0]) {
			if offline {
				return invalid("give the file of the workflow", "without a server it is not known what %q is", args[0])
			}
			return e.planStored(cmd, args[0], version, &f, options)
		}
		if version != 0 {
			return invalid("leave --version out, or give a name instead of a file", "a file has one version")
		}
		file, err := e.usable(args[0])
		if err != nil {
			return err
		}
		f.fit(options, file.definition)
		return e.planFile(cmd, file, options, offline)
	})
	f.registerAll(c)
	c.Flags().IntVar(&version, "version", 0, "this version of a stored workflow; default: the newest active one")
	c.Flags().BoolVar(&offline, "offline", false, "ask no server")
	return c
}

func (e *env) planStored(cmd *cobra.Command, name string, version int, f *optionFlags, options definition.Options) error {
	s, err := e.connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	f.fit(options, f.stored(cmd.Context(), s, name, version))
	in := &workflow.Planning{Named: workflow.Named{Workflow: name}, Body: &workflow.PlanBody{Options: options, Version: version}}
	plan, err := workflow.Plan.Call(cmd.Context(), s.Operations, in)
	if err != nil {
		return err
	}
	return e.printPlan(plan.Items, true, name)
}

// planFile plans a file where a Weir is found, else without one.
func (e *env) planFile(cmd *cobra.Command, f workflowFile, options definition.Options, offline bool) error {
	if !offline {
		s, err := e.connect(cmd)
		if p := new(problem.Problem); errors.As(err, &p) && p.Kind == problem.Unreachable {
			offline = true
		} else if err != nil {
			return err
		} else {
			defer s.Close()
			in := &workflow.PlanningDefinition{Body: workflow.PlanDefinitionBody{DefinitionBody: workflow.DefinitionBody{Definition: f.definition.JSON()}, Options: options}}
			plan, err := workflow.PlanDefinition.Call(cmd.Context(), s.Operations, in)
			if err != nil {
				return err
			}
			return e.printPlan(plan.Items, true, f.path)
		}
	}
	steps, err := planAlone(f.definition, options)
	if err != nil {
		return err
	}
	if o := e.output(); o.table() {
		o.say("No server was asked, so it is not said where steps would run.")
	}
	return e.printPlan(steps, false, f.path)
}

// planAlone plans without a server.
func planAlone(d *definition.Definition, options definition.Options) ([]workflow.Preview, error) {
	params, err := d.Input(options)
	if err != nil {
		return nil, err
	}
	found, err := d.Preview(definition.Input{Params: params, Options: options, Job: definition.Job{Name: d.Name}})
	if err != nil {
		return nil, err
	}
	steps := make([]workflow.Preview, len(found))
	for i, p := range found {
		steps[i].Preview = p
	}
	return steps, nil
}

func (e *env) printPlan(steps []workflow.Preview, where bool, what string) error {
	o := e.output()
	if err := planListing(where).print(o, steps); err != nil || !o.table() {
		return err
	}
	waits := 0
	for _, p := range steps {
		if runsNowhere(p) {
			waits++
		}
	}
	if waits > 0 {
		o.say("%s: start one with: weir agent", plural(waits, "step would wait for somebody who takes it", "steps would wait for somebody who takes them"))
	}
	if what != "-" {
		o.say("Nothing was run. Run it with: weir run %s%s --watch", clean(what), e.said("param", "params-file", "step", "skip", "label", "version"))
	}
	return nil
}
