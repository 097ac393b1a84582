package httpapi

import (
	"context"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// seesAudit says whether the subject may read what happened to accounts, and to what is
// other people's.
func seesAudit(ctx context.Context) bool {
	return auth.Can(auth.From(ctx), auth.Read, auth.Object{Kind: "audit"})
}

// TimelineInput narrows the timeline.
type TimelineInput struct {
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many at most."`
	Before  string `query:"before" maxLength:"60" doc:"Newest first, from before this cursor: the next of the page before."`
	After   string `query:"after" maxLength:"60" doc:"Oldest first, from after this cursor; with job and task only."`
	Kind    string `query:"kind" doc:"Only events about this kind of thing."`
	Type    string `query:"type" doc:"Only events of this type."`
	Level   string `query:"level" enum:"debug,info,warn,error" doc:"Only events of this level."`
	Subject string `query:"subject" doc:"Only events about the thing of this name."`
	Job     string `query:"job" maxLength:"64" doc:"Only events of this job: its id, whole or its end."`
	Task    string `query:"task" maxLength:"64" doc:"Only events of this task: its id, whole or its end."`
}

func (a *API) listEvents(ctx context.Context, in *TimelineInput) (*Listed[view.Event], error) {
	f := view.TimelineFilter{Kind: in.Kind, Type: in.Type, Level: in.Level, Subject: in.Subject}
	var err error
	if in.Job != "" {
		if f.Job, err = a.named(ctx, "job", a.config.Store.JobID, in.Job); err != nil {
			return nil, err
		}
	}
	if in.Task != "" {
		if f.Task, err = a.named(ctx, "task", a.config.Store.TaskID, in.Task); err != nil {
			return nil, err
		}
	}
	if in.After != "" {
		if in.Before != "" || in.Kind+in.Type+in.Level+in.Subject != "" {
			return nil, problem.Refuse("after", "leave out what goes with before", "goes with job and task only")
		}
		return a.eventsAfter(ctx, in.After, f.Job, f.Task, in.Limit)
	}
	if !seesAudit(ctx) {
		f.NotKinds = auth.PrivateKinds()
	}
	events, next, err := a.config.Store.Timeline(ctx, f, in.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	return pageOf(ctx, events, "before", next), nil
}

// eventsAfter reads on. The next cursor is that of the last event that was read,
// also if it was not shown, so that a reader always gets on.
func (a *API) eventsAfter(ctx context.Context, after string, job, task weir.ID, limit int) (*Listed[view.Event], error) {
	events, err := a.config.Store.EventsAfter(ctx, after, job, task, limit)
	if err != nil {
		return nil, err
	}
	next := ""
	if len(events) >= limit {
		next = events[len(events)-1].Cursor
	}
	if !seesAudit(ctx) {
		events = slices.DeleteFunc(events, func(e view.Event) bool { return auth.Private(e.Kind) })
	}
	return pageOf(ctx, events, "after", next), nil
}

// Tail is where the timeline ends.
type Tail struct {
	Cursor string `json:"cursor" doc:"Follow from here to see what happens from now on."`
}

func (a *API) timelineTail(ctx context.Context, _ *struct{}) (*One[Tail], error) {
	cursor, err := a.config.Commands.Tail(ctx)
	return one(Tail{string(cursor)}, err)
}
