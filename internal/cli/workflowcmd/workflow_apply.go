package workflowcmd

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// applied is what programs read about a workflow that was stored.
type applied struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Active  bool   `json:"active"`
	Created bool   `json:"created"`
	// Warnings are of what only the server knows.
	Warnings definition.Faults `json:"warnings,omitempty"`
}

func workflowApply(e *command.Env) *cobra.Command {
	var inactive bool
	c := &cobra.Command{
		Use: "apply FILE...", Short: "Store workflows; other content is a new version", Args: e.Some("FILE"),
		Long: `Store workflows from YAML or JSON files; - is standard input.

The same content again changes nothing. Other content gets the next version, or
the one that the file names, which must be free. Jobs keep the version that they
started with. If one of the files is wrong, none is stored.`,
		Example: "  weir workflow apply media.yaml\n  weir workflow apply *.yaml --inactive",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			files := make([]workflowFile, len(args))
			for i, path := range args {
				var err error
				if files[i], err = usable(e, path); err != nil {
					return err
				}
			}
			o := e.Output()
			all := make([]applied, 0, len(files))
			for _, f := range files {
				w, err := f.put(ctx, s, inactive)
				if err != nil {
					return err
				}
				all = append(all, applied{w.Name, w.Version, w.Active, w.Created, w.Warnings})
				if !o.Data() {
					if err := o.Did(w.Name, nil, "%s", appliedText(w)); err != nil {
						return err
					}
				}
				if o.Table() {
					printFaults(o, w.Warnings)
				}
			}
			if o.Data() {
				return o.Value(all)
			}
			if o.Table() && !inactive {
				o.Say("Run it with: weir run %s%s --watch", all[len(all)-1].Name, mustGive(files[len(files)-1].definition))
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&inactive, "inactive", false, "store them, but do not let them run yet")
	return c
}

// put stores what the file says.
func (f workflowFile) put(ctx context.Context, s *app.Session, inactive bool) (workflow.Stored, error) {
	body := workflow.DefinitionBody{Definition: f.definition.JSON(), Source: f.source}
	return workflow.Put.Call(ctx, s.Operations, &workflow.Putting{Body: workflow.PutBody{DefinitionBody: body, Inactive: inactive}})
}

func appliedText(w workflow.Stored) string {
	switch {
	case !w.Created:
		return fmt.Sprintf("Workflow %s: unchanged, version %d is %s.", command.Clean(w.Name), w.Version, activeWord(w.Active))
	case w.Active:
		return fmt.Sprintf("Workflow %s: created version %d.", command.Clean(w.Name), w.Version)
	}
	return fmt.Sprintf("Workflow %s: created version %d, inactive. Let it run with: weir workflow activate %s %d", command.Clean(w.Name), w.Version, command.Clean(w.Name), w.Version)
}

// mustGive are the params that a run cannot do without, as flags to fill in.
func mustGive(d *definition.Definition) string {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(d.Params, &schema) != nil {
		return ""
	}
	flags := ""
	for _, name := range schema.Required {
		if _, given := d.Defaults[name]; !given && schema.Properties[name].Default == nil {
			flags += " --param " + command.Clean(name) + "=…"
		}
	}
	return flags
}
