package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/problem"
)

// changed is what programs read after a command.
type changed struct {
	ID    weir.ID `json:"id"`
	State string  `json:"state"`
}

// taskCommand is a verb that changes one task and then says where it is.
func (e *env) taskCommand(use, help string, args []string, do func(ctx context.Context, s *app.Session, id weir.ID, args []string) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: help, Args: e.args(args...),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			id, err := findTask(ctx, s, args[0])
			if err != nil {
				return err
			}
			said, err := do(ctx, s, id, args[1:])
			if err != nil {
				return askWhy(err, id)
			}
			task, err := s.Store.Task(ctx, id)
			if err != nil {
				return err
			}
			return e.output().did(id.String(), changed{id, task.State}, "Task %s: %s", short(id), said)
		}),
	}
}

// askWhy gives the advice to ask where a task stands, if there is no better.
func askWhy(err error, id weir.ID) error {
	p := problem.Explain(err)
	if p.Next == "" && (p.Kind == problem.Failed || p.Kind == problem.Conflict) {
		p.Next = "see where it stands: weir why " + short(id)
	}
	return p
}

func (e *env) taskCancel() *cobra.Command {
	var reason string
	c := e.taskCommand("cancel ID", "Cancel a task; one that runs is asked to stop", []string{"ID"},
		func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (string, error) {
			ended, err := s.Client.Cancel(ctx, id, weir.Decision{By: whoami(), Reason: reason})
			if ended || err != nil {
				return "canceled.", err
			}
			return "asked to stop; it ends when its worker has confirmed. Look with: weir task show " + short(id), nil
		})
	c.Flags().StringVar(&reason, "reason", "", "why, for the timeline")
	return c
}

func (e *env) taskRetry() *cobra.Command {
	return e.taskCommand("retry ID", "Run a task again that failed, was canceled or was skipped", []string{"ID"},
		func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (string, error) {
			return "runs again.", s.Client.Retry(ctx, id, whoami())
		})
}

func (e *env) taskSkip() *cobra.Command {
	var reason string
	c := e.taskCommand("skip ID --reason TEXT", "Decide that a task need not run; what needs it goes on", []string{"ID"},
		func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (string, error) {
			return "skipped; what needs it goes on.", s.Client.Skip(ctx, id, weir.Decision{By: whoami(), Reason: reason})
		})
	c.Flags().StringVar(&reason, "reason", "", "why it need not run")
	return c
}

func (e *env) taskHold() *cobra.Command {
	var reason string
	c := e.taskCommand("hold ID", "Keep a waiting task from starting until it is released", []string{"ID"},
		func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (string, error) {
			return "held. Let it go with: weir task release " + short(id), s.Client.Hold(ctx, id, weir.Decision{By: whoami(), Reason: reason})
		})
	c.Flags().StringVar(&reason, "reason", "", "what it waits for")
	return c
}

func (e *env) taskRelease() *cobra.Command {
	return e.taskCommand("release ID", "Let a held task go on", []string{"ID"},
		func(ctx context.Context, s *app.Session, id weir.ID, _ []string) (string, error) {
			return "released.", s.Client.Release(ctx, id, whoami())
		})
}

func (e *env) taskPriority() *cobra.Command {
	return e.taskCommand("priority ID NUMBER", "Change the priority of a waiting task, -100 to 100; higher goes first", []string{"ID", "NUMBER"},
		func(ctx context.Context, s *app.Session, id weir.ID, args []string) (string, error) {
			text := strings.TrimSpace(args[0])
			n, err := strconv.Atoi(text)
			if err != nil {
				return "", invalid("give a number from -100 to 100", "priority: %q is not a number", text)
			}
			return "has priority " + text + ".", s.Client.SetPriority(ctx, id, n, whoami())
		})
}
