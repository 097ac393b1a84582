package rolloutcmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
)

// planFlags change what a file says, and say what a folder cannot.
type planFlags struct {
	name, note, runAt string
	stages            []string
	parallel          int
	outOfOrder        bool
}

func (f *planFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", "what it is called; default: as the file says, or the folder's name")
	flags.StringArrayVar(&f.stages, "stage", nil, "environment that is a `stage`, in this order; may be repeated. Instead of those of the file")
	flags.IntVar(&f.parallel, "parallel", 0, "how many runs may go on at once; default: one per database")
	flags.BoolVar(&f.outOfOrder, "out-of-order", false, "allow versions below the newest one that is applied")
	flags.StringVar(&f.runAt, "run-at", "", "nothing runs before this `time`: 2026-01-31T08:00:00Z, or 2h for in two hours")
	flags.StringVar(&f.note, "note", "", "what it is for")
}

// read reads the plan with what the flags say about it.
func (f *planFlags) read(c *cobra.Command, o *command.Output, path string) (planSource, error) {
	p, err := readPlan(path)
	if err != nil {
		return p, err
	}
	if f.name != "" {
		p.Name = f.name
	}
	if f.note != "" {
		p.Note = f.note
	}
	if c.Flags().Changed("parallel") {
		p.Parallel = f.parallel
	}
	p.OutOfOrder = p.OutOfOrder || f.outOfOrder
	if len(f.stages) > 0 {
		p.Stages = nil
		for _, name := range f.stages {
			p.Stages = append(p.Stages, rollout.Stage{Name: name})
		}
	}
	if f.runAt != "" {
		at, err := command.ReadTime(f.runAt, o.Now)
		if err != nil {
			return p, command.Invalid("write it so: --run-at 2026-01-31T08:00:00Z", "--run-at: %s", err)
		}
		p.RunAt = &at
	}
	return p, nil
}

// staged refuses a plan that says nothing about where.
func (p planSource) staged() error {
	if len(p.Stages) > 0 {
		return nil
	}
	return command.Invalid("name the environments in their order: --stage test --stage prod; or write a plan: weir rollout init "+command.Clean(p.path), "stages: %s does not say which databases are changed", p.path)
}

func rolloutPlan(e *command.Env) *cobra.Command {
	var f planFlags
	var offline bool
	engine := "postgres"
	c := &cobra.Command{
		Use: "plan FOLDER|FILE", Short: "Say what a rollout would do: order, locks of each statement, warnings", Args: e.Args("FOLDER or FILE"),
		Long: `Say what a rollout would do. It changes nothing.

FOLDER has SQL files as people keep them: V001__x.sql (Flyway), 0001_x.sql and
20260101120000_x.sql (goose), 0001_x.up.sql (golang-migrate). With a rollout.yaml in it,
that is the plan. FILE is such a plan, or one SQL file.

A server looks at the databases: what is applied there already, how large their
tables are. Without one, with --offline, or without stages, the files alone are read.

The exit code is 1 when a run would fail.`,
		Example: "  weir rollout plan migrations --stage test --stage prod\n  weir rollout plan rollout.yaml\n  weir rollout plan migrations --offline --engine mysql -o json",
	}
	c.RunE = e.Run(func(cmd *cobra.Command, args []string) error {
		if err := command.OneOf("engine", engine, engines); err != nil {
			return err
		}
		o := e.Output()
		p, err := f.read(c, o, args[0])
		if err != nil {
			return err
		}
		if !offline && len(p.Stages) > 0 {
			preview, asked, err := askPreview(e, cmd, p.Plan)
			if err != nil {
				return err
			}
			if asked {
				return printPreview(e, o, p, preview, true)
			}
		}
		preview, err := rollout.Offline(p.Plan, script.Engine(engine))
		if err != nil {
			return err
		}
		return printPreview(e, o, p, preview, false)
	})
	f.register(c)
	c.Flags().BoolVar(&offline, "offline", false, "ask no server: read the files alone")
	c.Flags().StringVar(&engine, "engine", engine, "what the files are for, where no server is asked: postgres or mysql")
	_ = c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	return keyed(e, c)
}

