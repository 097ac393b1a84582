package fleetpages

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *pages) askCancelFleet(r *site.Request) (ui.Question, error) {
	_, v, err := w.fleetJobOf(r)
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "ask.cancel", fleetJobName(v.Job)), Button: ui.Say(ctx, "fleetjob.cancel"), Danger: true,
		Text: ui.Say(ctx, "fleetjob.cancel.text"), Fields: site.ReasonFor(ctx), Back: site.FleetJobPath(v.ID),
	}, nil
}

func canceledFleet(r *site.Request, c fleet.Canceled) site.Done {
	return site.Done{To: site.FleetJobPath(c.ID), Say: ui.Say(r.Context(), "said.fleet.canceled", c.Canceled, c.Requested)}
}

// onDevice is a command on a device. It asks first, and tells the reason to who asks why.
func (w *pages) onDevice(o *op.Op[*fleet.Store, fleet.DeviceDecision, fleet.DeviceChanged]) site.Action {
	ask := func(r *site.Request) (ui.Question, error) {
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
			Title: ui.Say(ctx, "device.ask."+o.Verb, ui.Line(d.Serial)), Text: ui.Say(ctx, "device.text."+o.Verb), Button: ui.Say(ctx, "device."+o.Verb),
			Danger: o.Verb == fleet.Retire.Verb, Fields: site.ReasonFor(ctx), Back: devicePath(d.Serial),
		}, nil
	}
	return site.Operated(w.Operations, o, "/fleet", ask, func(r *site.Request, out fleet.DeviceChanged) site.Done {
		serial := ui.Line(out.Device.Serial)
		said := ui.Say(r.Context(), "said.device."+o.Verb, serial)
		if !out.Changed {
			said = ui.Say(r.Context(), "said.device.same", serial)
		}
		return site.Done{To: devicePath(out.Device.Serial), Say: said}
	})
}

func (w *pages) askSlots(r *site.Request) (ui.Question, error) {
	store, err := w.fleets()
	if err != nil {
		return ui.Question{}, err
	}
	p, err := store.PC(r.Context(), r.PathValue("pc"))
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	field := ui.Field{Name: "slots", Label: ui.Say(ctx, "pc.slots"), Type: "number", Hint: ui.Say(ctx, "pc.slots.hint"), Optional: true, Focus: true, Auto: "off"}
	if p.SetSlots != nil {
		field.Value = strconv.Itoa(*p.SetSlots)
	}
	return ui.Question{Title: ui.Say(ctx, "pc.setslots", ui.Line(p.Name)), Text: ui.Say(ctx, "pc.slots.text", p.Slots), Button: ui.Say(ctx, "policy.save"), Fields: []ui.Field{field}, Back: "/fleet/pcs"}, nil
}

func slotsSet(r *site.Request, out fleet.PCChanged) site.Done {
	return site.Done{To: "/fleet/pcs", Say: ui.Say(r.Context(), "said.slots", ui.Line(out.PC.Name))}
}

// slotsOf reads a number of slots; empty: nil.
func slotsOf(r *site.Request) (*int, error) {
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
	return []ui.Option{{Value: "no", Label: ui.Say(ctx, "policy.no")}, {Value: "yes", Label: ui.Say(ctx, "policy.yes")}}
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

func (w *pages) askPolicy(r *site.Request) (ui.Question, error) {
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
		Title: ui.Say(ctx, "policy.change"), Button: ui.Say(ctx, "policy.save"), Text: ui.Say(ctx, "policy.ask"), Back: "/fleet/policy", Wide: true,
		Fields: []ui.Field{
			{Name: "policy", Label: ui.Say(ctx, "policy.policy"), Type: "select", Value: p.Policy, Focus: true, Options: []ui.Option{
				{Value: fleet.PolicyStrict, Label: ui.Say(ctx, "policy.text.strict")}, {Value: fleet.PolicyEvidence, Label: ui.Say(ctx, "policy.text.evidence")},
			}},
			{Name: "slots", Label: ui.Say(ctx, "policy.slots"), Type: "number", Value: strconv.Itoa(p.Slots), Auto: "off"},
			{Name: "overlap", Label: ui.Say(ctx, "policy.overlap"), Type: "select", Value: overlap, Options: yesNo(ctx), Hint: ui.Say(ctx, "policy.overlap.hint")},
			{Name: "health", Label: ui.Say(ctx, "policy.health"), Type: "area", Rows: 8, Value: healthText(p.Health), Optional: true, Hint: ui.Say(ctx, "policy.health.hint"), Example: `{"run": {"argv": ["./check-device"]}, "timeout": "5m"}`},
		},
	}, nil
}

func (w *pages) setPolicy(r *site.Request) (site.Done, error) {
	policy, overlap := r.Field("policy"), r.Field("overlap") == "yes"
	if policy != fleet.PolicyStrict && policy != fleet.PolicyEvidence {
		return site.Done{}, problem.Refuse("policy", "choose strict or evidence", "%q is no policy", policy)
	}
	c := fleet.PolicyChange{Policy: &policy, Overlap: &overlap, Health: fleet.NoHealth}
	var err error
	if c.Slots, err = slotsOf(r); err != nil {
		return site.Done{}, err
	}
	if text := r.Field("health"); text != "" {
		c.Health = json.RawMessage(text)
	}
	_, err = fleet.ChangePolicy.Call(r.Context(), w.Operations, &fleet.Changing{Body: c})
	return site.Done{To: "/fleet/policy", Say: ui.Say(r.Context(), "said.policy")}, err
}
