package fleet

import (
	"context"
	"fmt"

	"github.com/weirhq/weir"
)

// Preview is what a job would do if it were submitted now. Its devices are chosen when it
// becomes active, so they may differ by then.
type Preview struct {
	// Runs is how many runs the job wants.
	Runs int `json:"runs"`
	// Fleet is how many devices there are, and Devices how many of them are in the
	// target. Of those, Ready may start at once and Busy when they are free; Out cannot
	// start now.
	Fleet   int `json:"fleet"`
	Devices int `json:"devices"`
	Ready   int `json:"ready"`
	Busy    int `json:"busy"`
	Out     int `json:"out"`
	// Takes are the first devices that can serve the job, and Misses the first that
	// cannot, each with the reason.
	Takes  []WhyDevice `json:"takes"`
	Misses []WhyDevice `json:"misses"`
	// Left are the first devices that are not in the target, each with the condition that
	// it does not meet.
	Left []WhyDevice `json:"left"`
	// Ahead is how many fleet jobs come before it.
	Ahead int `json:"ahead"`
}

// Preview returns what a job would do, and names at most most devices of each kind. It
// refuses a job that Submit would refuse.
func (s *Store) Preview(ctx context.Context, spec Spec, most int) (Preview, error) {
	if err := spec.Check(); err != nil {
		return Preview{}, err
	}
	text, err := spec.stored()
	if err != nil {
		return Preview{}, fmt.Errorf("preview fleet job: %w", err)
	}
	p, err := s.preview(ctx, text, most)
	if err != nil {
		return p, fmt.Errorf("preview fleet job: %w", err)
	}
	p.Runs = p.Devices
	if spec.Any > 0 {
		p.Runs = spec.Any
	}
	p.Runs *= max(1, spec.Repeat)
	return p, nil
}

// What keeps units of a job waiting. A device that is out is named by its health.
const (
	WaitReserved = "reserved"
	WaitPC       = "pc"
	WaitOffline  = "offline"
	WaitMissing  = "missing"
	WaitCheck    = "check"
	WaitBusy     = "busy"
	WaitRetrying = "retrying"
	WaitAny      = "any"
	WaitTurn     = "turn"
)

// WaitKinds are all of them, in the order in which they are shown.
var WaitKinds = []string{HealthQuarantined, HealthMaintenance, HealthRetired, WaitReserved, WaitPC, WaitOffline, WaitMissing, WaitCheck, WaitBusy, WaitRetrying, WaitAny, WaitTurn}

// Waits counts the waiting units of a job by what they wait for.
func (s *Store) Waits(ctx context.Context, id weir.ID) (map[string]int, error) {
	counts, err := s.waits(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("count what a fleet job waits for: %w", err)
	}
	return counts, nil
}
