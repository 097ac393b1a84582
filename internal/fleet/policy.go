package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/weirhq/weir/internal/node"
)

// How a device is judged by runs that failed for good.
const (
	PolicyStrict   = "strict"
	PolicyEvidence = "evidence"
)

// Policy is what holds for all of the fleet.
type Policy struct {
	// Policy is strict or evidence.
	Policy string `json:"policy"`
	// Health is the health task. Nil: there is none.
	Health *HealthTask `json:"health"`
	// Overlap lets devices that the active job does not need serve the next one.
	Overlap bool `json:"overlap"`
	// Slots is how many devices of a PC work at once unless it says otherwise.
	Slots int `json:"slots"`
}

// HealthTask is what tells whether a device is well.
type HealthTask struct {
	Run node.Run `json:"run"`
	// Timeout zero: 5 min.
	Timeout node.Span `json:"timeout,omitzero"`
}

// PolicyChange names what is to be different. Nil leaves as is.
type PolicyChange struct {
	Policy  *string `json:"policy,omitempty"`
	Overlap *bool   `json:"overlap,omitempty"`
	Slots   *int    `json:"slots,omitempty"`
	// Health is another health task; NoHealth takes it away.
	Health   *HealthTask `json:"health,omitempty"`
	NoHealth bool        `json:"-"`
}

// Policy reads the policy.
func (s *Store) Policy(ctx context.Context) (p Policy, err error) {
	has, err := s.policy(ctx)
	if err == nil {
		err = json.Unmarshal(has, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read policy: %w", err)
	}
	return p, nil
}

// SetPolicy changes the policy and returns it.
func (s *Store) SetPolicy(ctx context.Context, by string, c PolicyChange) (Policy, error) {
	var p Policy
	text, err := json.Marshal(c)
	if err == nil && c.NoHealth {
		var all map[string]any
		if err = json.Unmarshal(text, &all); err == nil {
			all["health"] = nil
			text, err = json.Marshal(all)
		}
	}
	if err != nil {
		return p, fmt.Errorf("set policy: %w", err)
	}
	has, err := s.setPolicy(ctx, by, text)
	if err == nil {
		err = json.Unmarshal(has, &p)
	}
	if err != nil {
		return p, fmt.Errorf("set policy: %w", err)
	}
	return p, nil
}
