package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
)

// The health of a device.
const (
	HealthGood        = "good"
	HealthUnknown     = "unknown"
	HealthSuspect     = "suspect"
	HealthQuarantined = "quarantined"
	HealthMaintenance = "maintenance"
	HealthRetired     = "retired"
)

// Healths are all of them, in the order in which they are shown.
var Healths = []string{HealthGood, HealthUnknown, HealthSuspect, HealthQuarantined, HealthMaintenance, HealthRetired}

// The presence of a device.
const (
	PresenceOnline  = "online"
	PresenceMissing = "missing"
	PresenceOffline = "offline"
)

// Presences are all of them, in the order in which they are shown.
var Presences = []string{PresenceOnline, PresenceMissing, PresenceOffline}

// What it takes until a device, or a unit, can be served.
const (
	AnswerNow    = "now"
	AnswerLater  = "later"
	AnswerPerson = "person"
	AnswerNever  = "never"
)

// Answers are all of them.
var Answers = []string{AnswerNow, AnswerLater, AnswerPerson, AnswerNever}

// Device is a device that is attached to a PC.
type Device struct {
	Serial string            `json:"serial"`
	PC     string            `json:"pc,omitempty"`
	Hub    string            `json:"hub,omitempty"`
	Target string            `json:"target,omitempty"`
	Labels map[string]string `json:"labels"`

	// Presence is online, missing or offline. Online and OnlineAt say whether it is
	// online or offline, and since when; MissingAt is set while it has been absent for
	// less than 30 s.
	Presence  string     `json:"presence"`
	Online    bool       `json:"online"`
	OnlineAt  time.Time  `json:"online_at"`
	MissingAt *time.Time `json:"missing_at,omitempty"`
	// Flaps counts how often the device went away within the last hour, apart from losses
	// of its PC or hub.
	Flaps int `json:"flaps,omitempty" doc:"How often it went away within an hour; five times make it suspect."`

	Health   string    `json:"health"`
	HealthAt time.Time `json:"health_at"`
	// HealthNote is the reason, HealthBy is the user or part that decided, HealthJob is
	// the fleet job that caused it, and Evidence are the tasks that count against the
	// device.
	HealthNote string    `json:"health_note,omitempty"`
	HealthBy   string    `json:"health_by,omitempty"`
	HealthJob  weir.ID   `json:"health_job,omitzero"`
	Evidence   []weir.ID `json:"evidence,omitempty"`
	// Checks counts health tasks that failed since the device was quarantined; CheckAt is
	// when the next one is due.
	Checks  int        `json:"checks,omitempty"`
	CheckAt *time.Time `json:"check_at,omitempty"`
	// HealthTask is the health task that the policy has for a device with these labels.
	// Only [Store.Device] reads it.
	HealthTask *LabelHealth `json:"health_task,omitempty" doc:"Its health task, by its labels; match is absent for that of all other devices. Only in the answer for one device."`
	// HealthUntil is when its maintenance ends by itself.
	HealthUntil *time.Time `json:"health_until,omitempty"`

	// ReservedBy is the person who has the device until ReservedUntil; meanwhile it gets no
	// work. It is empty for a device that is not reserved.
	ReservedBy    string     `json:"reserved_by,omitempty"`
	ReservedAt    *time.Time `json:"reserved_at,omitempty"`
	ReservedUntil *time.Time `json:"reserved_until,omitempty"`
	ReservedNote  string     `json:"reserved_note,omitempty"`

	RegisteredAt time.Time `json:"registered_at"`

	// Eligible is set if the device may get work. Why says why not.
	Eligible bool   `json:"eligible"`
	Why      string `json:"why,omitempty"`
	// Reason is Why for programs.
	Reason *reason.Coded `json:"reason,omitempty"`
	// Answer says what it takes until the device can serve: one of the Answers. AnswerAt
	// is when it can by itself, if that is known.
	Answer   string     `json:"answer" enum:"now,later,person,never" doc:"Whether it can serve: now, later by itself, only after a person has acted, or never."`
	AnswerAt *time.Time `json:"answer_at,omitempty"`

	// Task is what runs on the device, and Job is its fleet job. A zero Task means that
	// nothing runs; a zero Job means a health task.
	Task      weir.ID    `json:"task,omitzero"`
	Job       weir.ID    `json:"job,omitzero"`
	Attempt   int        `json:"attempt,omitempty"`
	ClaimedAt *time.Time `json:"claimed_at,omitempty"`
	Deadline  *time.Time `json:"deadline,omitempty"`
}

