package web

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *Web) askCancelFleet(r *Request) (ui.Question, error) {
	_, v, err := w.fleetJobOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	return ui.Question{
		Title: say(ctx, "ask.cancel", fleetJobName(v.Job)), Button: say(ctx, "fleetjob.cancel"), Danger: true,
		Text: say(ctx, "fleetjob.cancel.text"), Fields: reasonFor(ctx), Back: fleetJobPath(v.ID),
	}, nil
}

func canceledFleet(r *Request, c fleet.Canceled) Done {
	return Done{To: fleetJobPath(c.ID), Say: say(r.Context(), "said.fleet.canceled", c.Canceled, c.Requested)}
}

// onDevice is a command on a device. It asks first, and tells the reason to who asks why.
func (w *Web) onDevice(o *op.Op[*fleet.Store, fleet.DeviceDecision, fleet.DeviceChanged]) Action {
	ask := func(r *Request) (ui.Question, error) {
		store, err := w.fleets()
		if err != nil {
			return ui.Question{}, err
		}
		d, err := store.Device(r.Context(), r.PathValue("serial"))
		if err != nil {
			return ui.Question{}, err
		}
		ctx := r.Context()
		return ui.Question{
			Title: say(ctx, "device.ask."+o.Verb, plain(d.Serial)), Text: say(ctx, "device.text."+o.Verb), Button: say(ctx, "device."+o.Verb),
			Danger: o.Verb == fleet.Retire.Verb, Fields: reasonFor(ctx), Back: devicePath(d.Serial),
		}, nil
	}
	return operated(w, o, "/fleet", ask, func(r *Request, out fleet.DeviceChanged) Done {
		serial := plain(out.Device.Serial)
		said := say(r.Context(), "said.device."+o.Verb, serial)
		if !out.Changed {
			said = say(r.Context(), "said.device.same", serial)
		}
		return Done{To: devicePath(out.Device.Serial), Say: said}
	})
}

func (w *Web) askSlots(r *Request) (ui.Question, error) {
	store, err := w.fleets()
	if err != nil {
		return ui.Question{}, err
	}
	p, err := store.PC(r.Context(), r.PathValue("pc"))
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	field := ui.Field{Name: "slots", Label: say(ctx, "pc.slots"), Type: "number", Hint: say(ctx, "pc.slots.hint"), Optional: true, Focus: true, Auto: "off"}
	if p.SetSlots != nil {
		field.Value = strconv.Itoa(*p.SetSlots)
	}
	return ui.Question{Title: say(ctx, "pc.setslots", plain(p.Name)), Text: say(ctx, "pc.slots.text", p.Slots), Button: say(ctx, "policy.save"), Fields: []ui.Field{field}, Back: "/fleet/pcs"}, nil
}

func slotsSet(r *Request, out fleet.PCChanged) Done {
	return Done{To: "/fleet/pcs", Say: say(r.Context(), "said.slots", plain(out.PC.Name))}
}

// slotsOf reads a number of slots; empty: nil.
func slotsOf(r *Request) (*int, error) {
	text := r.Field("slots")
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1000 {
		return nil, problem.Refuse("slots", "write a number from 1 to 1000", "%q is no number of slots", text)
	}
	return &n, nil
}

// yesNo are the words for a choice of two.
func yesNo(ctx context.Context) []ui.Option {
	return []ui.Option{{Value: "no", Label: say(ctx, "policy.no")}, {Value: "yes", Label: say(ctx, "policy.yes")}}
}

// healthText is a health task as a person edits it.
func healthText(h *fleet.HealthTask) string {
	if h == nil {
		return ""
	}
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}

func (w *Web) askPolicy(r *Request) (ui.Question, error) {
	store, err := w.fleets()
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	p, err := store.Policy(ctx)
	if err != nil {
		return ui.Question{}, err
	}
	overlap := "no"
	if p.Overlap {
		overlap = "yes"
	}
	return ui.Question{
		Title: say(ctx, "policy.change"), Button: say(ctx, "policy.save"), Text: say(ctx, "policy.ask"), Back: "/fleet/policy", Wide: true,
		Fields: []ui.Field{
			{Name: "policy", Label: say(ctx, "policy.policy"), Type: "select", Value: p.Policy, Focus: true, Options: []ui.Option{
				{Value: fleet.PolicyStrict, Label: say(ctx, "policy.text.strict")}, {Value: fleet.PolicyEvidence, Label: say(ctx, "policy.text.evidence")},
			}},
			{Name: "slots", Label: say(ctx, "policy.slots"), Type: "number", Value: strconv.Itoa(p.Slots), Auto: "off"},
			{Name: "overlap", Label: say(ctx, "policy.overlap"), Type: "select", Value: overlap, Options: yesNo(ctx), Hint: say(ctx, "policy.overlap.hint")},
			{Name: "health", Label: say(ctx, "policy.health"), Type: "area", Rows: 8, Value: healthText(p.Health), Optional: true, Hint: say(ctx, "policy.health.hint"), Example: `{"run": {"argv": ["./check-device"]}, "timeout": "5m"}`},
		},
	}, nil
}

func (w *Web) setPolicy(r *Request) (Done, error) {
	policy, overlap := r.Field("policy"), r.Field("overlap") == "yes"
	if policy != fleet.PolicyStrict && policy != fleet.PolicyEvidence {
		return Done{}, problem.Refuse("policy", "choose strict or evidence", "%q is no policy", policy)
	}
	c := fleet.PolicyChange{Policy: &policy, Overlap: &overlap, Health: fleet.NoHealth}
	var err error
	if c.Slots, err = slotsOf(r); err != nil {
		return Done{}, err
	}
	if text := r.Field("health"); text != "" {
		c.Health = json.RawMessage(text)
	}
	_, err = fleet.ChangePolicy.Call(r.Context(), w.config.Operations, &fleet.Changing{Body: c})
	return Done{To: "/fleet/policy", Say: say(r.Context(), "said.policy")}, err
}
