package fleetpages

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

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

// ends are the lengths of time that a form offers.
var ends = []struct {
	key string
	d   time.Duration
}{
	{"ends.30m", 30 * time.Minute},
	{"ends.1h", time.Hour},
	{"ends.2h", 2 * time.Hour},
	{"ends.4h", 4 * time.Hour},
	{"ends.8h", 8 * time.Hour},
	{"ends.1d", 24 * time.Hour},
	{"ends.7d", 7 * 24 * time.Hour},
}

// endField asks for the end of something. Its values are times and not lengths, so a form
// that is sent twice means the same end.
func endField(r *site.Request, first ...ui.Option) ui.Field {
	ctx := r.Context()
	f := ui.Field{Name: "until", Label: ui.Say(ctx, "device.until"), Type: "select", Options: first, Optional: len(first) > 0}
	for _, e := range ends {
		at := r.Now.Add(e.d).UTC().Truncate(time.Second).Format(time.RFC3339)
		f.Options = append(f.Options, ui.Option{Value: at, Label: ui.Say(ctx, e.key)})
	}
	f.Value = f.Options[0].Value
	return f
}

func reservationEnd(r *site.Request) ui.Field { return endField(r) }

func maintenanceEnd(r *site.Request) ui.Field {
	return endField(r, ui.Option{Label: ui.Say(r.Context(), "ends.person")})
}

// onDevice is a command on a device. It asks first, for the end too if there is one, and
// tells the reason to who asks why.
func onDevice[In any](
	w *pages, o *op.Op[*fleet.Store, In, fleet.DeviceChanged], end func(*site.Request) ui.Field,
) site.Action {
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
		fields := site.ReasonFor(ctx)
		fields[0].Optional = o.Verb == fleet.Reserve.Verb || o.Verb == fleet.Release.Verb && d.ReservedBy != ""
		if end != nil {
			fields = append(fields, end(r))
		}
		return ui.Question{
			Title: ui.Say(ctx, "device.ask."+o.Verb, ui.Line(d.Serial)), Text: ui.Say(ctx, "device.text."+o.Verb), Button: ui.Say(ctx, "device."+o.Verb),
			Danger: o.Verb == fleet.Retire.Verb, Fields: fields, Back: devicePath(d.Serial),
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
			{Name: "health", Label: ui.Say(ctx, "policy.health"), Type: "area", Rows: 8, Value: healthText(p.Health), Optional: true, Hint: ui.Say(ctx, "policy.health.hint"), Example: `{"run": {"argv": ["./check-device"]}, "timeout": "5m", "power": {"argv": ["./power-cycle", "{serial}"]}, "by_label": [{"match": ["os=ios"], "run": {"argv": ["./check-ios"]}}]}`},
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
