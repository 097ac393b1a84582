package work

import (
	"context"
	"net/http"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// ListingEvents narrows the timeline.
type ListingEvents struct {
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

// Onward implements [op.Onward].
func (in *ListingEvents) Onward() string {
	if in.After != "" {
		return "after"
	}
	return "before"
}

// Tail is the end of the timeline.
type Tail struct {
	Cursor weir.Cursor `json:"cursor" doc:"Follow from here to see what happens from now on."`
}

// Operations on the timeline. Following it is no operation, because the answer does not
// end.
var (
	ListEvents = op.New(on("event", http.MethodGet, "list", "/timeline", auth.Read, "Read the timeline"), listEvents)
	ShowTail   = op.New(on("event", http.MethodGet, "tail", "/timeline/tail", auth.Read,
		"Say where the timeline ends now"),
		func(ctx context.Context, s *Store, _ auth.Subject, _ *struct{}) (Tail, error) {
			cursor, err := s.Client.Tail(ctx)
			return Tail{cursor}, err
		})
)

// listEvents leaves out events about accounts, and about objects of other people, for a
// caller who may not read them.
func listEvents(
	ctx context.Context, s *Store, who auth.Subject, in *ListingEvents,
) (none op.Page[view.Event], err error) {
	f := view.TimelineFilter{Kind: in.Kind, Type: in.Type, Level: in.Level, Subject: in.Subject}
	if f.Job, err = maybe(ctx, "job", s.View.JobID, in.Job); err != nil {
		return none, err
	}
	if f.Task, err = maybe(ctx, "task", s.View.TaskID, in.Task); err != nil {
		return none, err
	}
	audits := auth.Can(who, auth.Read, auth.Object{Kind: "audit"})
	if in.After == "" {
		if !audits {
			f.NotKinds = auth.PrivateKinds()
		}
		events, next, err := s.View.Timeline(ctx, f, in.Before, in.Limit)
		return op.PageOf(events, next), err
	}
	if in.Before != "" || in.Kind+in.Type+in.Level+in.Subject != "" {
		return none, problem.Refuse("after", "leave out what goes with before", "goes with job and task only")
	}
	limit := view.Page{Limit: in.Limit}.Most()
	events, err := s.View.EventsAfter(ctx, in.After, f.Job, f.Task, limit)
	if err != nil {
		return none, err
	}
	// The next page begins behind the last event that was read, also if it is not shown, so that
	// a reader always makes progress.
	next := ""
	if len(events) >= limit {
		next = events[len(events)-1].Cursor
	}
	if !audits {
		events = slices.DeleteFunc(events, func(e view.Event) bool { return auth.Private(e.Kind) })
	}
	return op.PageOf(events, next), nil
}

// LastEvents returns the newest events of the timeline, or of one job, oldest first.
func LastEvents(ctx context.Context, c op.Caller, job weir.ID, limit int) ([]view.Event, error) {
	in, events := ListingEvents{Job: spelled(job)}, []view.Event{}
	for more := true; more && len(events) < limit; more = in.Before != "" {
		in.Limit = view.Page{Limit: limit - len(events)}.Most()
		page, err := ListEvents.Call(ctx, c, &in)
		if err != nil {
			return nil, err
		}
		events, in.Before = append(events, page.Items...), page.Next
	}
	slices.Reverse(events)
	return events, nil
}

// EventsAfter reads on from a cursor, oldest first. An empty answer is the end.
func EventsAfter(ctx context.Context, c op.Caller, cursor string, job, task weir.ID, limit int) ([]view.Event, error) {
	in := ListingEvents{After: cursor, Job: spelled(job), Task: spelled(task), Limit: view.Page{Limit: limit}.Most()}
	for {
		page, err := ListEvents.Call(ctx, c, &in)
		if err != nil || len(page.Items) > 0 || page.Next == "" {
			return page.Items, err
		}
		in.After = page.Next // the caller may see nothing of it
	}
}
