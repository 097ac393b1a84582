package flowpages

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workflow"
)

// triggerView is one trigger.
type triggerView struct {
	workflow.Trigger
	firings []workflow.Firing
	events  []view.Event
	manage  bool
	// newest and older lead to other pages of firings.
	newest, older string
}

func (w *pages) triggers(r *site.Request) (site.View, error) {
	ctx := r.Context()
	store, err := w.Flows()
	if err != nil {
		return site.View{}, err
	}
	rows, err := store.Triggers(ctx, "", site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	rows, newest, older := site.NamesPaged(r, rows, func(t workflow.Trigger) string { return t.Name })
	head := ui.Head{Title: ui.Say(ctx, "word.triggers")}
	if r.Can(auth.Manage, "trigger") {
		head.Actions = newTriggers()
	}
	return site.View{Head: head, Body: triggersPage(rows, newest, older), Follow: triggerEvents()}, nil
}

func triggerEvents() *timeline.Filter { return &timeline.Filter{Kinds: []string{"trigger"}} }

func (w *pages) trigger(r *site.Request) (site.View, error) {
	store, err := w.Flows()
	if err != nil {
		return site.View{}, err
	}
	v := triggerView{manage: r.Can(auth.Manage, "trigger")}
	if v.Trigger, err = store.Trigger(r.Context(), r.PathValue("trigger")); err != nil {
		return site.View{}, err
	}
	if v.firings, err = store.Firings(r.Context(), v.Name, site.NamesPage(r)); err != nil {
		return site.View{}, err
	}
	v.firings, v.newest, v.older = site.NamesPaged(r, v.firings, func(f workflow.Firing) string { return f.Key })
	if v.events, err = w.EventsOf(r, "trigger", v.Name); err != nil {
		return site.View{}, err
	}
	return site.View{Head: ui.Head{Title: v.Name}, Plain: true, Body: triggerPage(v), Follow: triggerEvents()}, nil
}

// firingSaid says why a firing started nothing, in the language of the page.
func firingSaid(ctx context.Context, f workflow.Firing) string {
	return f.Why.In(locale.From(ctx).Code, f.Reason)
}

// triggerFields are a trigger as a form.
func triggerFields(ctx context.Context, t workflow.Trigger) []ui.Field {
	fields := []ui.Field{
		{Name: "workflow", Label: ui.Say(ctx, "trigger.runs"), Value: t.Workflow, Hint: ui.Say(ctx, "schedule.workflow.hint"), Auto: "off"},
	}
	if t.Kind == "webhook" {
		return append(fields, mappingFields(ctx, t, `headers["x-github-event"] == "push"`, `{"ref": "{{ .body.ref }}"}`, "trigger.hook.hint")...)
	}
	fields = append(fields, []ui.Field{
		{Name: "after", Label: ui.Say(ctx, "trigger.after"), Value: t.After, Hint: ui.Say(ctx, "trigger.after.hint"), Auto: "off"},
		{
			Name: "on", Label: ui.Say(ctx, "trigger.on"), Type: "select",
			Options: ui.Codes(ctx, "trigger.on.", "done", "failed", "always"), Value: cmp.Or(t.On, "done"),
		},
	}...)
	return append(fields, mappingFields(ctx, t, `params.branch == "main"`, `{"image": "{{ .steps.pack.result.image }}"}`, "trigger.when.hint")...)
}

// mappingFields are the condition and the params of a trigger.
func mappingFields(ctx context.Context, t workflow.Trigger, when, params, hint string) []ui.Field {
	return []ui.Field{
		{
			Name: "when", Label: ui.Say(ctx, "word.condition"), Value: t.When, Optional: true, Example: when, Hint: ui.Say(ctx, hint), Auto: "off",
		},
		{
			Name: "params", Label: ui.Say(ctx, "word.params"), Type: "area", Value: indented(t.Params), Optional: true,
			Example: params, Hint: ui.Say(ctx, "trigger.params.hint"),
		},
	}
}

func (w *pages) askNewWebhook(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	name := ui.Field{Name: "name", Label: ui.Say(ctx, "word.name"), Example: "push", Focus: true, Auto: "off"}
	return ui.Question{
		Title: ui.Say(ctx, "word.newwebhook"), Button: ui.Say(ctx, "trigger.create"), Text: ui.Say(ctx, "trigger.hook.text"), Back: "/triggers",
		Fields: append([]ui.Field{name}, triggerFields(ctx, workflow.Trigger{Kind: "webhook"})...),
	}, nil
}

func (w *pages) createWebhook(r *site.Request) (site.Done, error) {
	name := r.Field("name")
	return taken(name, w.putTrigger)(r, workflow.Trigger{Name: name, Kind: "webhook"}, op.Matched{IfNoneMatch: "*"}, ui.Say(r.Context(), "said.trigger.created", name))
}

// taken says at the name that there is such a trigger already.
func taken(name string, put func(*site.Request, workflow.Trigger, op.Matched, string) (site.Done, error)) func(*site.Request, workflow.Trigger, op.Matched, string) (site.Done, error) {
	return func(r *site.Request, t workflow.Trigger, m op.Matched, said string) (site.Done, error) {
		done, err := put(r, t, m, said)
		if err != nil && problem.Explain(err).Kind == problem.Conflict {
			err = problem.Refuse("name", "choose another name, or change that one", "there is a trigger %q already", name)
		}
		return done, err
	}
}

func (w *pages) askRotateTrigger(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "trigger.rotate"), Button: ui.Say(ctx, "trigger.rotate"), Text: ui.Say(ctx, "trigger.rotate.text"),
		Back: site.TriggerPath(r.PathValue("trigger")),
	}, nil
}

