package workpages

import (
	"encoding/json"

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
		Title: ui.Say(ctx, "signal.title", ui.Cut(site.JobName(j), 80)), Button: ui.Say(ctx, "signal.button"), Text: ui.Say(ctx, "signal.text"), Back: site.JobPath(id),
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
	return site.Done{To: "/jobs/" + r.PathValue("id"), Say: ui.Say(r.Context(), "signal.done")}, nil
}
