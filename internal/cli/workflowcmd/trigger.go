package workflowcmd

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/workflow"
)

// Trigger is the command weir trigger.
func Trigger(e *command.Env) *cobra.Command {
	return e.Noun("trigger", "What starts workflows: the end of other runs, or a webhook", []string{"triggers"},
		command.Lists(e, workflow.ListTriggers, &cobra.Command{}, triggerListing), triggerShow(e), triggerSet(e),
		command.Told(e, workflow.DropTrigger, &cobra.Command{Aliases: []string{"rm"}}, "Trigger %s is gone."),
		command.Told(e, workflow.PauseTrigger, &cobra.Command{Short: "Stop a trigger; what happens meanwhile starts nothing"}, "Trigger %s is paused."),
		command.Told(e, workflow.ResumeTrigger, &cobra.Command{Short: "Let a paused trigger go on"}, "Trigger %s goes on."),
		command.Lists(e, workflow.ListFirings, &cobra.Command{}, firingListing), triggerRotate(e))
}

var triggerListing = command.Listing[workflow.Trigger]{
	Name:  func(t workflow.Trigger) string { return t.Name },
	Empty: []string{"There are no triggers.", "Make one with: weir trigger set NAME --after WORKFLOW --workflow WORKFLOW"},
	Columns: []command.Column[workflow.Trigger]{
		{Title: "NAME", Value: func(_ *command.Output, t workflow.Trigger) string { return t.Name }},
		{Title: "FIRES", Value: func(_ *command.Output, t workflow.Trigger) string { return triggerFires(t) }},
		{Title: "RUNS", Value: func(_ *command.Output, t workflow.Trigger) string { return t.Workflow }},
		{Title: "WHEN", Wide: true, Value: func(_ *command.Output, t workflow.Trigger) string { return t.When }},
		{Title: "STATE", Value: func(_ *command.Output, t workflow.Trigger) string { return triggerState(t) }, Paint: command.StateColor},
		{Title: "LAST", Ages: true, Value: func(o *command.Output, t workflow.Trigger) string { return o.Ago(t.LastAt) }},
		{Title: "LAST JOB", Wide: true, Value: func(_ *command.Output, t workflow.Trigger) string { return command.IDText(t.LastJob) }},
	},
}

var firingListing = command.Listing[workflow.Firing]{
	Name:  func(f workflow.Firing) string { return f.Key },
	Empty: []string{"Nothing has fired trigger NAME yet."},
	Columns: []command.Column[workflow.Firing]{
		{Title: "AT", Ages: true, Value: func(o *command.Output, f workflow.Firing) string { return o.Ago(f.At) }},
		{Title: "BY", Value: func(_ *command.Output, f workflow.Firing) string { return f.Key }},
		{Title: "STATE", Value: func(_ *command.Output, f workflow.Firing) string { return f.State }, Paint: command.StateColor},
		{Title: "JOB", Value: func(o *command.Output, f workflow.Firing) string { return o.ID(f.Job) }},
		{Title: "REASON", Value: func(_ *command.Output, f workflow.Firing) string { return f.Reason }},
	},
}

// triggerFires says what fires a trigger.
func triggerFires(t workflow.Trigger) string {
	if t.Path != "" {
		return "webhook " + t.Path
	}
	return fmt.Sprintf("after %s: %s", t.After, t.On)
}

func triggerState(t workflow.Trigger) string {
	if t.Paused {
		return "paused"
	}
	return "active"
}

// triggerPage is a trigger with what fired it last.
type triggerPage struct {
	workflow.Trigger
	Firings []workflow.Firing `json:"firings"`
}

// firingsShown is how many firings the page of a trigger shows.
const firingsShown = 10

func triggerShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show a trigger, what fired it last and what came of it"}
	return command.Shows(e, c, readTrigger, func(t triggerPage) string { return t.Name }, func(o *command.Output, t triggerPage) error {
		err := o.Details([]command.Field{
			{"Trigger", t.Name},
			{"State", triggerState(t.Trigger)},
			{"Fires", triggerFires(t.Trigger)},
			{"When", t.When},
			{"Runs", t.Workflow},
			{"Params", command.Pretty(t.Params)},
			{"Secret before", o.Both(t.BeforeUntil)},
			{"Last", o.Both(t.LastAt)},
			{"Last job", command.IDText(t.LastJob)},
			{"Changed", o.Both(t.ChangedAt)},
		})
		if err != nil {
			return err
		}
		return firingListing.Below(o, "Fired by", t.Firings)
	})
}

