package fleet

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// ListingDevices narrows the list of devices.
type ListingDevices struct {
	op.Paged
	DeviceFilter
}

// NamedDevice names a device.
type NamedDevice struct {
	Serial string `path:"serial" flag:"SERIAL" maxLength:"128"`
}

// DevicePast asks for the latest records of a device.
type DevicePast struct {
	NamedDevice
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many at most."`
}

// DeviceDecision is a command on a device. Most take a reason.
type DeviceDecision struct {
	NamedDevice
	Body *op.DecisionBody
}

// DeviceChanged is the result of a command.
type DeviceChanged struct {
	Changed bool   `json:"changed" doc:"false: it was so already."`
	Device  Device `json:"device"`
}

// Operations on devices.
var (
	ListDevices = op.List(onDevices(http.MethodGet, "list", "", auth.Read, "List devices"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingDevices) ([]Device, error) {
			return s.Devices(ctx, in.DeviceFilter, in.Page())
		},
		func(d Device) string { return d.Serial })
	ShowDevice = op.New(onDevices(http.MethodGet, "show", "/{serial}", auth.Read,
		"Show a device: presence, health, what runs on it, and why it gets no work"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedDevice) (Device, error) {
			return s.Device(ctx, in.Serial)
		})
	ListDeviceLog   = past("log", "List what became of a device, newest first", (*Store).DeviceLog)
	ListDeviceUnits = past("units", "List the latest runs on a device, newest first", (*Store).DeviceUnits)

	Quarantine = commands("quarantine", "Put a device out, as a run that failed for good does", (*Store).Quarantine)
	Retire     = commands("retire", "Take a device out for good", (*Store).Retire)
)

// onDevices describes an operation on devices.
func onDevices(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "device", Verb: verb, Method: method, Path: "/devices" + below, Right: right, Summary: summary}
}

// past describes a list of the latest records of a device. It reads the device first, so
// that an unknown device is an error and not an empty list.
func past[T any](
	verb, summary string, read func(s *Store, ctx context.Context, serial string, most int) ([]T, error),
) *op.Op[*Store, DevicePast, op.Page[T]] {
	return op.New(onDevices(http.MethodGet, verb, "/{serial}/"+verb, auth.Read, summary),
		func(ctx context.Context, s *Store, _ auth.Subject, in *DevicePast) (page op.Page[T], err error) {
			if _, err := s.Device(ctx, in.Serial); err != nil {
				return page, err
			}
			return whole(read(s, ctx, in.Serial, in.Limit))
		})
}

// commands describes a command on a device that takes a reason alone.
func commands(
	verb, summary string, do func(s *Store, ctx context.Context, by, serial, reason string) (bool, error),
) *op.Op[*Store, DeviceDecision, DeviceChanged] {
	return onDevice(verb, summary,
		func(ctx context.Context, s *Store, who auth.Subject, in *DeviceDecision) (string, bool, error) {
			changed, err := do(s, ctx, who.By(), in.Serial, op.Given(in.Body).Reason)
			return in.Serial, changed, err
		})
}

// ListingPCs bounds the list of PCs.
type ListingPCs struct{ op.Paged }

// NamedPC names a PC.
type NamedPC struct {
	PC string `path:"pc" flag:"NAME" maxLength:"200"`
}

// SettingSlots sets how many devices of a PC may work at once.
type SettingSlots struct {
	NamedPC
	Body SlotsBody
}

// SlotsBody is the number of slots.
type SlotsBody struct {
	Slots *int `json:"slots,omitempty" minimum:"0" maximum:"1000" doc:"Left out: as the PC reports, or else as the policy says."`
}

// PCChanged is the result of a command.
type PCChanged struct {
	Changed bool `json:"changed" doc:"false: it was so already."`
	PC      PC   `json:"pc"`
}

// Operations on PCs.
var (
	ListPCs = op.List(onPCs(http.MethodGet, "list", "", auth.Read, "List PCs with their slots and devices"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingPCs) ([]PC, error) {
			return s.PCPage(ctx, PCFilter{}, in.Page())
		},
		func(p PC) string { return p.Name })
	ShowPC = op.New(onPCs(http.MethodGet, "show", "/{pc}", auth.Read, "Show a PC"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedPC) (PC, error) { return s.PC(ctx, in.PC) })
	ListPCSlots = op.New(onPCs(http.MethodGet, "slots", "/{pc}/slots", auth.Read, "List what the devices of a PC do now"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedPC) (page op.Page[Slot], err error) {
			if _, err := s.PC(ctx, in.PC); err != nil {
				return page, err
			}
			return whole(s.Slots(ctx, in.PC))
		})
	SetSlots = op.New(onPCs(http.MethodPut, "slots", "/{pc}/slots", auth.Manage, "Say how many devices of a PC may work at once"),
		func(ctx context.Context, s *Store, who auth.Subject, in *SettingSlots) (out PCChanged, err error) {
			if out.Changed, err = s.SetSlots(ctx, who.By(), in.PC, in.Body.Slots); err == nil {
				out.PC, err = s.PC(ctx, in.PC)
			}
			return out, err
		})
)

// onPCs describes an operation on PCs.
func onPCs(method, verb, below string, right auth.Verb, summary string) op.Operation {
	return op.Operation{Noun: "pc", Verb: verb, Method: method, Path: "/pcs" + below, Right: right, Summary: summary}
}
