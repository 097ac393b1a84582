package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/reason"
)

// The states of a PC.
const (
	PCActive   = "active"
	PCPaused   = "paused"
	PCDraining = "draining"
	PCDead     = "dead"
	PCBlind    = "blind"
)

// PC is a node that has devices.
type PC struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Why says why the PC gets no work. It is empty if it may get some.
	Why string `json:"why,omitempty"`
	// Reason is Why for programs.
	Reason *reason.Coded `json:"reason,omitempty"`
	// Trouble is what people should take care of: the PC cannot see its devices, or not
	// all.
	Trouble string `json:"trouble,omitempty"`
	Slots   int    `json:"slots"`
	// SetSlots is what a person set. Nil means as the PC reports, or as the policy says.
	SetSlots *int `json:"set_slots,omitempty"`
	// Target is how many devices should be at work: the eligible ones, within the slots.
	// Running is how many are.
	Target      int        `json:"target"`
	Running     int        `json:"running"`
	Eligible    int        `json:"eligible"`
	Devices     int        `json:"devices"`
	Online      int        `json:"online"`
	Quarantined int        `json:"quarantined"`
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	ReportedAt  time.Time  `json:"reported_at"`
	SeenAt      time.Time  `json:"seen_at"`
}

// Slot is what one device of a PC does now.
type Slot struct {
	PC        string    `json:"pc"`
	Serial    string    `json:"serial"`
	Health    string    `json:"health"`
	Task      weir.ID   `json:"task"`
	Job       weir.ID   `json:"job,omitzero"`
	JobName   string    `json:"job_name,omitempty"`
	Attempt   int       `json:"attempt"`
	ClaimedAt time.Time `json:"claimed_at"`
	Deadline  time.Time `json:"deadline"`
}

// PCFilter narrows a list of PCs. Zero fields match everything.
type PCFilter struct {
	// Search is a part of the name.
	Search string
	// Health keeps PCs with a device of this health.
	Health string
	// Trouble keeps PCs that get no work, and those with a device that is lost or
	// unhealthy.
	Trouble bool
}

// Sum is the sum of the numbers of all PCs.
type Sum struct {
	PCs int
	// Still counts PCs that get no work.
	Still                                   int
	Running, Target, Eligible               int
	Devices, Online, Quarantined, WithoutPC int
}

// PCPage lists PCs by name. page.After is the last name of the previous page.
func (s *Store) PCPage(ctx context.Context, f PCFilter, page view.Page) ([]PC, error) {
	list, err := s.pcs(ctx, pcPage, page.After, f.Search, f.Health, f.Trouble, page.Most())
	if err != nil {
		return nil, fmt.Errorf("list PCs: %w", err)
	}
	return list, nil
}

// Sum counts the fleet.
func (s *Store) Sum(ctx context.Context) (Sum, error) {
	sum, err := s.sum(ctx)
	if err != nil {
		return sum, fmt.Errorf("count the fleet: %w", err)
	}
	return sum, nil
}

// PC reads one PC.
func (s *Store) PC(ctx context.Context, name string) (PC, error) {
	list, err := s.pcs(ctx, pcOf, name)
	if err == nil && len(list) == 0 {
		err = notFound("PC", name, "a node is a PC from its first report of devices on", "")
	}
	if err != nil {
		return PC{}, fmt.Errorf("read PC: %w", err)
	}
	return list[0], nil
}

// Slots returns what devices do now, by PC, oldest first. An empty pc means all.
func (s *Store) Slots(ctx context.Context, pc string) ([]Slot, error) {
	rest, of := slotsAll, []any{}
	if pc != "" {
		rest, of = slotsOf, []any{[]string{pc}}
	}
	list, err := s.slots(ctx, rest, of...)
	if err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	return list, nil
}

// SlotsOf returns what the devices of some PCs do now, like Slots.
func (s *Store) SlotsOf(ctx context.Context, pcs []string) ([]Slot, error) {
	list, err := s.slots(ctx, slotsOf, pcs)
	if err != nil {
		return nil, fmt.Errorf("list slots: %w", err)
	}
	return list, nil
}

// SetSlots sets how many devices of a PC may work at once. Nil means as the PC reports.
// It returns false if nothing changed.
func (s *Store) SetSlots(ctx context.Context, by, pc string, slots *int) (changed bool, err error) {
	if slots != nil && (*slots < 0 || *slots > 1000) {
		return false, problem.Refuse("slots", "write a number from 0 to 1000", "%d is no number of slots", *slots)
	}
	if changed, err = s.setSlots(ctx, by, pc, slots); err != nil {
		return false, fmt.Errorf("set slots: %w", err)
	}
	return changed, nil
}
