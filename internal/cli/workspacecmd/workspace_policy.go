package workspacecmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
)

func workspacePolicy(e *command.Env) *cobra.Command {
	in := new(workspace.SettingPolicy)
	c := &cobra.Command{
		Short:   "Show what holds for all workspaces, or change it",
		Long:    "Show what holds for all workspaces, or change it. What is not named stays.",
		Example: "  weir workspace policy\n  weir workspace policy --per-user 3 --standby-ttl 20m\n  weir workspace policy --max-life 12h",
	}
	typed := e.Flagged(c, &workspace.SetPolicy.Operation, in)
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, _ []string) error {
		if err := typed(nil); err != nil {
			return err
		}
		var p workspace.Policy
		var err error
		if in.Body == (workspace.PolicyChange{}) {
			p, err = workspace.ShowPolicy.Call(ctx, s.Operations, &struct{}{})
		} else {
			p, err = workspace.SetPolicy.Call(ctx, s.Operations, in)
		}
		if err != nil {
			return err
		}
		return printWorkspacePolicy(e.Output(), p)
	})
	return c
}

func printWorkspacePolicy(o *command.Output, p workspace.Policy) error {
	if o.Data() {
		return o.Value(p)
	}
	life := "for ever"
	if p.MaxLife > 0 {
		life = command.Span(time.Duration(p.MaxLife))
	}
	unknown := ""
	if p.UnknownAt != nil {
		unknown = p.Unknown + ", since " + o.Both(*p.UnknownAt)
	}
	return o.Details([]command.Field{
		{"Of a user run", fmt.Sprintf("%d at once", p.PerUser)},
		{"In all run", fmt.Sprintf("%d at once", p.InAll)},
		{"Stopped after", command.Span(time.Duration(p.StandbyTTL)) + " without use"},
		{"Archived after", command.Span(time.Duration(p.ArchiveTTL)) + " in standby"},
		{"Runs at most", life},
		{"Busy at most", command.Span(time.Duration(p.BusyMost))},
		{"Cannot be seen", unknown},
	})
}

// rowMost is how long a row may be that is taken over.
const rowMost = 1 << 20

func workspaceImport(e *command.Env) *cobra.Command {
	var in workspace.Importing
	c := &cobra.Command{
		Use: "import FILE", Short: "Take over the workspaces of an earlier installation", Args: e.Args("FILE"),
		Long: `Take over the workspaces of an earlier installation. FILE has one row of its table as
JSON on each line; - is standard input. Archives of the earlier format are read from the
bucket, checked, and written in today's. Rows that are here already are left alone, so it
can be run again.`,
		Example: "  psql earlier -Atc 'select row_to_json(w) from workspaces w' >rows.jsonl\n  weir workspace import rows.jsonl --owner ann",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			var err error
			if in.Body.Rows, err = readRows(e, args[0]); err != nil {
				return err
			}
			done, err := workspace.Import.Call(ctx, s.Operations, &in)
			if err != nil {
				return err
			}
			if err := importListing.Print(e.Output(), done.Items); err != nil {
				return err
			}
			for _, x := range done.Items {
				if x.Outcome == "failed" {
					return command.Quiet(problem.Failed)
				}
			}
			return nil
		}),
	}
	c.Flags().StringVar(&in.Body.Owner, "owner", "", "whose those become that belonged to nobody known here; default: they are refused")
	c.Flags().StringVar(&in.Body.Provider, "provider", "", "how they run: process or docker; default: as their rows say")
	command.SettingFlags(c, false, "bucket", "workspace_providers")
	return c
}

var importListing = command.Listing[workspace.Imported]{
	Name:  func(x workspace.Imported) string { return x.ID },
	Empty: []string{"The file has no rows."},
	Columns: []command.Column[workspace.Imported]{
		{Title: "ID", Value: func(_ *command.Output, x workspace.Imported) string { return x.ID }},
		{Title: "NAME", Value: func(_ *command.Output, x workspace.Imported) string { return x.Name }},
		{Title: "OUTCOME", Value: func(_ *command.Output, x workspace.Imported) string { return x.Outcome }, Paint: command.StateColor},
		{Title: "SAYS", Value: func(_ *command.Output, x workspace.Imported) string { return x.Says }},
	},
}

// readRows reads one value of JSON from each line.
func readRows(e *command.Env, name string) (rows []json.RawMessage, err error) {
	in := e.In
	rows = []json.RawMessage{} // none is a list, too
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	scanner := bufio.NewScanner(io.Reader(in))
	scanner.Buffer(nil, rowMost)
	for n := 1; scanner.Scan(); n++ {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil, command.Invalid("write them so: psql -Atc 'select row_to_json(w) from workspaces w'", "line %d of %s is not JSON", n, command.Clean(name))
		}
		rows = append(rows, bytes.Clone(line))
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return rows, nil
}
