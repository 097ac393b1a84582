package rolloutpages

import (
	"context"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// toRollout goes back to a rollout, and says what was done.
func toRollout(_ *site.Request, did rollout.Commanded) site.Done {
	return site.Done{To: site.RolloutPath(did.ID), Say: answerSaid(did.Text)}
}

// toRun goes back to the run of a task, and says what was done.
func toRun(r *site.Request, did rollout.Commanded) site.Done {
	return site.Done{To: ui.Path("rollouts", r.PathValue("rollout"), "tasks", did.ID.String()), Say: answerSaid(did.Text)}
}

// askRollout makes a question about the rollout of the path.
func (w *pages) askRollout(ask func(context.Context, rolloutView) ui.Question) func(*site.Request) (ui.Question, error) {
	return func(r *site.Request) (ui.Question, error) {
		v, err := w.rolloutOf(r)
		if err != nil {
			return ui.Question{}, err
		}
		q := ask(r.Context(), v)
		q.Back = site.RolloutPath(v.ID)
		return q, nil
	}
}

func (v rolloutView) called() string { return ui.Cut(ui.Line(v.Name), 80) }

// warned shows the warnings of the plan to whoever decides.
func warned(q ui.Question, v rolloutView) ui.Question {
	if len(v.Warnings) > 0 {
		q.More, q.Wide = warningList(v.Warnings), true
	}
	return q
}

func askStartRollout(ctx context.Context, v rolloutView) ui.Question {
	return warned(ui.Question{
		Title: ui.Say(ctx, "ask.start", v.called()), Button: ui.Say(ctx, "rollout.start"),
		Text: ui.Say(ctx, "ask.start.text", ui.Count(ctx, "ask.tasks", v.Counts.Total), ui.Count(ctx, "ask.stages", len(v.Stages))),
	}, v)
}

func askPauseRollout(ctx context.Context, v rolloutView) ui.Question {
	return ui.Question{
		Title: ui.Say(ctx, "ask.pause", v.called()), Button: ui.Say(ctx, "rollout.pause"), Text: ui.Say(ctx, "ask.pause.text"),
		Fields: []ui.Field{{Name: "reason", Label: ui.Say(ctx, "ask.note"), Optional: true, Focus: true, Auto: "off"}},
	}
}

func askAbortRollout(ctx context.Context, v rolloutView) ui.Question {
	return ui.Question{
		Title: ui.Say(ctx, "ask.abort", v.called()), Button: ui.Say(ctx, "rollout.abort"), Danger: true, Text: ui.Say(ctx, "ask.abort.text"),
		Fields: site.ReasonFor(ctx),
	}
}

// askStage makes a question about a stage of the rollout of the path.
func (w *pages) askStage(ask func(context.Context, rolloutView, rollout.StageState) ui.Question) func(*site.Request) (ui.Question, error) {
	return func(r *site.Request) (ui.Question, error) {
		v, err := w.rolloutOf(r)
		if err != nil {
			return ui.Question{}, err
		}
		for _, s := range v.Stages {
			if s.Name == r.PathValue("stage") {
				q := ask(r.Context(), v, s)
				q.Back = site.RolloutPath(v.ID)
				return q, nil
			}
		}
		return ui.Question{}, problem.New(problem.NotFound, "go back to the board", "the rollout has no stage %q", r.PathValue("stage"))
	}
}

func askApprove(ctx context.Context, v rolloutView, s rollout.StageState) ui.Question {
	return warned(ui.Question{
		Title: ui.Say(ctx, "ask.approve", ui.Line(s.Name), v.called()), Button: ui.Say(ctx, "stage.approve"),
		Text:   ui.Say(ctx, "ask.approve.text", ui.Count(ctx, "ask.tasks", s.Counts.Total), shortHash(v.Hash)),
		Fields: []ui.Field{{Name: "note", Label: ui.Say(ctx, "ask.note"), Optional: true, Focus: true, Auto: "off"}},
	}, v)
}

func askRevoke(ctx context.Context, v rolloutView, s rollout.StageState) ui.Question {
	return ui.Question{Title: ui.Say(ctx, "ask.revoke", ui.Line(s.Name), v.called()), Button: ui.Say(ctx, "stage.revoke"), Text: ui.Say(ctx, "ask.revoke.text")}
}

func askPromote(ctx context.Context, v rolloutView, s rollout.StageState) ui.Question {
	return ui.Question{Title: ui.Say(ctx, "ask.promote", ui.Line(s.Name), v.called()), Button: ui.Say(ctx, "stage.promote"), Text: ui.Say(ctx, "ask.promote.text", ui.Count(ctx, "ask.tasks", s.Counts.Total))}
}

// runOf is the task of the path. It must be one of the rollout of the path.
func (w *pages) runOf(r *site.Request) (*rollout.Store, rollout.Task, error) {
	store, err := w.rolls()
	if err != nil {
		return nil, rollout.Task{}, err
	}
	id, err := r.ID("rollout")
	if err != nil {
		return nil, rollout.Task{}, err
	}
	task, err := r.ID("task")
	if err != nil {
		return nil, rollout.Task{}, err
	}
	t, err := store.Task(r.Context(), task)
	if err == nil && t.Rollout != id {
		err = problem.New(problem.NotFound, "go back to the board", "the rollout has no such task")
	}
	return store, t, err
}

// askTaskRun makes a question about the task of the path.
func (w *pages) askTaskRun(ask func(context.Context, rollout.Task) ui.Question) func(*site.Request) (ui.Question, error) {
	return func(r *site.Request) (ui.Question, error) {
		_, t, err := w.runOf(r)
		if err != nil {
			return ui.Question{}, err
		}
		q := ask(r.Context(), t)
		q.Back = runPath(t)
		return q, nil
	}
}

func askSkipRun(ctx context.Context, t rollout.Task) ui.Question {
	return ui.Question{Title: ui.Say(ctx, "ask.skip", taskLabel(t)), Button: ui.Say(ctx, "task.skip"), Danger: true, Text: ui.Say(ctx, "ask.skip.text"), Fields: site.ReasonFor(ctx)}
}

func askCancelRun(ctx context.Context, t rollout.Task) ui.Question {
	text := ui.Say(ctx, "ask.cancel.waits")
	if t.Status == rollout.Running {
		text = ui.Say(ctx, "ask.cancel.runs")
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.cancel", taskLabel(t)), Button: ui.Say(ctx, "task.cancel.do"), Danger: true, Text: text,
		Fields: []ui.Field{{Name: "reason", Label: ui.Say(ctx, "ask.note"), Optional: true, Focus: true, Auto: "off"}},
	}
}

func askResolveRun(ctx context.Context, t rollout.Task) ui.Question {
	return ui.Question{
		Title: ui.Say(ctx, "ask.resolve", taskLabel(t)), Button: ui.Say(ctx, "task.resolve"), Danger: true, Text: ui.Say(ctx, "ask.resolve.text"),
		Fields: append([]ui.Field{{Name: "applied", Label: ui.Say(ctx, "ask.outcome"), Type: "select", Options: []ui.Option{
			{Value: "", Label: ui.Say(ctx, "ask.outcome.none")}, {Value: "true", Label: ui.Say(ctx, "ask.outcome.applied")}, {Value: "false", Label: ui.Say(ctx, "ask.outcome.not_applied")},
		}}}, site.ReasonFor(ctx)...),
	}
}
