package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
)

// migrated is what programs read after a migration, done or looked at.
type migrated struct {
	Version int64 `json:"version"`
	Target  int64 `json:"target,omitempty"`
	// ObjectVersion is that of functions, views and grants.
	ObjectVersion int64 `json:"object_version"`
	ObjectTarget  int64 `json:"object_target,omitempty"`

	Current    bool     `json:"current"`
	Applied    []string `json:"migrations"`
	Objects    []string `json:"objects"`
	Retired    []string `json:"retired"`
	Dropped    []string `json:"dropped"`
	Partitions []string `json:"partitions,omitempty"`
	Unknown    []string `json:"unknown,omitempty"`
	Breaking   []string `json:"breaking,omitempty"`
}

// orEmpty is a list that programs read as one, not as null.
func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func migrate(e *command.Env) *cobra.Command {
	var status bool
	c := &cobra.Command{
		Use: "migrate", Short: "Bring the database to the schema of this binary", Args: e.NoArgs,
		Long: `Bring the database to the schema of this binary. Any number may run at once.
A version such as 14.3 is that of the tables and that of the functions. Both only
go up: a database that is newer stays as it is.

With --status it only says what it would do; the exit code is 1 if there is
something to do.`,
		RunE: e.Config(func(ctx context.Context, c app.Config, values []app.Value, _ []string) error {
			url, err := app.DatabaseURL(c, values)
			if err != nil {
				return err
			}
			if status {
				return migrationStatus(ctx, e, url)
			}
			report, err := app.Migrate(ctx, c, url)
			if err != nil {
				return err
			}
			o := e.Output()
			if o.Data() {
				return o.Value(migrated{
					Version: report.Version, ObjectVersion: report.ObjectVersion, Current: true, Applied: orEmpty(report.Migrations),
					Objects: orEmpty(report.Objects), Retired: orEmpty(report.Retired), Dropped: orEmpty(report.Dropped), Partitions: orEmpty(report.Partitions),
				})
			}
			for _, m := range report.Migrations {
				fmt.Fprintf(o.Out, "applied  %s\n", m)
			}
			if o.Format == "wide" {
				for _, m := range report.Objects {
					fmt.Fprintf(o.Out, "applied  %s\n", m)
				}
			} else if n := len(report.Objects); n > 0 {
				fmt.Fprintf(o.Out, "applied  %s\n", command.Plural(n, "function or view", "functions and views"))
			}
			for _, m := range report.Retired {
				fmt.Fprintf(o.Out, "retired  %s\n", m)
			}
			for _, m := range report.Dropped {
				fmt.Fprintf(o.Out, "dropped  %s\n", m)
			}
			if n := len(report.Partitions); n > 0 {
				fmt.Fprintf(o.Out, "made     %s\n", command.Plural(n, "partition", "partitions"))
			}
			if !report.Changed() {
				fmt.Fprintf(o.Out, "The schema is at version %d.%d; there was nothing to do.\n", report.Version, report.ObjectVersion)
				return nil
			}
			fmt.Fprintf(o.Out, "The schema is at version %d.%d.\n", report.Version, report.ObjectVersion)
			return nil
		}),
	}
	c.Flags().BoolVar(&status, "status", false, "say what there is to do, and do nothing")
	return c
}

func migrationStatus(ctx context.Context, e *command.Env, url string) error {
	status, err := app.MigrationStatus(ctx, url)
	if err != nil {
		return err
	}
	o := e.Output()
	if o.Data() {
		if err := o.Value(migrated{
			Version: status.Version, Target: status.Target, ObjectVersion: status.ObjectVersion, ObjectTarget: status.ObjectTarget,
			Current: status.Current() && status.Err() == nil, Applied: orEmpty(status.Pending), Objects: orEmpty(status.Changed),
			Retired: orEmpty(status.Removed), Dropped: orEmpty(status.Retired), Unknown: status.Unknown, Breaking: status.Breaking,
		}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(o.Out, "The schema is at version %d.%d; this binary has version %d.%d.\n",
			status.Version, status.ObjectVersion, status.Target, status.ObjectTarget)
		for _, m := range status.Pending {
			fmt.Fprintf(o.Out, "to apply  %s\n", m)
		}
		if n := len(status.Changed); n > 0 {
			fmt.Fprintf(o.Out, "to apply  %s\n", command.Plural(n, "function or view", "functions and views"))
		}
		for _, m := range status.Removed {
			fmt.Fprintf(o.Out, "to retire %s\n", m)
		}
		for _, m := range status.Retired {
			fmt.Fprintf(o.Out, "to drop   %s\n", m)
		}
	}
	switch {
	case status.Err() != nil:
		return status.Err()
	case !status.Current():
		if o.Table() {
			o.Say("next: weir migrate")
		}
		return command.Quiet(problem.Failed)
	}
	return nil
}
