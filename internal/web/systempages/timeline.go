package systempages

import (
	"encoding/json"
	"slices"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// eventKinds are those of events, for the filter.
var eventKinds = []string{"task", "job", "pool", "schedule", "trigger", "node", "worker", "workflow", "rollout", "database", "fleet", "device", "pc", "bulk", "lock", "partition"}

// kindsFor are the kinds that the reader may choose from.
func kindsFor(r *site.Request) []string {
	if len(site.HiddenKinds(r)) > 0 {
		return eventKinds
	}
	return append(slices.Clone(eventKinds), auth.PrivateKinds()...)
}

// timelineView is a page of the timeline.
type timelineView struct {
	filter view.TimelineFilter
	// kinds are the choices; job and task are the texts of their filters.
	kinds         []string
	job, task     string
	events        []view.Event
	names         map[weir.ID]view.Name
	newest, older string
}

func (v timelineView) narrow() bool {
	f := v.filter
	return f.Kind != "" || f.Type != "" || f.Level != "" || f.Subject != "" || v.job != "" || v.task != ""
}

func (w *pages) timeline(r *site.Request) (site.View, error) {
	ctx := r.Context()
	v, err := w.timelineFilter(r)
	if err != nil {
		return site.View{}, err
	}
	before := r.Query("before")
	var next string
	if v.events, next, err = w.Store.Timeline(r.Context(), v.filter, before, site.PerPage); err != nil {
		return site.View{}, err
	}
	if v.names, err = w.Store.Names(r.Context(), v.events); err != nil {
		return site.View{}, err
	}
	if before != "" {
		v.newest = ui.With(r.URL, "before", "")
	}
	if next != "" {
		v.older = ui.With(r.URL, "before", next)
	}
	// Only the newest page grows. Whoever reads in the past is left in peace.
	return site.View{Head: ui.Head{Title: ui.Say(ctx, "word.timeline"), Sub: timelineSub(before == "")}, Body: timelinePage(v), Follow: v.follow(), Still: before != ""}, nil
}

// timelineFilter reads the filter of the address. What the reader may not see is
// left out whatever the address says.
func (w *pages) timelineFilter(r *site.Request) (v timelineView, err error) {
	v = timelineView{kinds: kindsFor(r), job: r.Query("job"), task: r.Query("task")}
	v.filter = view.TimelineFilter{Type: r.Query("type"), Subject: r.Query("subject"), NotKinds: site.HiddenKinds(r)}
	if auth.Private(r.Query("kind")) {
		if err := r.Allow(auth.Read, "audit", false); err != nil {
			return v, err
		}
	}
	if v.filter.Kind, err = r.OneOf("kind", v.kinds); err != nil {
		return v, err
	}
	if v.filter.Level, err = r.OneOf("level", view.Levels); err != nil {
		return v, err
	}
	if v.job != "" {
		if v.filter.Job, err = w.Store.JobID(r.Context(), v.job); err != nil {
			return v, err
		}
	}
	if v.task != "" {
		v.filter.Task, err = w.Store.TaskID(r.Context(), v.task)
	}
	return v, err
}

// follow wants the events that the page shows.
func (v timelineView) follow() *timeline.Filter {
	f := v.filter
	out := &timeline.Filter{Job: f.Job, Task: f.Task, Match: func(e *timeline.Event) bool {
		return !slices.Contains(f.NotKinds, e.Kind) && (f.Level == "" || e.Level == f.Level) && (f.Subject == "" || e.Subject == f.Subject)
	}}
	if f.Kind != "" {
		out.Kinds = []string{f.Kind}
	}
	if f.Type != "" {
		out.Types = []string{f.Type}
	}
	return out
}

// hasData says that an event has more to tell than its words.
func hasData(e view.Event) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Data, &fields) == nil {
		return len(fields) > 0
	}
	return len(e.Data) > 0 && string(e.Data) != "null"
}

// dataBytes is how much of an event's data a line of the timeline holds.
const dataBytes = 4 << 10

// eventData is the data of an event for its line; what is too large for that is
// on the page of the task.
func eventData(e view.Event) json.RawMessage {
	if len(e.Data) <= dataBytes {
		return e.Data
	}
	text, err := json.Marshal(ui.Cut(string(e.Data), dataBytes))
	if err != nil {
		return nil
	}
	return text
}
