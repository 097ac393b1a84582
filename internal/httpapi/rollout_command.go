package httpapi

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
)

// RolloutCommandInput is a command on a rollout. The body may be left out.
type RolloutCommandInput struct {
	RolloutInput
	Body *DecisionBody
}

func (b *DecisionBody) said() string {
	if b == nil {
		return ""
	}
	return b.Reason
}

func (a *API) startRollout(ctx context.Context, in *RolloutInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, *in)
	if err != nil {
		return nil, err
	}
	return one(store.Start(ctx, auth.From(ctx).By(), id))
}

func (a *API) pauseRollout(ctx context.Context, in *RolloutCommandInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	return one(store.Pause(ctx, auth.From(ctx).By(), id, in.Body.said()))
}

func (a *API) resumeRollout(ctx context.Context, in *RolloutInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, *in)
	if err != nil {
		return nil, err
	}
	return one(store.Resume(ctx, auth.From(ctx).By(), id))
}

func (a *API) abortRollout(ctx context.Context, in *RolloutCommandInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	return one(store.Abort(ctx, auth.From(ctx).By(), id, in.Body.said()))
}

// StageInput names a stage of a rollout.
type StageInput struct {
	RolloutInput
	Stage string `path:"stage" maxLength:"200"`
}

func (a *API) promoteStage(ctx context.Context, in *StageInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	return one(store.Promote(ctx, auth.From(ctx).By(), id, in.Stage))
}

// ApproveInput says yes to a stage.
type ApproveInput struct {
	StageInput
	Body *struct {
		Note string `json:"note,omitempty" maxLength:"1000" doc:"For people; kept with the approval."`
	}
}

// approveStage counts people: somebody who asks with a token is the same person.
func (a *API) approveStage(ctx context.Context, in *ApproveInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	note := ""
	if in.Body != nil {
		note = in.Body.Note
	}
	return one(store.Approve(ctx, auth.From(ctx).Name, id, in.Stage, note))
}

func (a *API) revokeStage(ctx context.Context, in *StageInput) (*One[rollout.Answer], error) {
	store, id, err := a.rolloutID(ctx, in.RolloutInput)
	if err != nil {
		return nil, err
	}
	return one(store.Revoke(ctx, auth.From(ctx).Name, id, in.Stage))
}

// RolloutTaskCommandInput is a command on a task. The body may be left out.
type RolloutTaskCommandInput struct {
	RolloutTaskInput
	Body *DecisionBody
}

func (a *API) retryRun(ctx context.Context, in *RolloutTaskInput) (*One[rollout.Answer], error) {
	store, t, err := a.rolloutTask(ctx, *in)
	if err != nil {
		return nil, err
	}
	return one(store.Retry(ctx, auth.From(ctx).By(), t.ID))
}

func (a *API) skipRun(ctx context.Context, in *RolloutTaskCommandInput) (*One[rollout.Answer], error) {
	store, t, err := a.rolloutTask(ctx, in.RolloutTaskInput)
	if err != nil {
		return nil, err
	}
	return one(store.Skip(ctx, auth.From(ctx).By(), t.ID, in.Body.said()))
}

func (a *API) cancelRun(ctx context.Context, in *RolloutTaskCommandInput) (*One[rollout.Answer], error) {
	store, t, err := a.rolloutTask(ctx, in.RolloutTaskInput)
	if err != nil {
		return nil, err
	}
	return one(store.Cancel(ctx, auth.From(ctx).By(), t.ID, in.Body.said()))
}

// ResolveInput says what became of a run whose outcome nobody knows.
type ResolveInput struct {
	RolloutTaskInput
	Body struct {
		Applied bool   `json:"applied" doc:"true: the change is there, and the task ends DONE; false: it is not, and may be retried."`
		Reason  string `json:"reason" minLength:"1" maxLength:"1000" doc:"How you know."`
	}
}

func (a *API) resolveRun(ctx context.Context, in *ResolveInput) (*One[rollout.Answer], error) {
	store, t, err := a.rolloutTask(ctx, in.RolloutTaskInput)
	if err != nil {
		return nil, err
	}
	return one(store.Resolve(ctx, auth.From(ctx).By(), t.ID, in.Body.Applied, in.Body.Reason))
}
