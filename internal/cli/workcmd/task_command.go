package workcmd

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// changed is what programs read after a command.
type changed struct {
	ID    weir.ID    `json:"id"`
	State weir.State `json:"state"`
}

// taskVerb is what a person does to a task, or to all of a filter.
type taskVerb struct {
	// action is that of package bulk, and the word of the command.
	action, short string
	// did is what is said of many afterwards: 3 tasks are canceled.
	did string
	// reason is the help of the flag, empty if there is none.
	reason string
	// number says that a priority follows the id.
	number bool
	// do does it to one task, and says what became of it; SHORT stands for its id.
	do taskDo
}

// taskCommand is a verb that changes one task, or those of a filter, and then says
// where they are.
func taskCommand(e *command.Env, v taskVerb) *cobra.Command {
	var f taskFilterFlags
	var ask command.BulkFlags
	order := bulk.Order{Action: v.action}
	use, example := v.action+" [ID]", "  weir task "+v.action+" 8057b302099a\n  weir task "+v.action+" --state "+v.from()+" --service render"
	names := []string{"ID"}
	if v.number {
		use, names = v.action+" [ID] NUMBER", []string{"ID", "NUMBER"}
		example = "  weir task priority 8057b302099a 7\n  weir task priority 7 --state pending --service render"
	}
	c := &cobra.Command{Use: use, Short: v.short, Long: v.short + ".\n\n" + command.BulkHelp, Example: example + "\n" + example[strings.LastIndex(example, "\n")+1:] + " --dry-run"}
	c.Args = idOr(e, names, func() bool { return f.given(c) })
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) (err error) {
		if v.number {
			text := strings.TrimSpace(args[len(args)-1])
			if order.Priority, err = strconv.Atoi(text); err != nil {
				return command.Invalid("give a number from -100 to 100", "priority: %q is not a number", text)
			}
		}
		if f.given(c) {
			filter, err := f.read(e.Output().Now)
			if err != nil {
				return err
			}
			return changeMany(ctx, e, command.Many{One: "task", Several: "tasks", Did: v.did}, order, ask, func(o bulk.Order) (bulk.Result, error) {
				out, err := work.ChangeTasks.Call(ctx, s.Operations, work.OrderTasks(filter, o))
				return out.Result, err
			})
		}
		if ask.DryRun {
			return command.Invalid("leave it out, or say which tasks by a filter", "--dry-run shows what a filter finds, and an id needs none")
		}
		return changeTask(ctx, e, s, args[0], v, order)
	})
	if v.reason != "" {
		c.Flags().StringVar(&order.Reason, "reason", "", v.reason)
	}
	f.register(c)
	ask.Register(c)
	return c
}

// from is a state that the verb is for, as an example.
func (v taskVerb) from() string {
	switch v.action {
	case bulk.Retry, bulk.Skip:
		return "failed"
	}
	return "pending"
}

func changeTask(ctx context.Context, e *command.Env, s *app.Session, text string, v taskVerb, o bulk.Order) error {
	id, err := FindTask(ctx, s, text)
	if err != nil {
		return err
	}
	said, err := v.do(ctx, s, &work.Deciding{NamedTask: work.NamedTask{Task: id.String()}, Body: &op.DecisionBody{Reason: o.Reason}}, o)
	if err != nil {
		return askWhy(err, id)
	}
	task, err := ShowTask(ctx, s, id)
	if err != nil {
		return err
	}
	return e.Output().Did(id.String(), changed{id, task.State}, "Task %s: %s", command.Short(id), strings.Replace(said, "SHORT", command.Short(id), 1))
}

// askWhy gives the advice to ask where a task stands, if there is no better.
func askWhy(err error, id weir.ID) error {
	p := problem.Explain(err)
	if p.Next == "" && (p.Kind == problem.Failed || p.Kind == problem.Conflict) {
		p.Next = "see where it stands: weir why " + command.Short(id)
	}
	return p
}

func taskCancel(e *command.Env) *cobra.Command {
	return taskCommand(e, taskVerb{
		action: bulk.Cancel, short: "Cancel a task; one that runs is asked to stop", did: "canceled or asked to stop", reason: "why, for the timeline",
		do: func(ctx context.Context, s *app.Session, in *work.Deciding, _ bulk.Order) (string, error) {
			out, err := work.CancelTask.Call(ctx, s.Operations, in)
			if out.Ended || err != nil {
				return "canceled.", err
			}
			return "asked to stop; it ends when its worker has confirmed. Look with: weir task show SHORT", nil
		},
	})
}

// taskDo does something to one task, and says what became of it.
type taskDo func(ctx context.Context, s *app.Session, in *work.Deciding, o bulk.Order) (string, error)

