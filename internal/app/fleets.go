package app

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
)

// Fleets is what commands do with devices and the jobs that run on them: on a
// database, or through a server's API, which knows by itself who asks.
type Fleets interface {
	Submit(ctx context.Context, by string, spec fleet.Spec, idempotencyKey string) (fleet.Job, error)
	Rerun(ctx context.Context, by string, id weir.ID, which, idempotencyKey string) (fleet.Job, error)
	Jobs(ctx context.Context, f fleet.JobFilter, page view.Page) ([]fleet.Job, error)
	Job(ctx context.Context, id weir.ID) (fleet.Job, error)
	Units(ctx context.Context, id weir.ID, f fleet.UnitFilter, page view.Page) ([]fleet.Unit, error)
	Cancel(ctx context.Context, by string, id weir.ID, reason string) (fleet.Canceled, error)
	Why(ctx context.Context, id weir.ID, most int) (fleet.Why, error)

	Devices(ctx context.Context, f fleet.DeviceFilter, page view.Page) ([]fleet.Device, error)
	Device(ctx context.Context, serial string) (fleet.Device, error)
	DeviceLog(ctx context.Context, serial string, most int) ([]fleet.DeviceEvent, error)
	DeviceUnits(ctx context.Context, serial string, most int) ([]fleet.Unit, error)
	Maintain(ctx context.Context, by, serial, reason string) (changed bool, err error)
	Release(ctx context.Context, by, serial, reason string) (changed bool, err error)
	Retire(ctx context.Context, by, serial, reason string) (changed bool, err error)
	Quarantine(ctx context.Context, by, serial, reason string) (changed bool, err error)

	PCs(ctx context.Context) ([]fleet.PC, error)
	PC(ctx context.Context, name string) (fleet.PC, error)
	Slots(ctx context.Context, pc string) ([]fleet.Slot, error)
	SetSlots(ctx context.Context, by, pc string, slots *int) (changed bool, err error)

	Policy(ctx context.Context) (fleet.Policy, error)
	SetPolicy(ctx context.Context, by string, c fleet.PolicyChange) (fleet.Policy, error)
}
