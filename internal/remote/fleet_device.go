package remote

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
)

// Devices lists devices by serial.
func (f *Fleets) Devices(ctx context.Context, by fleet.DeviceFilter, page view.Page) ([]fleet.Device, error) {
	online := ""
	if by.Online != nil {
		online = strconv.FormatBool(*by.Online)
	}
	query := labelled(values("pc", by.PC, "health", by.Health, "online", online, "search", by.Search), by.Labels)
	return list[fleet.Device](ctx, f.client, query, page, "devices")
}

// Device reads one.
func (f *Fleets) Device(ctx context.Context, serial string) (fleet.Device, error) {
	return one[fleet.Device](ctx, f.client, nil, "devices", serial)
}

// DeviceLog is what became of a device, the newest first.
func (f *Fleets) DeviceLog(ctx context.Context, serial string, most int) ([]fleet.DeviceEvent, error) {
	return whole[fleet.DeviceEvent](ctx, f.client, atMost(most), "devices", serial, "log")
}

// DeviceUnits are the latest runs on a device, the newest first.
func (f *Fleets) DeviceUnits(ctx context.Context, serial string, most int) ([]fleet.Unit, error) {
	return whole[fleet.Unit](ctx, f.client, atMost(most), "devices", serial, "units")
}

// Maintain takes a device out of the schedule for work on it.
func (f *Fleets) Maintain(ctx context.Context, _, serial, reason string) (changed bool, err error) {
	return f.on(ctx, serial, "maintain", reason)
}

// Release gives a device back to the schedule.
func (f *Fleets) Release(ctx context.Context, _, serial, reason string) (changed bool, err error) {
	return f.on(ctx, serial, "release", reason)
}

// Retire takes a device out for good.
func (f *Fleets) Retire(ctx context.Context, _, serial, reason string) (changed bool, err error) {
	return f.on(ctx, serial, "retire", reason)
}

// Quarantine puts a device out.
func (f *Fleets) Quarantine(ctx context.Context, _, serial, reason string) (changed bool, err error) {
	return f.on(ctx, serial, "quarantine", reason)
}

// changed is what a command did.
type changed struct{ Changed bool }

func (f *Fleets) on(ctx context.Context, serial, verb, reason string) (bool, error) {
	var out changed
	err := f.client.post(ctx, op.DecisionBody{Reason: reason}, &out, "devices", serial, verb)
	return out.Changed, err
}

// PCs lists all PCs by name, page by page.
func (f *Fleets) PCs(ctx context.Context) ([]fleet.PC, error) {
	all := []fleet.PC{}
	for page := (view.Page{Limit: mostPage}); ; page.After = all[len(all)-1].Name {
		part, err := list[fleet.PC](ctx, f.client, values(), page, "pcs")
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); len(part) < mostPage {
			return all, nil
		}
	}
}

// PC reads one.
func (f *Fleets) PC(ctx context.Context, name string) (fleet.PC, error) {
	return one[fleet.PC](ctx, f.client, nil, "pcs", name)
}

// Slots are what devices do now, by PC. PC empty: of all.
func (f *Fleets) Slots(ctx context.Context, pc string) ([]fleet.Slot, error) {
	if pc == "" {
		return whole[fleet.Slot](ctx, f.client, nil, "fleet", "slots")
	}
	return whole[fleet.Slot](ctx, f.client, nil, "pcs", pc, "slots")
}

// SetSlots says how many devices of a PC may work at once. Nil: as the PC reports.
func (f *Fleets) SetSlots(ctx context.Context, _, pc string, slots *int) (bool, error) {
	body := map[string]int{}
	if slots != nil {
		body["slots"] = *slots
	}
	var out changed
	_, err := f.client.do(ctx, call{method: http.MethodPut, path: []string{"pcs", pc, "slots"}, body: body}, &out)
	return out.Changed, err
}

// labelled are labels as parameters.
func labelled(query url.Values, labels map[string]string) url.Values {
	for key, value := range labels {
		query.Add("label", key+"="+value)
	}
	return query
}
