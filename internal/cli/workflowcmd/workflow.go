package workflowcmd

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// Workflow is the command weir workflow.
func Workflow(e *command.Env) *cobra.Command {
	return e.Noun("workflow", "Check, store and plan workflows", []string{"workflows", "wf"},
		workflowList(e), workflowShow(e), workflowVersions(e), workflowApply(e), workflowLint(e), workflowPlan(e),
		workflowActive(e, "activate", "Let a version be run", true), workflowActive(e, "deactivate", "Keep a version from being run; its jobs go on", false),
		workflowDelete(e), workflowBackfill(e), workflowSchema(e), workflowInit(e))
}

func workflowList(e *command.Env) *cobra.Command {
	return command.Lists(e, workflow.List, &cobra.Command{Short: "List workflows, each in the version that a run takes"}, workflowListing)
}

var workflowListing = command.Listing[workflow.Workflow]{
	Name:  func(w workflow.Workflow) string { return w.Name },
	Empty: []string{"There are no workflows.", "Begin with: weir workflow init, then weir run hello.yaml --watch"},
	Columns: []command.Column[workflow.Workflow]{
		{Title: "NAME", Value: func(_ *command.Output, w workflow.Workflow) string { return w.Name }},
		{Title: "VERSION", Value: func(_ *command.Output, w workflow.Workflow) string { return fmt.Sprint(w.Version) }},
		{Title: "STATE", Value: func(_ *command.Output, w workflow.Workflow) string { return activeWord(w.Active) }, Paint: command.StateColor},
		{Title: "STEPS", Value: func(_ *command.Output, w workflow.Workflow) string { return fmt.Sprint(w.Steps) }},
		{Title: "RUNNING", Value: func(_ *command.Output, w workflow.Workflow) string { return fmt.Sprint(w.Running) }},
		{Title: "QUEUED", Value: func(_ *command.Output, w workflow.Workflow) string { return fmt.Sprint(w.Queued) }},
		{Title: "LAST JOB", Value: func(o *command.Output, w workflow.Workflow) string { return o.ID(w.LastJob) }},
		{Title: "ID", Wide: true, Value: func(_ *command.Output, w workflow.Workflow) string { return w.ID.String() }},
		{Title: "BY", Wide: true, Value: func(_ *command.Output, w workflow.Workflow) string { return w.By }},
		{Title: "STORED", Ages: true, Value: func(o *command.Output, w workflow.Workflow) string { return o.Ago(w.CreatedAt) }},
	},
}

func activeWord(active bool) string {
	if active {
		return "active"
	}
	return "inactive"
}

func workflowVersions(e *command.Env) *cobra.Command {
	shown := workflowListing
	shown.Name = func(w workflow.Workflow) string { return strconv.Itoa(w.Version) }
	return command.Lists(e, workflow.Versions, &cobra.Command{}, shown)
}

func workflowShow(e *command.Env) *cobra.Command {
	var source bool
	c := &cobra.Command{
		Short:   "Show a workflow: its steps and params",
		Example: "  weir workflow show media\n  weir workflow show media --version 2 --source >media.yaml",
	}
	c.Flags().BoolVar(&source, "source", false, "print the file as it was applied")
	return command.Operation(e, workflow.Show, c, func(_ context.Context, _ *app.Session, _ *workflow.NamedVersion, w workflow.Workflow) error {
		o := e.Output()
		switch {
		case source && w.Source != "":
			_, err := fmt.Fprint(o.Out, command.SourceText(o, w.Source))
			return err
		case source:
			o.Format = "yaml"
			return o.Value(w.Definition)
		}
		return o.Show(w.Name, w, func() error { return showWorkflow(o, w) })
	})
}

func showWorkflow(o *command.Output, w workflow.Workflow) error {
	d, err := definition.ParseJSON(w.Definition)
	if err != nil {
		return err
	}
	limit := ""
	if d.MaxRunning > 0 {
		limit = command.Plural(d.MaxRunning, "job", "jobs") + " at once"
	}
	if err := o.Details([]command.Field{
		{"Workflow", w.Name},
		{"Version", fmt.Sprint(w.Version)},
		{"State", activeWord(w.Active)},
		{"About", d.Description},
		{"Jobs", fmt.Sprintf("%d running, %d queued", w.Running, w.Queued)},
		{"Last job", command.IDText(w.LastJob)},
		{"Limit", limit},
		{"Labels", command.Labels(d.Labels)},
		{"Params", command.Pretty(d.Params)},
		{"Stored", o.Both(w.CreatedAt)},
		{"By", w.By},
	}); err != nil {
		return err
	}
	fmt.Fprintln(o.Out)
	return stepListing.Print(o, d.Steps)
}

func workflowActive(e *command.Env, verb, short string, active bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME VERSION", Short: short, Args: e.Args("NAME", "VERSION"),
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			version, err := readVersion(args[0], args[1])
			if err != nil {
				return err
			}
			named := workflow.Named{Workflow: args[0]}
			if _, err := workflow.SetActive.Call(ctx, s.Operations, &workflow.Activating{Named: named, Body: workflow.ActiveBody{Version: version, Active: active}}); err != nil {
				return err
			}
			w, err := workflow.Show.Call(ctx, s.Operations, &workflow.NamedVersion{Named: named, Version: version})
			if err != nil {
				return err
			}
			return e.Output().Did(w.Name, w, "Workflow %s: version %d is %s.", w.Name, w.Version, activeWord(w.Active))
		}),
	}
}

func workflowDelete(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME [VERSION]", Aliases: []string{"rm", "drop"}, Short: "Delete a workflow, or one version of it; its jobs stay",
		Long: `Delete a workflow with all its versions and the schedules of its file, or one
version. Jobs keep what they ran. It is refused while jobs of it wait or run, and
while another workflow or a schedule of its own names it.

To only keep it from being run: weir workflow deactivate NAME VERSION`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return e.Args("NAME", "VERSION")(cmd, args)
			}
			return e.Args("NAME")(cmd, args)
		},
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			version, said := 0, ""
			if len(args) == 2 {
				var err error
				if version, err = readVersion(args[0], args[1]); err != nil {
					return err
				}
				said = fmt.Sprintf(" version %d", version)
			}
			gone, err := workflow.Delete.Call(ctx, s.Operations, &workflow.Deleting{Named: workflow.Named{Workflow: args[0]}, Version: version})
			if err != nil {
				return err
			}
			if version == 0 && gone.Versions > 1 {
				said = fmt.Sprintf(", all %d versions,", gone.Versions)
			}
			return e.Output().Did(args[0], struct {
				Name     string `json:"name"`
				Versions int    `json:"versions"`
			}{args[0], gone.Versions}, "Workflow %s%s is gone. Its jobs stay.", command.Clean(args[0]), said)
		}),
	}
}

// readVersion reads the number of a version.
func readVersion(name, text string) (int, error) {
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, command.Invalid("see them with: weir workflow versions "+command.Clean(name), "%q is not a version", text)
	}
	return version, nil
}

// WorkflowNames are those that can be run.
var WorkflowNames = command.Listed(workflow.List, func(w workflow.Workflow) (string, string) { return w.Name, command.Plural(w.Steps, "step", "steps") })
