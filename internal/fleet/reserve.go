package fleet

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// Holder is the person who reserves or releases a device. The name stays the same when the
// person uses a token, so that what was reserved on a page can be released by a command.
type Holder struct {
	// By is for the timeline. An empty Name is By.
	By, Name string
	// Others is set if the person may end the reservation of another one.
	Others bool
}

// holderOf returns the subject as the holder of devices.
func holderOf(who auth.Subject) Holder {
	return Holder{By: who.By(), Name: who.Name, Others: auth.Can(who, auth.Override, auth.Object{Kind: "device"})}
}

// Maintain takes a device out of the schedule for maintenance, until a time or, if that is
// zero, until it is released. It returns false if that was so already.
func (s *Store) Maintain(ctx context.Context, by, serial, reason string, until time.Time) (changed bool, err error) {
	return s.command(ctx, "maintain device", maintainSQL, serial, by, reason, orNil(until))
}

// Release returns a device to the schedule: it ends the reservation of the holder and what
// keeps the device out. If there is a health task, a device that was out has to pass it
// first. It returns false if the device was released already.
func (s *Store) Release(ctx context.Context, who Holder, serial, reason string) (changed bool, err error) {
	return s.command(ctx, "release device", releaseSQL, serial, who.By, reason, who.Name, who.Others)
}

// Reserve gives a device to a person until a time; it gets no work meanwhile, and what runs
// on it goes on. It returns false if that was so already.
func (s *Store) Reserve(
	ctx context.Context, who Holder, serial, reason string, until time.Time,
) (changed bool, err error) {
	return s.command(ctx, "reserve device", reserveSQL, serial, who.By, reason, who.Name, orNil(until))
}

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// DeviceMaintenance takes a device out for maintenance.
type DeviceMaintenance struct {
	NamedDevice
	Body *MaintenanceBody
}

// MaintenanceBody is the reason of a maintenance and its end.
type MaintenanceBody struct {
	Reason string    `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
	Until  time.Time `json:"until,omitzero" doc:"When it ends by itself. Left out: a person releases it."`
}

// DeviceReservation reserves a device.
type DeviceReservation struct {
	NamedDevice
	Body ReservationBody
}

// ReservationBody is the end of a reservation and its reason.
type ReservationBody struct {
	Until  time.Time `json:"until" doc:"When it ends by itself: at most 30 days from now."`
	Reason string    `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
}

// Operations that take a device for a time, and the one that gives it back.
var (
	Maintain = onDevice("maintain", "Take a device out of the schedule for work on it",
		func(ctx context.Context, s *Store, who auth.Subject, in *DeviceMaintenance) (string, bool, error) {
			body := op.Given(in.Body)
			changed, err := s.Maintain(ctx, who.By(), in.Serial, body.Reason, body.Until)
			return in.Serial, changed, err
		})
	Reserve = onDevice("reserve", "Reserve a device for yourself until a time; it gets no work meanwhile",
		func(ctx context.Context, s *Store, who auth.Subject, in *DeviceReservation) (string, bool, error) {
			changed, err := s.Reserve(ctx, holderOf(who), in.Serial, in.Body.Reason, in.Body.Until)
			return in.Serial, changed, err
		})
	Release = onDevice("release",
		"Give a device back to the schedule; where there is a health task, one that was out has to pass that first",
		func(ctx context.Context, s *Store, who auth.Subject, in *DeviceDecision) (string, bool, error) {
			changed, err := s.Release(ctx, holderOf(who), in.Serial, op.Given(in.Body).Reason)
			return in.Serial, changed, err
		})
)

// onDevice describes a command on a device, which says whether it changed something.
func onDevice[In any](
	verb, summary string, do func(ctx context.Context, s *Store, who auth.Subject, in *In) (string, bool, error),
) *op.Op[*Store, In, DeviceChanged] {
	return op.New(onDevices(http.MethodPost, verb, "/{serial}/"+verb, auth.Command, summary),
		func(ctx context.Context, s *Store, who auth.Subject, in *In) (out DeviceChanged, err error) {
			var serial string
			if serial, out.Changed, err = do(ctx, s, who, in); err == nil {
				out.Device, err = s.Device(ctx, serial)
			}
			return out, err
		})
}
