package workpages

import (
	"encoding/json"
	"strconv"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/trace"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

func askNewTask(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "word.newtask"), Button: ui.Say(ctx, "newtask.submit"), Text: ui.Say(ctx, "newtask.text"),
		Fields: []ui.Field{
			{Name: "service", Label: ui.Say(ctx, "word.service"), Value: r.Query("service"), Hint: ui.Say(ctx, "newtask.service"), Example: "email.send", Focus: true, Auto: "off"},
			{Name: "params", Label: ui.Say(ctx, "word.params"), Type: "area", Optional: true, Hint: ui.Say(ctx, "newtask.params"), Example: `{"to": "a@example.org"}`},
			{Name: "key", Label: ui.Say(ctx, "word.key"), Optional: true, Hint: ui.Say(ctx, "newtask.key"), Auto: "off"},
			{Name: "priority", Label: ui.Say(ctx, "word.priority"), Type: "number", Optional: true, Hint: ui.Say(ctx, "newtask.priority"), Example: "0"},
			{Name: "pool", Label: ui.Say(ctx, "word.pool"), Optional: true, Hint: ui.Say(ctx, "newtask.pool"), Auto: "off"},
			{Name: "lane", Label: ui.Say(ctx, "word.lane"), Optional: true, Hint: ui.Say(ctx, "newtask.lane"), Auto: "off"},
			{Name: "unique_key", Label: ui.Say(ctx, "word.uniquekey"), Optional: true, Hint: ui.Say(ctx, "newtask.unique"), Auto: "off"},
			{Name: "hold", Label: ui.Say(ctx, "word.hold"), Optional: true, Hint: ui.Say(ctx, "newtask.hold"), Auto: "off"},
		},
	}, nil
}

func (w *pages) submitTask(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	task := work.TaskSpec{
		Service: r.Field("service"), Key: r.Field("key"), Pool: r.Field("pool"), Lane: r.Field("lane"), UniqueKey: r.Field("unique_key"),
		Hold: r.Field("hold"), Trace: trace.Parent(r.Context()),
	}
	if task.Service == "" {
		return site.Done{}, problem.Refuse("service", "", "say which service does the work")
	}
	if text := r.Field("params"); text != "" {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return site.Done{}, problem.Refuse("params", `write JSON, such as {"to": "a@example.org"}`, "this is no JSON: %v", err)
		}
		task.Params = json.RawMessage(text)
	}
	if text := r.Field("priority"); text != "" {
		var err error
		if task.Priority, err = strconv.Atoi(text); err != nil {
			return site.Done{}, problem.Refuse("priority", "give a number from -100 to 100", "%q is not a number", text)
		}
	}
	receipt, err := work.SubmitTask.Call(r.Context(), w.Operations, &work.Submitting{Body: task})
	if err != nil {
		return site.Done{}, err
	}
	said := ui.Say(ctx, "newtask.done")
	if receipt.Existed {
		said = ui.Say(ctx, "newtask.existed")
	}
	return site.Done{To: site.TaskPath(receipt.ID), Say: said}, nil
}