// secretShown shows the secret of a webhook, once.
func secretShown(r *site.Request, s workflow.TriggerSecret) site.Done {
	ctx := r.Context()
	return site.Done{Show: &site.View{
		Head: ui.Head{Title: s.Trigger, Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.triggers"), Href: "/triggers"}}}, Body: hookSecretPage(s),
	}}
}

func (w *pages) askNewTrigger(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	name := ui.Field{Name: "name", Label: ui.Say(ctx, "word.name"), Example: "ship", Focus: true, Auto: "off"}
	q := ui.Question{
		Title: ui.Say(ctx, "word.newtrigger"), Button: ui.Say(ctx, "trigger.create"), Text: ui.Say(ctx, "trigger.create.text"), Back: "/triggers",
		Fields: append([]ui.Field{name}, triggerFields(ctx, workflow.Trigger{Workflow: r.Query("workflow")})...),
	}
	if flow := r.Query("workflow"); flow != "" {
		q.Back = site.WorkflowPath(flow)
	}
	return q, nil
}

func (w *pages) createTrigger(r *site.Request) (site.Done, error) {
	name := r.Field("name")
	return taken(name, w.putTrigger)(r, workflow.Trigger{Name: name}, op.Matched{IfNoneMatch: "*"}, ui.Say(r.Context(), "said.trigger.created", name))
}

func (w *pages) askChangeTrigger(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	t, err := workflow.ShowTrigger.Call(ctx, w.Operations, &workflow.NamedTrigger{Trigger: r.PathValue("trigger")})
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.change", ui.Cut(t.Name, 80)), Button: ui.Say(ctx, "trigger.change"), Text: ui.Say(ctx, "trigger.change.text"),
		Back: site.TriggerPath(t.Name), Fields: triggerFields(ctx, t),
	}, nil
}

func (w *pages) changeTrigger(r *site.Request) (site.Done, error) {
	// One that was deleted meanwhile must not come back, and a paused one stays so.
	is, err := workflow.ShowTrigger.Call(r.Context(), w.Operations, &workflow.NamedTrigger{Trigger: r.PathValue("trigger")})
	if err != nil {
		return site.Done{}, err
	}
	return w.putTrigger(r, is, op.Matched{IfMatch: "*"}, ui.Say(r.Context(), "said.trigger.changed", is.Name))
}

// putTrigger writes what triggerFields asked.
func (w *pages) putTrigger(r *site.Request, is workflow.Trigger, m op.Matched, said string) (site.Done, error) {
	in := workflow.PuttingTrigger{NamedTrigger: workflow.NamedTrigger{Trigger: is.Name}, Matched: m}
	in.Body = workflow.TriggerSpec{
		Workflow: r.Field("workflow"), Webhook: is.Kind == "webhook", After: r.Field("after"), On: r.Field("on"), When: r.Field("when"), Paused: is.Paused,
	}
	if text := r.Field("params"); text != "" {
		if !json.Valid([]byte(text)) {
			return site.Done{}, problem.Refuse("params", `write an object such as {"name": "world"}`, "this is no JSON object")
		}
		in.Body.Params = json.RawMessage(text)
	}
	made, err := workflow.PutTrigger.Call(r.Context(), w.Operations, &in)
	if err != nil {
		return site.Done{}, err
	}
	if made.Secret != "" {
		return secretShown(r, workflow.TriggerSecret{Trigger: made.Name, Path: made.Path, Secret: made.Secret}), nil
	}
	return site.Done{To: site.TriggerPath(is.Name), Say: said}, nil
}

// toTrigger leads to the trigger of the path and says what became of it.
func toTrigger(key string) func(*site.Request, op.Nothing) site.Done {
	return func(r *site.Request, _ op.Nothing) site.Done {
		name := r.PathValue("trigger")
		return site.Done{To: site.TriggerPath(name), Say: ui.Say(r.Context(), key, name)}
	}
}

func (w *pages) askDropTrigger(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	t, err := workflow.ShowTrigger.Call(ctx, w.Operations, &workflow.NamedTrigger{Trigger: r.PathValue("trigger")})
	if err != nil {
		return ui.Question{}, err
	}
	return ui.Question{
		Title: ui.Say(ctx, "ask.trigger.drop", ui.Cut(t.Name, 80)), Button: ui.Say(ctx, "trigger.drop"), Danger: true, Back: site.TriggerPath(t.Name),
		Text: ui.Say(ctx, "trigger.drop.text"),
	}, nil
}

func triggerGone(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/triggers", Say: ui.Say(r.Context(), "said.trigger.gone", r.PathValue("trigger"))}
}
