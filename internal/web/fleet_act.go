package web

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/weirhq/weir/internal/fleet"
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

func (w *Web) cancelFleet(r *Request) (Done, error) {
	store, err := w.fleets()
	if err != nil {
		return Done{}, err
	}
	id, err := r.ID("id")
	if err != nil {
		return Done{}, err
	}
	reason, err := reasonOf(r)
	if err != nil {
		return Done{}, err
	}
	c, err := store.Cancel(r.Context(), r.By(), id, reason)
	return Done{To: fleetJobPath(id), Say: say(r.Context(), "said.fleet.canceled", c.Canceled, c.Requested)}, err
}

// deviceCommand is what a person does with a device: how it is asked, and done.
type deviceCommand struct {
	name   string
	danger bool
	do     func(Fleets) func(ctx context.Context, by, serial, reason string) (bool, error)
}

var (
	maintainDevice   = deviceCommand{"maintain", false, func(s Fleets) func(context.Context, string, string, string) (bool, error) { return s.Maintain }}
	releaseDevice    = deviceCommand{"release", false, func(s Fleets) func(context.Context, string, string, string) (bool, error) { return s.Release }}
	quarantineDevice = deviceCommand{"quarantine", false, func(s Fleets) func(context.Context, string, string, string) (bool, error) { return s.Quarantine }}
	retireDevice     = deviceCommand{"retire", true, func(s Fleets) func(context.Context, string, string, string) (bool, error) { return s.Retire }}
)

func (w *Web) askDevice(c deviceCommand) func(*Request) (ui.Question, error) {
	return spokenAsk(func(r *Request) (ui.Question, error) {
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
			Title: say(ctx, "device.ask."+c.name, plain(d.Serial)), Text: say(ctx, "device.text."+c.name), Button: say(ctx, "device."+c.name),
			Danger: c.danger, Fields: reasonFor(ctx), Back: devicePath(d.Serial),
		}, nil
	})
}

func (w *Web) onDevice(c deviceCommand) func(*Request) (Done, error) {
	return spokenDo(func(r *Request) (Done, error) {
		store, err := w.fleets()
		if err != nil {
			return Done{}, err
		}
		serial := r.PathValue("serial")
		reason, err := reasonOf(r)
		if err != nil {
			return Done{}, err
		}
		ctx := r.Context()
		changed, err := c.do(store)(ctx, r.By(), serial, reason)
		if !changed {
			return Done{To: devicePath(serial), Say: say(ctx, "said.device.same", plain(serial))}, err
		}
		return Done{To: devicePath(serial), Say: say(ctx, "said.device."+c.name, plain(serial))}, err
	})
}

func (w *Web) askSlots(r *Request) (ui.Question, error) {
	store, err := w.fleets()
	if err != nil {
		return ui.Question{}, err
	}
	p, err := store.PC(r.Context(), r.PathValue("name"))
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

func (w *Web) setSlots(r *Request) (Done, error) {
	store, err := w.fleets()
	if err != nil {
		return Done{}, err
	}
	slots, err := slotsOf(r)
	if err != nil {
		return Done{}, err
	}
	name := r.PathValue("name")
	_, err = store.SetSlots(r.Context(), r.By(), name, slots)
	return Done{To: "/fleet/pcs", Say: say(r.Context(), "said.slots", plain(name))}, placed(err, "slots")
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
	store, err := w.fleets()
	if err != nil {
		return Done{}, err
	}
	policy, overlap := r.Field("policy"), r.Field("overlap") == "yes"
	if policy != fleet.PolicyStrict && policy != fleet.PolicyEvidence {
		return Done{}, problem.Refuse("policy", "choose strict or evidence", "%q is no policy", policy)
	}
	c := fleet.PolicyChange{Policy: &policy, Overlap: &overlap}
	if c.Slots, err = slotsOf(r); err != nil {
		return Done{}, err
	}
	if text := r.Field("health"); text == "" {
		c.NoHealth = true
	} else if c.Health, err = healthOf(text); err != nil {
		return Done{}, err
	}
	_, err = store.SetPolicy(r.Context(), r.By(), c)
	return Done{To: "/fleet/policy", Say: say(r.Context(), "said.policy")}, placed(err, "policy", "slots", "overlap", "health")
}

// healthOf reads a health task. A word that it does not know is a fault: nobody would
// find out otherwise.
func healthOf(text string) (*fleet.HealthTask, error) {
	var h fleet.HealthTask
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return nil, problem.Refuse("health", `write it so: {"run": {"argv": ["./check-device"]}, "timeout": "5m"}`, "the health task cannot be read: %v", err)
	}
	return &h, nil
}

// reasonOf reads why somebody decides; it must be said.
func reasonOf(r *Request) (string, error) {
	if reason := r.Field("reason"); reason != "" {
		return reason, nil
	}
	return "", problem.Refuse("reason", "others will ask", "say why")
}
