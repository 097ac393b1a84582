package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

func (e *env) workflow() *cobra.Command {
	return e.noun("workflow", "Check, store and plan workflows", []string{"workflows", "wf"},
		e.workflowList(), e.workflowShow(), e.workflowVersions(), e.workflowApply(), e.workflowLint(), e.workflowPlan(),
		e.workflowActive("activate", "Let a version be run", true), e.workflowActive("deactivate", "Keep a version from being run; its jobs go on", false),
		e.workflowDelete(), e.workflowBackfill(), e.workflowSchema(), e.workflowInit())
}

func (e *env) workflowList() *cobra.Command {
	return lists(e, workflow.List, &cobra.Command{Short: "List workflows, each in the version that a run takes"}, workflowListing)
}

var workflowListing = listing[workflow.Workflow]{
	name:  func(w workflow.Workflow) string { return w.Name },
	empty: []string{"There are no workflows.", "Begin with: weir workflow init, then weir run hello.yaml --watch"},
	columns: []column[workflow.Workflow]{
		{title: "NAME", value: func(_ *output, w workflow.Workflow) string { return w.Name }},
		{title: "VERSION", value: func(_ *output, w workflow.Workflow) string { return fmt.Sprint(w.Version) }},
		{title: "STATE", value: func(_ *output, w workflow.Workflow) string { return activeWord(w.Active) }, paint: stateColor},
		{title: "STEPS", value: func(_ *output, w workflow.Workflow) string { return fmt.Sprint(w.Steps) }},
		{title: "RUNNING", value: func(_ *output, w workflow.Workflow) string { return fmt.Sprint(w.Running) }},
		{title: "QUEUED", value: func(_ *output, w workflow.Workflow) string { return fmt.Sprint(w.Queued) }},
		{title: "LAST JOB", narrow: true, value: func(_ *output, w workflow.Workflow) string {
			if w.LastJob.IsZero() {
				return ""
			}
			return short(w.LastJob)
		}},
		{title: "LAST JOB", wide: true, value: func(_ *output, w workflow.Workflow) string { return idText(w.LastJob) }},
		{title: "ID", wide: true, value: func(_ *output, w workflow.Workflow) string { return w.ID.String() }},
		{title: "BY", wide: true, value: func(_ *output, w workflow.Workflow) string { return w.By }},
		{title: "STORED", ages: true, value: func(o *output, w workflow.Workflow) string { return o.ago(w.CreatedAt) }},
	},
}

func activeWord(active bool) string {
	if active {
		return "active"
	}
	return "inactive"
}

func (e *env) workflowVersions() *cobra.Command {
	shown := workflowListing
	shown.name = func(w workflow.Workflow) string { return strconv.Itoa(w.Version) }
	return lists(e, workflow.Versions, &cobra.Command{}, shown)
}

func (e *env) workflowShow() *cobra.Command {
	var source bool
	c := &cobra.Command{
		Short:   "Show a workflow: its steps and params",
		Example: "  weir workflow show media\n  weir workflow show media --version 2 --source >media.yaml",
	}
	c.Flags().BoolVar(&source, "source", false, "print the file as it was applied")
	return operation(e, workflow.Show, c, func(_ context.Context, _ *app.Session, _ *workflow.NamedVersion, w workflow.Workflow) error {
		o := e.output()
		switch {
		case source && w.Source != "":
			_, err := fmt.Fprint(o.Out, sourceText(o, w.Source))
			return err
		case source:
			o.format = "yaml"
			return o.value(w.Definition)
		}
		return o.show(w.Name, w, func() error { return showWorkflow(o, w) })
	})
}

func showWorkflow(o *output, w workflow.Workflow) error {
	d, err := definition.ParseJSON(w.Definition)
	if err != nil {
		return err
	}
	limit := ""
	if d.MaxRunning > 0 {
		limit = plural(d.MaxRunning, "job", "jobs") + " at once"
	}
	if err := o.details([]field{
		{"Workflow", w.Name},
		{"Version", fmt.Sprint(w.Version)},
		{"State", activeWord(w.Active)},
		{"About", d.Description},
		{"Jobs", fmt.Sprintf("%d running, %d queued", w.Running, w.Queued)},
		{"Last job", idText(w.LastJob)},
		{"Limit", limit},
		{"Labels", labels(d.Labels)},
		{"Params", pretty(d.Params)},
		{"Stored", o.both(w.CreatedAt)},
		{"By", w.By},
	}); err != nil {
		return err
	}
	fmt.Fprintln(o.Out)
	return stepListing.print(o, d.Steps)
}

func (e *env) workflowActive(verb, short string, active bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME VERSION", Short: short, Args: e.args("NAME", "VERSION"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
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
			return e.output().did(w.Name, w, "Workflow %s: version %d is %s.", w.Name, w.Version, activeWord(w.Active))
		}),
	}
}

func (e *env) workflowDelete() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME [VERSION]", Aliases: []string{"rm", "drop"}, Short: "Delete a workflow, or one version of it; its jobs stay",
		Long: `Delete a workflow with all its versions and the schedules of its file, or one
version. Jobs keep what they ran. It is refused while jobs of it wait or run, and
while another workflow or a schedule of its own names it.

To only keep it from being run: weir workflow deactivate NAME VERSION`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return e.args("NAME", "VERSION")(cmd, args)
			}
			return e.args("NAME")(cmd, args)
		},
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
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
			return e.output().did(args[0], struct {
				Name     string `json:"name"`
				Versions int    `json:"versions"`
			}{args[0], gone.Versions}, "Workflow %s%s is gone. Its jobs stay.", clean(args[0]), said)
		}),
	}
}

// readVersion reads the number of a version.
func readVersion(name, text string) (int, error) {
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, invalid("see them with: weir workflow versions "+clean(name), "%q is not a version", text)
	}
	return version, nil
}

// workflowNames are those that can be run.
var workflowNames = listed(workflow.List, func(w workflow.Workflow) (string, string) { return w.Name, plural(w.Steps, "step", "steps") })