func readTrigger(ctx context.Context, s *app.Session, name string) (page triggerPage, err error) {
	named := workflow.NamedTrigger{Trigger: name}
	if page.Trigger, err = workflow.ShowTrigger.Call(ctx, s.Operations, &named); err != nil {
		return page, err
	}
	in := workflow.ListingFirings{NamedTrigger: named}
	in.Limit = firingsShown
	fired, err := workflow.ListFirings.Call(ctx, s.Operations, &in)
	page.Firings = fired.Items
	return page, err
}

func triggerSet(e *command.Env) *cobra.Command {
	var spec workflow.TriggerSpec
	var options optionFlags
	c := &cobra.Command{
		Use: "set NAME", Short: "Make a trigger, or change it", Args: e.Args("NAME"),
		Long: `Make a trigger, or change it: it runs a workflow when a run of another one has ended,
or when another system delivers to its webhook. --when and --param read of the run that
ended: params, steps.KEY.result, .state and .error, run.id, .outcome and .error; of a
delivery: body, headers["name-in-lower-case"], delivery.id. The secret of a webhook is
shown once.`,
		Example: "  weir trigger set ship --after build --workflow deploy --param image='{{ .steps.pack.result.image }}'\n" +
			"  weir trigger set alarm --after build --on failed --workflow alarm --param text='{{ .run.error }}'\n" +
			"  weir trigger set push --webhook --workflow build --when 'headers[\"x-github-event\"] == \"push\"' --param ref='{{ .body.ref }}'",
	}
	c.RunE = e.Session(func(ctx context.Context, session *app.Session, args []string) error {
		given, err := options.read(e.In)
		if err != nil {
			return err
		}
		if len(given.Params) > 0 {
			if spec.Params, err = json.Marshal(given.Params); err != nil {
				return fmt.Errorf("write the params: %w", err)
			}
		}
		in := workflow.PuttingTrigger{NamedTrigger: workflow.NamedTrigger{Trigger: args[0]}, Body: spec}
		made, err := op.Over(ctx, session.Operations, workflow.PutTrigger, &in, &in.Matched)
		if err != nil {
			return err
		}
		if made.Secret != "" {
			return e.Output().Did(made.Name, made, "Trigger %s is set: it runs %s by POST to %s.\nThe secret, which is shown once: %s", made.Name, made.Workflow, made.Path, made.Secret)
		}
		return e.Output().Did(made.Name, made, "Trigger %s is set: it runs %s %s.", made.Name, made.Workflow, triggerFires(made))
	})
	flags := c.Flags()
	flags.StringVar(&spec.Workflow, "workflow", "", "workflow that it runs")
	flags.BoolVar(&spec.Webhook, "webhook", false, "it is fired by signed POSTs to a path of its own")
	flags.StringVar(&spec.After, "after", "", "workflow whose runs it follows")
	flags.StringVar(&spec.On, "on", "", "how such a run must have ended: done, failed or always; default: done")
	flags.StringVar(&spec.When, "when", "", "`expression` that must hold")
	flags.StringArrayVar(&options.params, "param", nil, "param of the run: `NAME=VALUE`, the value JSON or else text, with templates; may be repeated")
	flags.StringVar(&options.file, "params-file", "", "YAML or JSON `file` with params; - is standard input; --param wins over it")
	flags.BoolVar(&spec.Paused, "paused", false, "make it, but do not start it")
	_ = c.RegisterFlagCompletionFunc("on", cobra.FixedCompletions([]string{"done", "failed", "always"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func triggerRotate(e *command.Env) *cobra.Command {
	return command.Operation(e, workflow.RotateTrigger, &cobra.Command{}, func(_ context.Context, _ *app.Session, _ *workflow.RotatingTrigger, out workflow.TriggerSecret) error {
		o := e.Output()
		return o.Did(out.Secret, out, "The new secret of trigger %s, which is shown once: %s\nThe one before is accepted until %s.", out.Trigger, out.Secret, o.Both(out.BeforeUntil))
	})
}

// TriggerNames are those of triggers.
var TriggerNames = command.Listed(workflow.ListTriggers, func(t workflow.Trigger) (string, string) { return t.Name, triggerFires(t) + " runs " + t.Workflow })
