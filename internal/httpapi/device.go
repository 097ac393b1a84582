package httpapi

import (
	"context"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// ListDevicesInput narrows the list.
type ListDevicesInput struct {
	op.Paged
	PC     string   `query:"pc" maxLength:"200" doc:"Only devices of this PC."`
	Health string   `query:"health" enum:"good,unknown,suspect,quarantined,maintenance,retired" doc:"Only devices of this health."`
	Online string   `query:"online" enum:"true,false" doc:"Only devices that are online, or that are not."`
	Label  []string `query:"label,explode" maxItems:"50" doc:"KEY=VALUE: only devices with this label. Given more than once: with all of them."`
	Search string   `query:"search" maxLength:"200" doc:"Only devices with this in their serial."`
}

func (a *API) listDevices(ctx context.Context, in *ListDevicesInput) (*Listed[fleet.Device], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	f := fleet.DeviceFilter{PC: in.PC, Health: in.Health, Search: in.Search, Labels: map[string]string{}}
	if in.Online != "" {
		f.Online = new(in.Online == "true")
	}
	for _, pair := range in.Label {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, problem.Refuse("label", "write it so: label=model=alpha-5", "it is not KEY=VALUE")
		}
		f.Labels[key] = value
	}
	list, err := store.Devices(ctx, f, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, list, in.Limit, func(d fleet.Device) string { return d.Serial }), nil
}

// DeviceInput names a device.
type DeviceInput struct {
	Serial string `path:"serial" maxLength:"128"`
}

func (a *API) showDevice(ctx context.Context, in *DeviceInput) (*One[fleet.Device], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	return one(store.Device(ctx, in.Serial))
}

// DevicePastInput asks for the latest of a device.
type DevicePastInput struct {
	DeviceInput
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many at most."`
}

func (a *API) deviceLog(ctx context.Context, in *DevicePastInput) (*All[fleet.DeviceEvent], error) {
	return pastOf(ctx, a, in, Fleets.DeviceLog)
}

func (a *API) deviceUnits(ctx context.Context, in *DevicePastInput) (*All[fleet.Unit], error) {
	return pastOf(ctx, a, in, Fleets.DeviceUnits)
}

// pastOf reads the device first: that it is not there is no empty list.
func pastOf[T any](ctx context.Context, a *API, in *DevicePastInput, read func(Fleets, context.Context, string, int) ([]T, error)) (*All[T], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	if _, err := store.Device(ctx, in.Serial); err != nil {
		return nil, err
	}
	list, err := read(store, ctx, in.Serial, in.Limit)
	if err != nil {
		return nil, err
	}
	return all(list), nil
}

// DeviceCommandInput is a command on a device. Most take a reason.
type DeviceCommandInput struct {
	DeviceInput
	Body *DecisionBody
}

// DeviceChanged is what a command did.
type DeviceChanged struct {
	Changed bool         `json:"changed" doc:"false: it was so already."`
	Device  fleet.Device `json:"device"`
}

func (a *API) maintainDevice(ctx context.Context, in *DeviceCommandInput) (*One[DeviceChanged], error) {
	return a.onDevice(ctx, in, Fleets.Maintain)
}

func (a *API) releaseDevice(ctx context.Context, in *DeviceCommandInput) (*One[DeviceChanged], error) {
	return a.onDevice(ctx, in, Fleets.Release)
}

func (a *API) retireDevice(ctx context.Context, in *DeviceCommandInput) (*One[DeviceChanged], error) {
	return a.onDevice(ctx, in, Fleets.Retire)
}

func (a *API) quarantineDevice(ctx context.Context, in *DeviceCommandInput) (*One[DeviceChanged], error) {
	return a.onDevice(ctx, in, Fleets.Quarantine)
}

func (a *API) onDevice(ctx context.Context, in *DeviceCommandInput, do func(_ Fleets, ctx context.Context, by, serial, reason string) (bool, error)) (*One[DeviceChanged], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	var out DeviceChanged
	if out.Changed, err = do(store, ctx, auth.From(ctx).By(), in.Serial, op.Given(in.Body).Reason); err != nil {
		return nil, err
	}
	out.Device, err = store.Device(ctx, in.Serial)
	return one(out, err)
}

// ListPCsInput bounds the list.
type ListPCsInput struct{ op.Paged }

// listPCs pages through what the store gives whole: a fleet has some thousand PCs at
// most.
func (a *API) listPCs(ctx context.Context, in *ListPCsInput) (*Listed[fleet.PC], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	list, err := store.PCs(ctx)
	if err != nil {
		return nil, err
	}
	return listed(ctx, pageOfPCs(list, in.Page()), in.Limit, func(p fleet.PC) string { return p.Name }), nil
}

func pageOfPCs(list []fleet.PC, page view.Page) []fleet.PC {
	from := 0
	for i, p := range list {
		if page.After != "" && p.Name == page.After {
			from = i + 1
		}
	}
	return list[from:min(from+page.Limit, len(list))]
}

// PCInput names a PC.
type PCInput struct {
	PC string `path:"pc" maxLength:"200"`
}

func (a *API) showPC(ctx context.Context, in *PCInput) (*One[fleet.PC], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	return one(store.PC(ctx, in.PC))
}

func (a *API) slotsOfPC(ctx context.Context, in *PCInput) (*All[fleet.Slot], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	if _, err := store.PC(ctx, in.PC); err != nil {
		return nil, err
	}
	slots, err := store.Slots(ctx, in.PC)
	if err != nil {
		return nil, err
	}
	return all(slots), nil
}

func (a *API) allSlots(ctx context.Context, _ *struct{}) (*All[fleet.Slot], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	slots, err := store.Slots(ctx, "")
	if err != nil {
		return nil, err
	}
	return all(slots), nil
}

// SetSlotsInput says how many devices of a PC may work at once.
type SetSlotsInput struct {
	PCInput
	Body struct {
		Slots *int `json:"slots,omitempty" minimum:"0" maximum:"1000" doc:"Left out: as the PC reports, or else as the policy says."`
	}
}

// PCChanged is what a command did.
type PCChanged struct {
	Changed bool     `json:"changed" doc:"false: it was so already."`
	PC      fleet.PC `json:"pc"`
}

func (a *API) setSlots(ctx context.Context, in *SetSlotsInput) (*One[PCChanged], error) {
	store, err := a.fleets()
	if err != nil {
		return nil, err
	}
	var out PCChanged
	if out.Changed, err = store.SetSlots(ctx, auth.From(ctx).By(), in.PC, in.Body.Slots); err != nil {
		return nil, err
	}
	out.PC, err = store.PC(ctx, in.PC)
	return one(out, err)
}