// presenceOf returns the presence of a device; a device that has only just disappeared is
// missing, not offline.
func presenceOf(d Device) string {
	switch {
	case !d.Online:
		return PresenceOffline
	case d.MissingAt != nil:
		return PresenceMissing
	}
	return PresenceOnline
}

// DeviceFilter narrows a list of devices. Zero fields match everything.
type DeviceFilter struct {
	PC     string   `query:"pc" maxLength:"200" doc:"Only devices of this PC."`
	Health string   `query:"health" enum:"good,unknown,suspect,quarantined,maintenance,retired" doc:"Only devices of this health."`
	Online string   `query:"online" enum:"true,false" doc:"Only devices that are online, or that are not."`
	Label  []string `query:"label,explode" maxItems:"50" doc:"KEY=VALUE, or a condition such as android>=13: only devices with this label. Given more than once: with all of them."`
	Search string   `query:"search" maxLength:"200" doc:"Only devices with this in their serial."`
}

// DeviceEvent is a line of the log of a device.
type DeviceEvent struct {
	At       time.Time `json:"at"`
	Type     string    `json:"type"`
	By       string    `json:"by,omitempty"`
	Note     string    `json:"note,omitempty"`
	Job      weir.ID   `json:"job,omitzero"`
	Was      string    `json:"was,omitempty"`
	Evidence []weir.ID `json:"evidence,omitempty"`
}

// Devices lists devices by serial. page.After is the last serial of the previous page.
func (s *Store) Devices(ctx context.Context, f DeviceFilter, page view.Page) ([]Device, error) {
	labels, conditions := map[string]string{}, []string{}
	for _, pair := range f.Label {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case ok && key != "" && !strings.ContainsAny(key, "<>! "):
			labels[key] = value
		case condition.MatchString(pair):
			conditions = append(conditions, pair)
		default:
			return nil, problem.Refuse("label", "write it so: model=alpha-5, or 'android>=13'", "%q is neither KEY=VALUE nor a condition", pair)
		}
	}
	var online *bool
	if f.Online != "" {
		online = new(f.Online == "true")
	}
	from := deviceAll
	if f.PC != "" {
		from = deviceOnPC
	}
	list, err := s.devices(ctx, from, page.After, f.PC, f.Health, online, labels, f.Search, page.Most(), conditions)
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	return list, nil
}

// DevicesOf lists the devices of some PCs that have one health, by PC and serial, with at
// most most devices per PC. The PC without a name stands for devices that are attached to
// none.
func (s *Store) DevicesOf(ctx context.Context, pcs []string, health string, most int) ([]Device, error) {
	list, err := s.devices(ctx, deviceOfPCs, pcs, health, most)
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	return list, nil
}

// Device reads one device.
func (s *Store) Device(ctx context.Context, serial string) (Device, error) {
	list, err := s.devices(ctx, deviceOf, serial)
	if err == nil && len(list) == 0 {
		err = notFound("device", serial, "see what there is", "weir device list")
	}
	if err != nil {
		return Device{}, fmt.Errorf("read device: %w", err)
	}
	d := list[0]
	if d.HealthTask, err = s.healthTask(ctx, serial); err != nil {
		return d, fmt.Errorf("read health task of device: %w", err)
	}
	return d, nil
}

// DeviceLog returns the events of a device, newest first.
func (s *Store) DeviceLog(ctx context.Context, serial string, most int) ([]DeviceEvent, error) {
	list, err := s.deviceEvents(ctx, serial, view.Page{Limit: most}.Most())
	if err != nil {
		return nil, fmt.Errorf("read log of device: %w", err)
	}
	return list, nil
}

// DeviceUnits returns the latest runs on a device, newest first.
func (s *Store) DeviceUnits(ctx context.Context, serial string, most int) ([]Unit, error) {
	list, err := s.units(ctx, unitOfDevice, serial, view.Page{Limit: most}.Most())
	if err != nil {
		return nil, fmt.Errorf("list runs on device: %w", err)
	}
	return list, nil
}

// Retire takes a device out permanently. It returns false if the device was retired
// already.
func (s *Store) Retire(ctx context.Context, by, serial, reason string) (changed bool, err error) {
	return s.command(ctx, "retire device", retireSQL, serial, by, reason)
}

// Quarantine puts a device into quarantine, as a permanently failed run does. It returns
// false if it was there already.
func (s *Store) Quarantine(ctx context.Context, by, serial, reason string) (changed bool, err error) {
	return s.command(ctx, "quarantine device", quarantineSQL, serial, by, reason)
}
