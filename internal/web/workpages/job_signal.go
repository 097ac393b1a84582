package workpages

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

// waitService is the service of a step that waits for an event: no worker has it, and no
// person releases it.
const waitService = "wait"

// event is the event that a held step waits for, or empty.
func (f edition) event(t view.Task) string {
	if f.steps == nil || t.Service != waitService {
		return ""
	}
	s := f.steps.Step(t.Key)
	if s == nil {
		return ""
	}
	return s.EventOf()
}

func (w *pages) askSignal(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	id, err := r.ID("id")
	if err != nil {
		return ui.Question{}, err
	}
	j, err := w.Store.Job(ctx, id)
	return ui.Question{
		Title: ui.Say(ctx, "signal.title", ui.Cut(site.JobName(j), 80)), Button: ui.Say(ctx, "signal.button"), Text: ui.Say(ctx, "signal.text"), Back: backTo(r, site.JobPath(id)),
		Fields: []ui.Field{
			{Name: "event", Label: ui.Say(ctx, "word.event"), Value: r.Query("event"), Auto: "off", Focus: true},
			{Name: "payload", Label: ui.Say(ctx, "word.payload"), Type: "area", Rows: 4, Optional: true, Hint: ui.Say(ctx, "signal.payload"), Example: `{"paid": true}`},
		},
	}, err
}

func (w *pages) signalJob(r *site.Request) (site.Done, error) {
	in := &work.Signaling{NamedJob: work.NamedJob{Job: r.PathValue("id")}, Body: work.SignalBody{Event: r.Field("event")}}
	if text := r.Field("payload"); text != "" {
		if !json.Valid([]byte(text)) {
			return site.Done{}, problem.Refuse("payload", `write JSON, such as {"paid": true}`, "this is no JSON")
		}
		in.Body.Payload = json.RawMessage(text)
	}
	if _, err := work.SignalJob.Call(r.Context(), w.Operations, in); err != nil {
		return site.Done{}, err
	}
	return site.Done{To: backTo(r, "/jobs/"+r.PathValue("id")), Say: ui.Say(r.Context(), "signal.done")}, nil
}

// waitActs are what may be done with a step that waits for an event: to send the event, and
// to make the link for somebody outside who will.
func waitActs(ctx context.Context, v taskView, can rights) []act {
	event := v.edition.event(v.Task)
	if event == "" || v.State != "pending" || !can.command {
		return nil
	}
	here := site.TaskPath(v.ID)
	query := url.Values{"event": {event}, "back": {here}}.Encode()
	return []act{
		{ui.Say(ctx, "signal.button"), "play", site.JobPath(v.Job) + "/signal?" + query, true, false},
		{ui.Say(ctx, "link.button"), "link", here + "/link", true, false},
	}
}

func (w *pages) askLinkTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.asked(r, func(t view.Task) ui.Question {
		return ui.Question{Title: ui.Say(ctx, "link.title", called(t)), Button: ui.Say(ctx, "link.button"), Text: ui.Say(ctx, "link.text")}
	})
}

// linkShown shows the link of a task to be copied.
func (w *pages) linkShown(r *site.Request, l work.Link) site.Done {
	ctx, back := r.Context(), site.TaskPath(l.Task)
	return site.Done{Show: &site.View{
		Head: ui.Head{Title: ui.Say(ctx, "link.button"), Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.tasks"), Href: "/tasks"}, {Label: ui.Say(ctx, "word.task"), Href: back}}},
		Body: linkPage(r.Origin()+l.Path, back),
	}}
}
