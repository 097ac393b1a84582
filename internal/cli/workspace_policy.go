package cli

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
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
)

func (e *env) workspacePolicy() *cobra.Command {
	var perUser, inAll int
	var standby, archive, life, busy time.Duration
	c := &cobra.Command{
		Use: "policy", Short: "Show what holds for all workspaces, or change it", Args: e.noArgs,
		Long:    "Show what holds for all workspaces, or change it. What is not named stays.",
		Example: "  weir workspace policy\n  weir workspace policy --per-user 3 --standby-ttl 20m\n  weir workspace policy --max-life 12h",
	}
	c.RunE = e.session(func(ctx context.Context, s *app.Session, _ []string) error {
		given := c.Flags().Changed
		var change workspace.PolicyChange
		for flag, set := range map[string]func(){
			"per-user":    func() { change.PerUser = &perUser },
			"in-all":      func() { change.InAll = &inAll },
			"standby-ttl": func() { change.StandbyTTL = (*node.Span)(&standby) },
			"archive-ttl": func() { change.ArchiveTTL = (*node.Span)(&archive) },
			"max-life":    func() { change.MaxLife = (*node.Span)(&life) },
			"busy-most":   func() { change.BusyMost = (*node.Span)(&busy) },
		} {
			if given(flag) {
				set()
			}
		}
		p, err := s.Workspaces.Policy(ctx)
		if err == nil && change != (workspace.PolicyChange{}) {
			p, err = s.Workspaces.SetPolicy(ctx, whoami(), change)
		}
		if err != nil {
			return err
		}
		return printWorkspacePolicy(e.output(), p)
	})
	flags := c.Flags()
	flags.IntVar(&perUser, "per-user", 0, "how many workspaces of a user may run at once")
	flags.IntVar(&inAll, "in-all", 0, "how many may run at once")
	flags.DurationVar(&standby, "standby-ttl", 0, "after how long without use one is stopped")
	flags.DurationVar(&archive, "archive-ttl", 0, "after how long in standby one is archived")
	flags.DurationVar(&life, "max-life", 0, "how long one may run in one piece; 0: for ever")
	flags.DurationVar(&busy, "busy-most", 0, "for how long a workspace may say that it is busy")
	return c
}

func printWorkspacePolicy(o *output, p workspace.Policy) error {
	if o.data() {
		return o.value(p)
	}
	life := "for ever"
	if p.MaxLife > 0 {
		life = span(time.Duration(p.MaxLife))
	}
	unknown := ""
	if p.UnknownAt != nil {
		unknown = p.Unknown + ", since " + o.both(*p.UnknownAt)
	}
	return o.details([]field{
		{"Of a user run", fmt.Sprintf("%d at once", p.PerUser)},
		{"In all run", fmt.Sprintf("%d at once", p.InAll)},
		{"Stopped after", span(time.Duration(p.StandbyTTL)) + " without use"},
		{"Archived after", span(time.Duration(p.ArchiveTTL)) + " in standby"},
		{"Runs at most", life},
		{"Busy at most", span(time.Duration(p.BusyMost))},
		{"Cannot be seen", unknown},
	})
}

// rowMost is how long a row may be that is taken over.
const rowMost = 1 << 20

func (e *env) workspaceImport() *cobra.Command {
	var owner, provider string
	c := &cobra.Command{
		Use: "import FILE", Short: "Take over the workspaces of an earlier installation", Args: e.args("FILE"),
		Long: `Take over the workspaces of an earlier installation. FILE has one row of its table as
JSON on each line; - is standard input. Archives of the earlier format are read from the
bucket, checked, and written in today's. Rows that are here already are left alone, so it
can be run again.`,
		Example: "  psql earlier -Atc 'select row_to_json(w) from workspaces w' >rows.jsonl\n  weir workspace import rows.jsonl --owner ann",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			rows, err := e.readRows(args[0])
			if err != nil {
				return err
			}
			done, err := s.Workspaces.Import(ctx, whoami(), owner, provider, rows)
			if err != nil {
				return err
			}
			if err := importListing.print(e.output(), done); err != nil {
				return err
			}
			for _, x := range done {
				if x.Outcome == "failed" {
					return quiet(problem.Failed)
				}
			}
			return nil
		}),
	}
	c.Flags().StringVar(&owner, "owner", "", "whose those become that belonged to nobody known here; default: they are refused")
	c.Flags().StringVar(&provider, "provider", "", "how they run: process or docker; default: as their rows say")
	settingFlags(c, false, "bucket", "workspace_providers")
	return c
}

var importListing = listing[workspace.Imported]{
	name:  func(x workspace.Imported) string { return x.ID },
	empty: []string{"The file has no rows."},
	columns: []column[workspace.Imported]{
		{title: "ID", value: func(_ *output, x workspace.Imported) string { return x.ID }},
		{title: "NAME", value: func(_ *output, x workspace.Imported) string { return x.Name }},
		{title: "OUTCOME", value: func(_ *output, x workspace.Imported) string { return x.Outcome }, paint: stateColor},
		{title: "SAYS", value: func(_ *output, x workspace.Imported) string { return x.Says }},
	},
}

// readRows reads one value of JSON from each line.
func (e *env) readRows(name string) (rows []json.RawMessage, err error) {
	in := e.In
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
			return nil, invalid("write them so: psql -Atc 'select row_to_json(w) from workspaces w'", "line %d of %s is not JSON", n, clean(name))
		}
		rows = append(rows, bytes.Clone(line))
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return rows, nil
}