// commanded does something to a task of which there is no more to say than the words.
func commanded[In any](o *op.Op[*work.Store, In, op.Nothing], words string, from func(*work.Deciding) *In) taskDo {
	return func(ctx context.Context, s *app.Session, in *work.Deciding, _ bulk.Order) (string, error) {
		_, err := o.Call(ctx, s.Operations, from(in))
		return words, err
	}
}

func task(in *work.Deciding) *work.NamedTask { return &in.NamedTask }

func decision(in *work.Deciding) *work.Deciding { return in }

func taskRetry(e *command.Env) *cobra.Command {
	return taskCommand(e, taskVerb{
		action: bulk.Retry, short: "Run a task again that failed, was canceled or was skipped", did: "to run again",
		do: commanded(work.RetryTask, "runs again.", task),
	})
}

func taskSkip(e *command.Env) *cobra.Command {
	return taskCommand(e, taskVerb{
		action: bulk.Skip, short: "Decide that a task need not run; what needs it goes on", did: "skipped; what needs them goes on",
		reason: "why it need not run; it must be given", do: commanded(work.SkipTask, "skipped; what needs it goes on.", decision),
	})
}

func taskHold(e *command.Env) *cobra.Command {
	return taskCommand(e, taskVerb{
		action: bulk.Hold, short: "Keep a waiting task from starting until it is released", did: "held", reason: "what it waits for",
		do: commanded(work.HoldTask, "held. Let it go with: weir task release SHORT", decision),
	})
}

func taskRelease(e *command.Env) *cobra.Command {
	return taskCommand(e, taskVerb{
		action: bulk.Release, short: "Let a held task go on", did: "released", reason: "why, for the timeline",
		do: commanded(work.ReleaseTask, "released.", decision),
	})
}

func taskRefuse(e *command.Env) *cobra.Command {
	return command.Operation(e, work.RefuseTask, &cobra.Command{
		Long:    "Decide that a held task must not run: it fails, with who said so and why. A retry asks again.",
		Example: "  weir task refuse 8057b302099a --reason 'the numbers are wrong'",
	}, func(ctx context.Context, s *app.Session, in *work.Deciding, _ op.Nothing) error {
		task, err := work.ShowTask.Call(ctx, s.Operations, &in.NamedTask)
		if err != nil {
			return err
		}
		return e.Output().Did(task.ID.String(), changed{task.ID, task.State}, "Task %s: refused.", command.Short(task.ID))
	})
}

func taskPriority(e *command.Env) *cobra.Command {
	return taskCommand(e, taskVerb{
		action: bulk.Priority, short: "Change the priority of a waiting task, -100 to 100; higher goes first", did: "of that priority now", number: true,
		do: func(ctx context.Context, s *app.Session, in *work.Deciding, o bulk.Order) (string, error) {
			to := &work.Prioritizing{NamedTask: in.NamedTask}
			to.Body.Priority = o.Priority
			_, err := work.SetPriority.Call(ctx, s.Operations, to)
			return "has priority " + strconv.Itoa(o.Priority) + ".", err
		},
	})
}

// taskFilterFlags say which tasks are meant, here and in lists.
type taskFilterFlags struct {
	work.TaskFilter
	since string
}

func (f *taskFilterFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar((*string)(&f.State), "state", "", "only tasks in this state: "+strings.Join(view.Words(view.States), ", "))
	flags.StringVar(&f.Service, "service", "", "only tasks of this service")
	flags.StringVar(&f.Job, "job", "", "only tasks of this job, in its order")
	flags.StringVar((*string)(&f.Gate), "gate", "", "only tasks that wait at this gate: "+strings.Join(view.Words(view.Gates), ", "))
	flags.StringVar(&f.Pool, "pool", "", "only tasks of this pool")
	flags.StringVar(&f.Lane, "lane", "", "only tasks of this lane")
	flags.StringVar(&f.Key, "key", "", "only tasks with this key")
	flags.StringVar(&f.Node, "node", "", "only tasks that run on this node")
	flags.StringVar(&f.Worker, "worker", "", "only tasks that run on this worker")
	flags.StringVar(&f.since, "since", "", "only tasks made since this `time`: 2026-01-31T08:00:00Z, or 2h for the last two hours")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(view.Words(view.States), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions(view.Words(view.Gates), cobra.ShellCompDirectiveNoFileComp))
}

// given says that a filter was given, even an empty one.
func (f *taskFilterFlags) given(c *cobra.Command) bool {
	return command.AnyGiven(c, "state", "service", "job", "gate", "pool", "lane", "key", "node", "worker", "since")
}
