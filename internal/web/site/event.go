package site

import (
	"context"
	"encoding/json"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

// SubjectName is what an event is about, short enough for a line: a name, where
// one is known.
func SubjectName(e view.Event) string {
	switch {
	case e.Subject != "" && e.Subject != e.Task.String() && e.Subject != e.Job.String():
		return ui.Cut(ui.Line(e.Subject), 60)
	case !e.Task.IsZero():
		return ui.Short(e.Task.String())
	case e.Kind == "job" && !e.Job.IsZero():
		return ui.Short(e.Job.String())
	}
	return e.Subject
}

// NamedSubject is the name of what the event is about, where it has one.
func NamedSubject(e view.Event, names map[weir.ID]view.Name) string {
	name := names[e.Task].String()
	if e.Task.IsZero() && e.Kind == "job" {
		name = names[e.Job].Job
	}
	if name == "" {
		return SubjectName(e)
	}
	return ui.Cut(ui.Line(name), 60)
}

// Doer is who made the event happen: a worker, or a person.
func Doer(e view.Event) string {
	if e.Worker != "" {
		return ui.Line(e.Worker)
	}
	return ui.Line(e.Source)
}

// eventWords is what an event says: its message, or else its data on a line.
func eventWords(ctx context.Context, e view.Event) string {
	if e.Message != "" {
		return ui.Line(e.Message)
	}
	var data struct {
		Kind, Name   string
		Lines, Bytes int
		Size         int64
	}
	// What does not fit is shown as it is.
	if (e.Type == "log" || e.Type == "artifact") && json.Unmarshal(e.Data, &data) == nil {
		if e.Type == "log" {
			return ui.Count(ctx, "event.printed", data.Lines)
		}
		return ui.Line(data.Kind+" "+data.Name) + ", " + ui.Bytes(data.Size)
	}
	return ui.Cut(ui.Line(string(e.Data)), 300)
}

// eventsShown is how many events the page of a thing shows.
const eventsShown = 15

// EventsOf is what happened lately to a thing with a name.
func (c *Config) EventsOf(r *Request, kind, name string) ([]view.Event, error) {
	events, _, err := c.Store.Timeline(r.Context(), view.TimelineFilter{Kind: kind, Subject: name, NotKinds: HiddenKinds(r)}, "", eventsShown)
	return events, err
}

// HiddenKinds are the kinds of events that the reader may not see.
func HiddenKinds(r *Request) []string {
	if r.Can(auth.Read, "audit") {
		return nil
	}
	return auth.PrivateKinds()
}
