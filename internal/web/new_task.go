package web

import (
	"encoding/json"
	"strconv"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/trace"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

func askNewTask(r *Request) (ui.Question, error) {
	return ui.Question{
		Title: "New task", Button: "Submit the task", Text: "It starts as soon as its gates are open and a worker serves it.",
		Fields: []ui.Field{
			{Name: "service", Label: "Service", Value: r.Query("service"), Hint: "Who does the work: the name that a worker handles.", Example: "email.send", Focus: true, Auto: "off"},
			{Name: "params", Label: "Params", Type: "area", Optional: true, Hint: "JSON, handed to the worker.", Example: `{"to": "a@example.org"}`},
			{Name: "key", Label: "Key", Optional: true, Hint: "A name for people.", Auto: "off"},
			{Name: "priority", Label: "Priority", Type: "number", Optional: true, Hint: "From -100 to 100; higher goes first.", Example: "0"},
			{Name: "pool", Label: "Pool", Optional: true, Hint: "A limit that it counts against.", Auto: "off"},
			{Name: "lane", Label: "Lane", Optional: true, Hint: "Tasks of one lane mind each other.", Auto: "off"},
			{Name: "unique_key", Label: "Unique key", Optional: true, Hint: "At most one live task of the service has it: submit again, and you get that one.", Auto: "off"},
			{Name: "hold", Label: "Hold", Optional: true, Hint: "Keeps it back until somebody releases it. Say who must.", Auto: "off"},
		},
	}, nil
}

func (w *Web) submitTask(r *Request) (Done, error) {
	task := work.TaskSpec{
		Service: r.Field("service"), Key: r.Field("key"), Pool: r.Field("pool"), Lane: r.Field("lane"), UniqueKey: r.Field("unique_key"),
		Hold: r.Field("hold"), Trace: trace.Parent(r.Context()),
	}
	if task.Service == "" {
		return Done{}, problem.Refuse("service", "", "say which service does the work")
	}
	if text := r.Field("params"); text != "" {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return Done{}, problem.Refuse("params", `write JSON, such as {"to": "a@example.org"}`, "this is no JSON: %v", err)
		}
		task.Params = json.RawMessage(text)
	}
	if text := r.Field("priority"); text != "" {
		var err error
		if task.Priority, err = strconv.Atoi(text); err != nil {
			return Done{}, problem.Refuse("priority", "give a number from -100 to 100", "%q is not a number", text)
		}
	}
	receipt, err := work.SubmitTask.Call(r.Context(), w.config.Operations, &work.Submitting{Body: task})
	if err != nil {
		return Done{}, err
	}
	said := "The task is submitted."
	if receipt.Existed {
		said = "A live task has this unique key already: here it is."
	}
	return Done{To: taskPath(receipt.ID), Say: said}, nil
}
