package workflowcmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func workflowPlan(e *command.Env) *cobra.Command {
	var f optionFlags
	var version int
	var offline bool
	c := &cobra.Command{
		Use: "plan FILE|NAME", Short: "Say what a run would do, where, and what would not run and why", Args: e.Args("FILE or NAME"),
		Long: `Say what a run of a workflow would do. It changes nothing.

An argument with a slash, or that ends in .yaml, .yml or .json, is a file; - is
standard input. A file needs no server: without one, or with --offline, it is
not said where a step would run.`,
		Example: "  weir workflow plan media.yaml --param source=s3://raw/1\n  weir workflow plan media --step render.width=1280\n  weir workflow plan media.yaml --offline -o json",
	}
	c.RunE = e.Run(func(cmd *cobra.Command, args []string) error {
		options, err := f.read(e.In)
		if err != nil {
			return err
		}
		if !isFile(args[0]) {
			if offline {
				return command.Invalid("give the file of the workflow", "without a server it is not known what %q is", args[0])
			}
			return planStored(e, cmd, args[0], version, &f, options)
		}
		if version != 0 {
			return command.Invalid("leave --version out, or give a name instead of a file", "a file has one version")
		}
		file, err := usable(e, args[0])
		if err != nil {
			return err
		}
		f.fit(options, file.definition)
		return planFile(e, cmd, file, options, offline)
	})
	f.registerAll(c)
	c.Flags().IntVar(&version, "version", 0, "this version of a stored workflow; default: the newest active one")
	c.Flags().BoolVar(&offline, "offline", false, "ask no server")
	return c
}

func planStored(e *command.Env, cmd *cobra.Command, name string, version int, f *optionFlags, options definition.Options) error {
	s, err := e.Connect(cmd)
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
	return printPlan(e, plan.Items, true, name)
}

// planFile plans a file where a Weir is found, else without one.
func planFile(e *command.Env, cmd *cobra.Command, f workflowFile, options definition.Options, offline bool) error {
	if !offline {
		s, err := e.Connect(cmd)
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
			return printPlan(e, plan.Items, true, f.path)
		}
	}
	steps, err := planAlone(f.definition, options)
	if err != nil {
		return err
	}
	if o := e.Output(); o.Table() {
		o.Say("No server was asked, so it is not said where steps would run.")
	}
	return printPlan(e, steps, false, f.path)
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

func printPlan(e *command.Env, steps []workflow.Preview, where bool, what string) error {
	o := e.Output()
	if err := planListing(where).Print(o, steps); err != nil || !o.Table() {
		return err
	}
	waits := 0
	for _, p := range steps {
		if runsNowhere(p) {
			waits++
		}
	}
	if waits > 0 {
		o.Say("%s: start one with: weir agent", command.Plural(waits, "step would wait for somebody who takes it", "steps would wait for somebody who takes them"))
	}
	if what != "-" {
		o.Say("Nothing was run. Run it with: weir run %s%s --watch", command.Clean(what), e.Said("param", "params-file", "step", "skip", "label", "version"))
	}
	return nil
}