// askPreview asks a Weir, if one is there.
func askPreview(e *command.Env, cmd *cobra.Command, p rollout.Plan) (preview rollout.Preview, asked bool, err error) {
	s, err := e.Connect(cmd)
	if p := new(problem.Problem); errors.As(err, &p) && p.Kind == problem.Unreachable {
		return preview, false, nil
	}
	if err != nil {
		return preview, false, err
	}
	defer s.Close()
	preview, err = foresee(cmd.Context(), s, p)
	return preview, true, err
}

func rolloutCreate(e *command.Env) *cobra.Command {
	var f planFlags
	var key, replaces string
	var start, watch bool
	c := &cobra.Command{
		Use: "create FOLDER|FILE", Short: "Freeze a plan and make a rollout of it, which waits to be started", Args: e.Args("FOLDER or FILE"),
		Long: `Freeze a plan and make a rollout of it. It waits to be started: weir rollout run ID.

The files are read as weir rollout plan reads them. With --replaces ID it takes the
place of a rollout of which nothing has run, which loses its approvals.`,
		Example: "  weir rollout create rollout.yaml\n  weir rollout create migrations --stage test --stage prod --start --watch\n  weir rollout create rollout.yaml --replaces 8057b302099a",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		o := e.Output()
		p, err := f.read(c, o, args[0])
		if err == nil {
			err = p.staged()
		}
		if err != nil {
			return err
		}
		fails := wouldFail(ctx, s, p.Plan)
		made, err := create(ctx, s, p.Plan, key, replaces)
		if err != nil {
			return err
		}
		if fails > 0 {
			o.Say("Warning: as the databases are now, %s. See which with: weir rollout plan %s%s", command.Plural(fails, "run would fail", "runs would fail"), command.Clean(p.path), e.Said("name", "stage"))
		}
		if o.Table() && len(made.Warnings) > 0 {
			o.Say("%s: read them with: weir rollout show %s", command.Plural(len(made.Warnings), "warning", "warnings"), command.Short(made.ID))
		}
		if !start && !watch {
			return o.Did(made.ID.String(), made, "Rollout %s (%s): %s in %s. Start it with: weir rollout run %s", command.Short(made.ID), command.Clean(made.Name),
				command.Plural(made.Counts.Total, "run", "runs"), command.Plural(len(made.Stages), "stage", "stages"), command.Short(made.ID))
		}
		did, err := rollout.Start.Call(ctx, s.Operations, &rollout.Named{Rollout: made.ID.String()})
		if err != nil {
			return err
		}
		return started(ctx, e, s, did, watch)
	})
	f.register(c)
	c.Flags().StringVar(&key, "idempotency-key", "", "the same `key` again gives the same rollout")
	c.Flags().StringVar(&replaces, "replaces", "", "`ID` of the rollout whose place it takes")
	c.Flags().BoolVar(&start, "start", false, "start it, too")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "start it and watch it until it has ended")
	return c
}

// foresight is how long a look at the databases may keep a rollout from being made.
const foresight = 30 * time.Second

// wouldFail counts the runs of a plan that would fail as things are. What cannot be
// found out in time is not counted: the plan is made all the same.
func wouldFail(ctx context.Context, s *app.Session, p rollout.Plan) int {
	ctx, cancel := context.WithTimeout(ctx, foresight)
	defer cancel()
	preview, err := foresee(ctx, s, p)
	if err != nil || ctx.Err() != nil {
		return 0
	}
	return preview.Problems
}

// foresee says what a plan would do.
func foresee(ctx context.Context, s *app.Session, p rollout.Plan) (rollout.Preview, error) {
	in := new(rollout.Planning)
	in.Body.Plan = p
	return rollout.Foresee.Call(ctx, s.Operations, in)
}

func create(ctx context.Context, s *app.Session, p rollout.Plan, key, replaces string) (rollout.Made, error) {
	if replaces != "" {
		return rollout.Replace.Call(ctx, s.Operations, &rollout.Replacing{Named: rollout.Named{Rollout: replaces}, Body: p})
	}
	in := &rollout.Creating{Keyed: op.Keyed{IdempotencyKey: key}}
	in.Body.Plan = p
	return rollout.Create.Call(ctx, s.Operations, in)
}
